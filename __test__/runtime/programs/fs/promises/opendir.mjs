import fs from "node:fs/promises";

for (let index = 0; index < 70; index++) await fs.writeFile(`f${String(index).padStart(2, "0")}`, "");
const names = [];
for await (const entry of await fs.opendir(".")) names.push(`${entry.name}:${entry.isFile()}`);
console.log(names.length, names.sort().join(" "));
const directory = await fs.opendir(".", { bufferSize: 3 });
console.log((await directory.read()).isFile(), directory.path);
await directory.close();
try {
  await directory.read();
} catch (error) {
  console.log(error.code, error.message);
}
await fs.mkdir("x/y", { recursive: true });
const deep = [];
for await (const entry of await fs.opendir("x", { recursive: true })) deep.push(`${entry.parentPath}/${entry.name}`);
console.log(deep);
