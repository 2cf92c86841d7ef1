import fs from "node:fs";

const fd = fs.openSync("f", "w+", 0o600);
console.log(typeof fd);
console.log(fs.writeSync(fd, "hello world"), fs.writeSync(fd, Buffer.from("abcdef"), 2, 3), fs.writeSync(fd, "XY", 0));
const buffer = Buffer.alloc(8, ".");
console.log(fs.readSync(fd, buffer, 0, 5, 0), buffer.toString());
console.log(fs.readSync(fd, buffer, { position: 6, length: 3, offset: 1 }), buffer.toString());
console.log(fs.readSync(fd, buffer), fs.readSync(fd, buffer, 0, 8, 100));
console.log(fs.readSync(fd, buffer, 0, 4, 2n), buffer.toString());
console.log(fs.fstatSync(fd).size, (fs.fstatSync(fd).mode & 0o777).toString(8));
fs.ftruncateSync(fd, 4);
console.log(fs.readFileSync("f", "utf8"));
fs.ftruncateSync(fd, 6);
console.log(fs.readFileSync("f"));
fs.fsyncSync(fd);
fs.fdatasyncSync(fd);
fs.fchmodSync(fd, 0o644);
console.log((fs.fstatSync(fd).mode & 0o777).toString(8));
fs.futimesSync(fd, 1, 2);
console.log(fs.fstatSync(fd).mtimeMs, fs.fstatSync(fd).atimeMs);
fs.closeSync(fd);
for (const call of [
  () => fs.closeSync(fd),
  () => fs.readSync(fd, buffer),
  () => fs.writeSync(fd, "x"),
  () => fs.fstatSync(fd),
  () => fs.closeSync(-1),
  () => fs.closeSync("x"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.errno, error.syscall, error.message);
  }
}
