import fs from "node:fs";

fs.writeFileSync("a.txt", "héllo wörld\n");
console.log(fs.readFileSync("a.txt"));
console.log(fs.readFileSync("a.txt", "utf8"), fs.readFileSync("a.txt", "latin1"));
for (const encoding of ["hex", "base64", "base64url", "ucs2", "ascii", "binary"]) {
  console.log(encoding, JSON.stringify(fs.readFileSync("a.txt", { encoding })));
}
fs.writeFileSync("b.bin", new Uint8Array([1, 2, 255, 0]));
fs.writeFileSync("c.bin", new Uint16Array([1, 256]));
fs.writeFileSync("d.bin", new DataView(new ArrayBuffer(3)));
fs.writeFileSync("e.txt", "0102ff", "hex");
fs.writeFileSync("f.txt", "aGk=", { encoding: "base64" });
for (const name of ["b.bin", "c.bin", "d.bin", "e.txt", "f.txt"]) console.log(name, fs.readFileSync(name));
