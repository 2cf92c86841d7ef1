import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.code, error.syscall, error.path, error.dest, error.message);
  }
};
fs.writeFileSync("a", "A");
fs.writeFileSync("b", "B");
fs.mkdirSync("d/sub", { recursive: true });
fs.mkdirSync("e");
attempt("file", () => fs.renameSync("a", "c"));
attempt("over", () => fs.renameSync("c", "b"));
attempt("is", () => fs.readFileSync("b", "utf8"));
attempt("nothing", () => fs.renameSync("none", "x"));
attempt("into nothing", () => fs.renameSync("b", "none/x"));
attempt("file over directory", () => fs.renameSync("b", "d"));
attempt("directory over file", () => fs.renameSync("d", "b"));
attempt("into itself", () => fs.renameSync("d", "d/sub/x"));
attempt("over full directory", () => fs.renameSync("e", "d"));
attempt("over empty directory", () => fs.renameSync("d", "e"));
attempt("same", () => fs.renameSync("b", "b"));
attempt("list", () => fs.readdirSync(".", { recursive: true }).sort());
