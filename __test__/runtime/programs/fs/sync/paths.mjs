import fs from "node:fs";
import { pathToFileURL } from "node:url";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.name, error.code, error.message);
  }
};
fs.mkdirSync("d");
fs.writeFileSync(pathToFileURL("d/ü x.txt"), "url");
attempt("url", () => fs.readFileSync(pathToFileURL("d/ü x.txt"), "utf8"));
attempt("buffer", () => fs.readFileSync(Buffer.from("d/ü x.txt"), "utf8"));
attempt("bytes", () => fs.readFileSync(new Uint8Array(Buffer.from("d/ü x.txt")), "utf8"));
attempt("absolute", () => fs.readFileSync(`${process.cwd()}/d/../d/./ü x.txt`, "utf8"));
attempt("slashes", () => fs.readFileSync("d//ü x.txt", "utf8"));
attempt("http", () => fs.readFileSync(new URL("http://x/y")));
attempt("host", () => fs.readFileSync(new URL("file://host/y")));
attempt("encoded slash", () => fs.readFileSync(new URL("file:///a%2Fb")));
attempt("null byte", () => fs.readFileSync("a\0b"));
attempt("empty", () => fs.readFileSync(""));
attempt("long", () => fs.readFileSync("x".repeat(300)));
attempt("undefined", () => fs.readFileSync());
attempt("object", () => fs.readFileSync({ path: "x" }));
attempt("dot", () => fs.readFileSync("."));
attempt("names", () => fs.readdirSync("d"));
