import fs from "node:fs";

const attempt = (name, f) => {
  try {
    console.log(name, f());
  } catch (error) {
    console.log(name, error.code, error.message);
  }
};
attempt("r on nothing", () => fs.readFileSync("no.txt"));
attempt("wx", () => fs.writeFileSync("a.txt", "one", { flag: "wx" }));
attempt("wx again", () => fs.writeFileSync("a.txt", "two", { flag: "wx" }));
attempt("a", () => fs.writeFileSync("a.txt", "+three", { flag: "a" }));
attempt("read", () => fs.readFileSync("a.txt", "utf8"));
attempt("r+", () => fs.writeFileSync("a.txt", "ONE", { flag: "r+" }));
attempt("read", () => fs.readFileSync("a.txt", "utf8"));
attempt("a+ read", () => fs.readFileSync("b.txt", { flag: "a+", encoding: "utf8" }));
attempt("w+ read", () => fs.readFileSync("a.txt", { flag: "w+", encoding: "utf8" }));
attempt("ax", () => fs.appendFileSync("a.txt", "x", { flag: "ax" }));
attempt("bad flag", () => fs.openSync("a.txt", "zz"));
attempt("number", () => fs.closeSync(fs.openSync("n.txt", fs.constants.O_CREAT | fs.constants.O_RDWR)));
attempt("excl", () => fs.openSync("n.txt", fs.constants.O_CREAT | fs.constants.O_EXCL));
attempt("directory", () => fs.openSync("n.txt", fs.constants.O_DIRECTORY));
attempt("list", () => fs.readdirSync("."));
