import fs from "node:fs";

fs.writeFileSync("f", "12345");
fs.mkdirSync("d");
fs.symlinkSync("f", "l");
fs.utimesSync("f", 1.5, new Date(2500));
const stats = fs.statSync("f");
console.log(stats.constructor.name, Object.keys(stats));
console.log(stats.size, stats.mode.toString(8), stats.nlink, stats.atimeMs, stats.mtimeMs, stats.atime, stats.mtime);
console.log(
  stats.isFile(),
  stats.isDirectory(),
  stats.isSymbolicLink(),
  stats.isFIFO(),
  stats.isSocket(),
  stats.isBlockDevice(),
  stats.isCharacterDevice(),
);
console.log(stats.ctime instanceof Date, stats.birthtime instanceof Date, typeof stats.ino, typeof stats.dev);
const big = fs.statSync("f", { bigint: true });
console.log(big.constructor.name, Object.keys(big), big.size, big.mtimeMs, big.mtimeNs, big.mode);
console.log(
  fs.lstatSync("l").isSymbolicLink(),
  fs.lstatSync("l").size,
  fs.statSync("l").size,
  fs.statSync("d").isDirectory(),
);
console.log(fs.statSync("none", { throwIfNoEntry: false }), fs.lstatSync("none", { throwIfNoEntry: false }));
for (const call of [
  () => fs.statSync("none"),
  () => fs.lstatSync("none"),
  () => fs.statSync("f/x"),
  () => fs.statSync("f/"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error);
  }
}
console.log(fs.statSync("f").ino === fs.statSync("./d/../f").ino);
