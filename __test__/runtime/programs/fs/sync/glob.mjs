import fs from "node:fs";

for (const name of ["a.js", "b.ts", "d/c.js", "d/e/f.js", "node_modules/x/y.js"]) {
  fs.mkdirSync(name.replace(/\/?[^/]*$/, "") || ".", { recursive: true });
  fs.writeFileSync(name, "");
}
console.log(fs.globSync("*.js").sort());
console.log(fs.globSync("**/*.js").sort());
console.log(fs.globSync(["*.ts", "d/*"]).sort());
console.log(fs.globSync("**/*.js", { exclude: (name) => name === "node_modules" }).sort());
console.log(fs.globSync("**/{c,f}.js", { cwd: "d" }).sort());
console.log((await Array.fromAsync(fs.promises.glob("**/e/*"))).sort());
