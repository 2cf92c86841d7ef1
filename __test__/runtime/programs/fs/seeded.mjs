import fs from "node:fs";

let state = 41;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const pick = (list) => list[next(list.length)];
const path = () => Array.from({ length: 1 + next(3) }, () => pick(["a", "b", "c", "d"])).join("/");
/** What is only looked at can be named in more ways. */
const seen = () => path() + pick(["", "", "", "", "/", "/.", "/.."]);
const open = [];
const operations = {
  write: () => fs.writeFileSync(path(), "x".repeat(next(50)), { flag: pick(["w", "w", "wx", "a", "r+"]) }),
  append: () => fs.appendFileSync(path(), "y".repeat(next(9))),
  read: () => fs.readFileSync(seen(), "utf8"),
  mkdir: () => fs.mkdirSync(path()),
  rmdir: () => fs.rmdirSync(path()),
  rm: () => fs.rmSync(path(), { recursive: next(3) === 0, force: next(3) === 0 }),
  unlink: () => fs.unlinkSync(path()),
  rename: () => fs.renameSync(path(), path()),
  copy() {
    const from = path();
    // Of a directory, libuv removes what has the name of the copy.
    if (!fs.statSync(from).isDirectory()) fs.copyFileSync(from, path(), pick([0, fs.constants.COPYFILE_EXCL]));
  },
  symlink: () => fs.symlinkSync(path(), path()),
  link: () => fs.linkSync(path(), path()),
  readlink: () => fs.readlinkSync(path()),
  realpath: () => fs.realpathSync(seen()),
  readdir: () =>
    fs
      .readdirSync(seen(), { withFileTypes: true })
      .map((entry) => `${entry.name}${entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : ""}`)
      .sort(),
  stat: () =>
    ((stats) => [
      stats.size * !stats.isDirectory(),
      stats.isFile(),
      stats.isFile() && stats.nlink,
      (stats.mode & 0o777).toString(8),
    ])(fs.statSync(seen())),
  lstat: () => ((stats) => [stats.isSymbolicLink(), stats.isDirectory()])(fs.lstatSync(seen())),
  truncate: () => fs.truncateSync(path(), next(60)),
  chmod: () => fs.chmodSync(path(), pick([0o644, 0o600, 0o755])),
  exists: () => fs.existsSync(seen()),
  access: () => fs.accessSync(seen(), pick([0, fs.constants.R_OK])),
  open: () => void open.push(fs.openSync(path(), pick(["r", "r+", "w", "w+", "a", "a+", "wx"]))),
  fdWrite: () => open.length > 0 && fs.writeSync(pick(open), "z".repeat(next(20)), pick([null, next(40)])),
  fdRead: () => {
    const buffer = Buffer.alloc(next(30));
    return (
      open.length > 0 &&
      buffer.length > 0 && [
        fs.readSync(pick(open), buffer, 0, buffer.length, pick([null, next(40)])),
        buffer.toString(),
      ]
    );
  },
  fdTruncate: () => open.length > 0 && fs.ftruncateSync(pick(open), next(40)),
  fdStat: () =>
    open.length > 0 &&
    ((stats) => [stats.size * !stats.isDirectory(), stats.nlink * !stats.isDirectory()])(fs.fstatSync(pick(open))),
  close: () => open.length > 0 && fs.closeSync(open.splice(next(open.length), 1)[0]),
};
const names = Object.keys(operations);
for (let round = 0; round < 4000; round++) {
  const name = pick(names);
  try {
    console.log(name, operations[name]());
  } catch (error) {
    console.log(name, error.message);
  }
}
console.log(fs.readdirSync(".", { recursive: true }).sort());
