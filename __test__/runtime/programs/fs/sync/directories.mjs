import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.code, error.syscall, error.path, error.message);
  }
};
attempt("mkdir", () => fs.mkdirSync("d"));
attempt("again", () => fs.mkdirSync("d"));
attempt("deep", () => fs.mkdirSync("x/y/z"));
attempt("recursive", () => fs.mkdirSync("x/y/z", { recursive: true }));
attempt("recursive again", () => fs.mkdirSync("x/y/z", { recursive: true }));
attempt("recursive absolute", () => fs.mkdirSync(`${process.cwd()}/x/q/r`, { recursive: true }));
attempt("mode", () => fs.mkdirSync("m", { mode: 0o700 }));
attempt("mode is", () => (fs.statSync("m").mode & 0o777).toString(8));
attempt("mode octal text", () => fs.mkdirSync("mo", "755"));
fs.writeFileSync("f", "");
attempt("below file", () => fs.mkdirSync("f/x"));
attempt("below file, recursive", () => fs.mkdirSync("f/x", { recursive: true }));
attempt("file, recursive", () => fs.mkdirSync("f", { recursive: true }));
attempt("list", () => fs.readdirSync(".").sort());
attempt("list recursive", () => fs.readdirSync(".", { recursive: true }).sort());
attempt("list buffers", () => fs.readdirSync("x", "buffer").sort(Buffer.compare));
attempt("list file", () => fs.readdirSync("f"));
attempt("list nothing", () => fs.readdirSync("none"));
attempt("rmdir full", () => fs.rmdirSync("x"));
attempt("rmdir file", () => fs.rmdirSync("f"));
attempt("rmdir", () => fs.rmdirSync("d"));
attempt("rmdir again", () => fs.rmdirSync("d"));
attempt("exists", () => [
  fs.existsSync("d"),
  fs.existsSync("x"),
  fs.existsSync("f"),
  fs.existsSync({}),
  fs.existsSync(""),
]);
