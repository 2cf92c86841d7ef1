import fs from "node:fs/promises";

let state = 77;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const pick = (list) => list[next(list.length)];
const path = () => Array.from({ length: 1 + next(3) }, () => pick(["a", "b", "c"])).join("/");
const operations = {
  writeFile: () => fs.writeFile(path(), "x".repeat(next(50))),
  appendFile: () => fs.appendFile(path(), "y"),
  readFile: () => fs.readFile(path(), "utf8"),
  mkdir: () => fs.mkdir(path(), { recursive: next(2) === 0 }),
  rm: () => fs.rm(path(), { recursive: next(2) === 0 }),
  rmdir: () => fs.rmdir(path()),
  rename: () => fs.rename(path(), path()),
  async cp() {
    const [from, to] = [path(), path()];
    // In which order the contents are copied, and so what is there after an error, is the file system's choice.
    await fs.lstat(from);
    if (await fs.access(to).catch(() => true)) await fs.cp(from, to, { recursive: next(3) > 0 });
  },
  async copyFile() {
    const from = path();
    if (!(await fs.stat(from)).isDirectory()) await fs.copyFile(from, path());
  },
  readdir: async () => (await fs.readdir(path(), { recursive: next(2) === 0 })).sort(),
  stat: async () => (await fs.stat(path())).isDirectory(),
  truncate: () => fs.truncate(path(), next(20)),
  opendir: async () => (await Array.fromAsync(await fs.opendir(path()))).map(({ name }) => name).sort(),
};
const names = Object.keys(operations);
for (let round = 0; round < 1500; round++) {
  const name = pick(names);
  try {
    console.log(name, await operations[name]());
  } catch (error) {
    console.log(name, error.code, error.message);
  }
}
console.log((await fs.readdir(".", { recursive: true })).sort());
