import fs from "node:fs/promises";

console.log(await fs.writeFile("a.txt", "hello"), await fs.readFile("a.txt"), await fs.readFile("a.txt", "utf8"));
console.log(await fs.appendFile("a.txt", " world"), await fs.readFile("a.txt", { encoding: "base64" }));
console.log(await fs.mkdir("d/e/f", { recursive: true }), await fs.mkdir("g"));
console.log(await fs.copyFile("a.txt", "d/b.txt"), await fs.rename("d/b.txt", "d/e/c.txt"));
console.log((await fs.readdir(".", { recursive: true })).sort());
console.log((await fs.stat("d/e/c.txt")).size, (await fs.lstat("d")).isDirectory());
console.log(await fs.symlink("d/e/c.txt", "l"), await fs.readlink("l"), await fs.realpath("l"));
console.log(await fs.link("a.txt", "h"), (await fs.stat("h")).nlink);
console.log(await fs.truncate("a.txt", 4), await fs.readFile("h", "utf8"));
console.log(await fs.chmod("a.txt", 0o600), ((await fs.stat("a.txt")).mode & 0o777).toString(8));
console.log(await fs.utimes("a.txt", 1, 2), (await fs.stat("a.txt")).mtime);
console.log(await fs.access("a.txt"), await fs.unlink("h"), await fs.rmdir("g"));
console.log(await fs.rm("d", { recursive: true }), (await fs.readdir(".")).sort());
console.log(await fs.cp("a.txt", "n/a.txt"), /^t-\w{6}$/.test(await fs.mkdtemp("t-")));
async function* lines() {
  yield "one\n";
  yield Buffer.from("two\n");
}
console.log(
  await fs.writeFile("i.txt", ["x", "y"]),
  await fs.writeFile("j.txt", lines()),
  await fs.readFile("i.txt", "utf8"),
  await fs.readFile("j.txt", "utf8"),
);
