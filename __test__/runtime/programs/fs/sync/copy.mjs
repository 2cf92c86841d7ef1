import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.syscall, error.path, error.dest, error.message);
  }
};
fs.writeFileSync("a", "A");
fs.chmodSync("a", 0o640);
attempt("copy", () => fs.copyFileSync("a", "b"));
attempt("mode", () => (fs.statSync("b").mode & 0o777).toString(8));
attempt("excl", () => fs.copyFileSync("a", "b", fs.constants.COPYFILE_EXCL));
attempt("nothing", () => fs.copyFileSync("none", "c"));
fs.mkdirSync("d/e", { recursive: true });
fs.writeFileSync("d/e/f", "F");
fs.symlinkSync("e/f", "d/l");
attempt("to directory", () => fs.copyFileSync("a", "d"));
attempt("cp file", () => fs.cpSync("a", "n/m/a"));
attempt("cp tree, not recursive", () => fs.cpSync("d", "t"));
attempt("cp tree", () => fs.cpSync("d", "t", { recursive: true }));
attempt("tree", () => fs.readdirSync("t", { recursive: true }).sort());
attempt("content", () => fs.readFileSync("t/e/f", "utf8"));
attempt("cp again", () => fs.cpSync("d", "t", { recursive: true, errorOnExist: true, force: false }));
attempt("cp into itself", () => fs.cpSync("d", "d/x", { recursive: true }));
attempt("cp filter", () => fs.cpSync("d", "u", { recursive: true, filter: (from) => !from.endsWith("f") }));
attempt("filtered", () => fs.readdirSync("u", { recursive: true }).sort());
attempt("cp to directory", () => fs.cpSync("a", "d"));
attempt("cp directory to file", () => fs.cpSync("d", "a", { recursive: true }));
