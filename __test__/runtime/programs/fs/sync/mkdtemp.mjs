import fs from "node:fs";

const made = fs.mkdtempSync("tmp-");
console.log(
  /^tmp-[A-Za-z0-9]{6}$/.test(made),
  fs.statSync(made).isDirectory(),
  (fs.statSync(made).mode & 0o777).toString(8),
);
console.log(fs.mkdtempSync("tmp-", "buffer") instanceof Buffer);
try {
  fs.mkdtempSync("none/x-");
} catch (error) {
  console.log(error.code, error.syscall, error.path, error.message);
}
