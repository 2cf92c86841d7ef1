import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.message);
  }
};
attempt("encoding", () => fs.readFileSync("f", "utf-99"));
attempt("options", () => fs.readFileSync("f", 5));
attempt("data", () => fs.writeFileSync("f", {}));
attempt("data", () => fs.writeFileSync("f", undefined));
attempt("data", () => fs.writeFileSync("f", null));
attempt("mode", () => fs.openSync("f", "w", "zz"));
attempt("mode", () => fs.openSync("f", "w", -1));
attempt("fd", () => fs.readSync("x", Buffer.alloc(1)));
attempt("fd", () => fs.fstatSync(2 ** 40));
const fd = fs.openSync("f", "w+");
attempt("buffer", () => fs.readSync(fd, "text"));
attempt("empty buffer", () => fs.readSync(fd, Buffer.alloc(0)));
attempt("offset", () => fs.readSync(fd, Buffer.alloc(4), 5, 1, 0));
attempt("length", () => fs.readSync(fd, Buffer.alloc(4), 0, 5, 0));
attempt("length", () => fs.readSync(fd, Buffer.alloc(4), 0, -1, 0));
attempt("position", () => fs.readSync(fd, Buffer.alloc(4), 0, 4, "x"));
attempt("write length", () => fs.writeSync(fd, Buffer.alloc(4), 2, 9));
attempt("len", () => fs.ftruncateSync(fd, "x"));
attempt("callback", () => fs.readFile("f"));
attempt("callback", () => fs.stat("f", {}, 5));
attempt("recursive", () => fs.mkdirSync("d", { recursive: "yes" }));
attempt("symlink type", () => fs.symlinkSync("a", "b", "other"));
fs.closeSync(fd);
