import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.syscall, error.path, error.message);
  }
};
fs.mkdirSync("d/e/f", { recursive: true });
fs.writeFileSync("d/e/x", "x");
fs.writeFileSync("y", "y");
attempt("directory", () => fs.rmSync("d"));
attempt("nothing", () => fs.rmSync("none"));
attempt("nothing, force", () => fs.rmSync("none", { force: true }));
attempt("recursive", () => fs.rmSync("d", { recursive: true }));
attempt("file", () => fs.rmSync("y"));
attempt("left", () => fs.readdirSync("."));
attempt("unlink nothing", () => fs.unlinkSync("none"));
fs.mkdirSync("d");
attempt("unlink directory", () => fs.unlinkSync("d"));
attempt("options", () => fs.rmSync("d", { recursive: 1 }));
attempt("options", () => fs.rmSync("d", 1));
