import fs from "node:fs/promises";

const calls = {
  readFile: ["none"],
  writeFile: ["none/x", "data"],
  appendFile: ["none/x", "data"],
  open: ["none", "r"],
  stat: ["none"],
  lstat: ["none"],
  unlink: ["none"],
  rmdir: ["none"],
  rm: ["none"],
  readdir: ["none"],
  readlink: ["none"],
  realpath: ["none"],
  rename: ["none", "x"],
  copyFile: ["none", "x"],
  cp: ["none", "x"],
  link: ["none", "x"],
  symlink: ["x", "none/y"],
  chmod: ["none", 0o644],
  utimes: ["none", 1, 1],
  truncate: ["none", 1],
  access: ["none"],
  mkdir: ["none/x"],
  mkdtemp: ["none/x"],
  opendir: ["none"],
};
for (const [name, args] of Object.entries(calls)) {
  try {
    console.log(name, await fs[name](...args));
  } catch (error) {
    console.log(
      name,
      error.name,
      error.code,
      error.errno,
      error.syscall,
      error.dest,
      error.message.replace(/x\w{6}/, "xXXXXXX"),
    );
  }
}
for (const call of [
  () => fs.readFile(),
  () => fs.writeFile("f", 5),
  () => fs.open("f", "q"),
  () => fs.rm("x", { recursive: 1 }),
  () => fs.readFile("f", "nope"),
]) {
  try {
    console.log(await call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
try {
  await fs.readFile("missing.txt");
} catch (error) {
  console.log(error);
}
