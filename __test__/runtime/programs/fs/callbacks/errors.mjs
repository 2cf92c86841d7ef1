import fs from "node:fs";
import { promisify } from "node:util";

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
  lutimes: ["none", 1, 1],
  truncate: ["none", 1],
  access: ["none"],
  mkdir: ["none/x"],
  mkdtemp: ["none/x"],
  opendir: ["none"],
  close: [99],
  read: [99, Buffer.alloc(1), 0, 1, 0],
  write: [99, "x"],
  fstat: [99],
  fsync: [99],
};
for (const [name, args] of Object.entries(calls)) {
  await new Promise((resolve) => {
    fs[name](...args, (error, value) => {
      console.log(
        name,
        error.name,
        error.code,
        error.errno,
        error.syscall,
        error.dest,
        error.message.replace(/x\w{6}/, "xXXXXXX"),
        value,
      );
      resolve();
    });
  });
}
console.log(
  await promisify(fs.exists)("none"),
  await promisify(fs.read)(fs.openSync("f", "w+"), Buffer.alloc(1), 0, 1, 0),
);
