import fs from "node:fs";

console.log(
  Object.keys(fs.constants)
    .filter((name) => /^(O_|S_|[FRWX]_OK|COPYFILE|UV_FS)/.test(name))
    .sort()
    .join(" "),
);
console.log(Object.keys(fs).sort().join(" "));
console.log(Object.keys(fs.promises).sort().join(" "));
console.log(fs.promises === (await import("node:fs/promises")).default, fs.constants === fs.promises.constants);
console.log(typeof fs.statfsSync(".").bsize, fs.statfsSync(".").constructor.name);
console.log(fs.F_OK, fs.readFile.length, fs.readFile.name, fs.writeFileSync.length);
