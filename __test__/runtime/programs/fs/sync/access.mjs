import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.errno, error.syscall, error.message);
  }
};
fs.writeFileSync("f", "");
attempt("exists", () => fs.accessSync("f"));
attempt("read write", () => fs.accessSync("f", fs.constants.R_OK | fs.constants.W_OK));
attempt("run", () => fs.accessSync("f", fs.constants.X_OK));
attempt("nothing", () => fs.accessSync("none"));
attempt("bad mode", () => fs.accessSync("f", 100));
attempt("bad path", () => fs.accessSync(12));
