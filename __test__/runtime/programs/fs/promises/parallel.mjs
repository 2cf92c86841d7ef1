import fs from "node:fs/promises";

const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
await Promise.all(names.map((name, index) => fs.writeFile(name, `${index}`.repeat(index))));
const sizes = await Promise.all(names.map(async (name) => (await fs.stat(name)).size));
const texts = await Promise.all(names.map((name) => fs.readFile(name, "utf8")));
console.log(
  sizes.join(","),
  texts.every((text, index) => text === `${index}`.repeat(index)),
);
const settled = await Promise.allSettled([fs.readFile("f1", "utf8"), fs.readFile("x"), fs.rm("f2"), fs.rm("f2")]);
console.log(settled.map(({ status, value, reason }) => [status, value, reason?.message]));
