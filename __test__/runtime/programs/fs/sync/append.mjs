import fs from "node:fs";

fs.appendFileSync("log", "a");
fs.appendFileSync("log", Buffer.from("b"));
fs.appendFileSync("log", "Yw==", "base64");
const fd = fs.openSync("log", "a");
fs.appendFileSync(fd, "d");
fs.writeFileSync(fd, "e");
fs.closeSync(fd);
console.log(fs.readFileSync("log", "utf8"));
try {
  fs.appendFileSync("log", 12);
} catch (error) {
  console.log(error.name, error.code, error.message);
}
try {
  fs.appendFileSync("no/log", "x");
} catch (error) {
  console.log(error.name, error.code, error.message);
}
