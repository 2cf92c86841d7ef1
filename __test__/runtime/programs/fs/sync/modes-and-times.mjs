import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.message);
  }
};
fs.writeFileSync("f", "x", { mode: 0o600 });
const mode = () => (fs.statSync("f").mode & 0o7777).toString(8);
attempt("made", mode);
attempt("chmod", () => (fs.chmodSync("f", 0o755), mode()));
attempt("chmod text", () => (fs.chmodSync("f", "640"), mode()));
attempt("chmod bad", () => fs.chmodSync("f", "rw"));
attempt("chmod nothing", () => fs.chmodSync("none", 0o644));
attempt("utimes", () => (fs.utimesSync("f", 10, "20.25"), [fs.statSync("f").atimeMs, fs.statSync("f").mtimeMs]));
attempt("utimes dates", () => (fs.utimesSync("f", new Date(0), new Date(123456)), fs.statSync("f").mtime));
attempt("utimes before 1970", () => (fs.utimesSync("f", -1, -1), fs.statSync("f").mtimeMs > 1e12));
attempt("utimes nothing", () => fs.utimesSync("none", 1, 1));
attempt("utimes bad", () => fs.utimesSync("f", {}, 1));
fs.symlinkSync("f", "l");
attempt("lutimes", () => (fs.lutimesSync("l", 5, 6), [fs.lstatSync("l").mtimeMs, fs.statSync("f").mtimeMs > 1e12]));
attempt("truncate", () => (fs.truncateSync("f", 3), fs.readFileSync("f")));
attempt("truncate to 0", () => (fs.truncateSync("f"), fs.readFileSync("f")));
attempt("truncate nothing", () => fs.truncateSync("none"));
attempt("truncate negative", () => (fs.truncateSync("f", -3), fs.statSync("f").size));
attempt("truncate directory", () => fs.truncateSync("."));
