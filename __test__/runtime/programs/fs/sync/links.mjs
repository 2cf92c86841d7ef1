import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.code, error.syscall, error.path, error.dest, error.message);
  }
};
fs.mkdirSync("d");
fs.writeFileSync("d/f", "hello");
attempt("symlink", () => fs.symlinkSync("d/f", "l"));
attempt("symlink again", () => fs.symlinkSync("d/f", "l"));
attempt("through", () => fs.readFileSync("l", "utf8"));
attempt("readlink", () => fs.readlinkSync("l"));
attempt("readlink buffer", () => fs.readlinkSync("l", "buffer"));
attempt("readlink file", () => fs.readlinkSync("d/f"));
attempt("realpath", () => fs.realpathSync("l"));
attempt("realpath native", () => fs.realpathSync.native("l"));
attempt("dangling", () => fs.symlinkSync("nowhere", "x"));
attempt("read dangling", () => fs.readFileSync("x"));
attempt("realpath dangling", () => fs.realpathSync("x"));
attempt("exists dangling", () => fs.existsSync("x"));
attempt("write through dangling", () => fs.writeFileSync("x", "made"));
attempt("made", () => fs.readFileSync("nowhere", "utf8"));
attempt("loop", () => (fs.symlinkSync("o", "p"), fs.symlinkSync("p", "o")));
attempt("read loop", () => fs.readFileSync("o"));
attempt("directory link", () => fs.symlinkSync("d", "e"));
attempt("list through", () => fs.readdirSync("e"));
attempt("link", () => fs.linkSync("d/f", "h"));
attempt("nlink", () => fs.statSync("h").nlink);
attempt("same", () => (fs.writeFileSync("h", "both"), fs.readFileSync("d/f", "utf8")));
attempt("link again", () => fs.linkSync("d/f", "h"));
attempt("link nothing", () => fs.linkSync("none", "k"));
attempt("link directory", () => fs.linkSync("d", "k"));
attempt("unlink", () => (fs.unlinkSync("d/f"), fs.statSync("h").nlink));
attempt("rm link keeps target", () => (fs.rmSync("e"), fs.existsSync("d")));
attempt("list", () => fs.readdirSync(".").sort());
