import fs from "node:fs";

fs.mkdirSync("lib/deep", { recursive: true });
fs.writeFileSync("lib/a.mjs", `import { b } from "./deep/b.mjs"; export const a = "a" + b; export default { a };`);
fs.writeFileSync(
  "lib/deep/b.mjs",
  `export const b = "b"; export const where = [import.meta.dirname, import.meta.filename, import.meta.url];`,
);
fs.writeFileSync("lib/data.json", `{"x": [1, 2]}`);
fs.writeFileSync(
  "lib/t.ts",
  `type N = number; export const n: N = 4; export const f = (x: string): string => x + "!";`,
);
fs.writeFileSync("lib/bad.mjs", `export const x = ;`);
fs.writeFileSync("lib/throws.mjs", `throw new RangeError("from inside");`);
fs.writeFileSync("lib/c1.mjs", `import { two } from "./c2.mjs"; export const one = () => "one" + two();`);
fs.writeFileSync("lib/c2.mjs", `import { one } from "./c1.mjs"; export const two = () => typeof one;`);
console.log(await import("./lib/a.mjs"));
console.log((await import("./lib/deep/b.mjs")).where);
console.log((await import("./lib/data.json", { with: { type: "json" } })).default);
const { f, n } = await import("./lib/t.ts");
console.log(n, f("t"));
console.log((await import("./lib/c1.mjs")).one());
console.log((await import(`${process.cwd()}/lib/a.mjs`)).a, (await import(new URL("lib/a.mjs", import.meta.url))).a);
for (const name of ["./lib/bad.mjs", "./lib/throws.mjs", "./lib/throws.mjs"]) {
  try {
    await import(name);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
for (const name of ["./lib/none.mjs", "./lib"]) {
  try {
    await import(name);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log((await import("./lib/a.mjs")) === (await import("./lib/a.mjs")), import.meta.dirname, import.meta.filename);
