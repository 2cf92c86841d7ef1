import fs from "node:fs";

fs.mkdirSync("d/e", { recursive: true });
fs.writeFileSync("d/f", "x");
fs.symlinkSync("f", "d/l");
const entries = fs.readdirSync("d", { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
console.log(entries);
for (const entry of entries) {
  console.log(
    entry.name,
    entry.parentPath,
    entry.isFile(),
    entry.isDirectory(),
    entry.isSymbolicLink(),
    entry.isFIFO(),
    entry.isSocket(),
    entry.isBlockDevice(),
    entry.isCharacterDevice(),
    entry.constructor.name,
  );
}
console.log(
  fs
    .readdirSync(".", { withFileTypes: true, recursive: true })
    .map((e) => `${e.parentPath} ${e.name}`)
    .sort(),
);
const directory = fs.opendirSync("d");
console.log(directory.path, directory.constructor.name);
const names = [];
for (let entry; (entry = directory.readSync()); ) names.push(entry.name);
console.log(names.sort());
directory.closeSync();
try {
  directory.readSync();
} catch (error) {
  console.log(error.code, error.message);
}
