import fs from "node:fs";

const fd = fs.openSync("v", "w+");
console.log(fs.writevSync(fd, [Buffer.from("one "), new Uint8Array([116, 119, 111]), Buffer.from(" three")]));
console.log(fs.writevSync(fd, [Buffer.from("ONE")], 0));
const parts = [Buffer.alloc(4), Buffer.alloc(20)];
console.log(fs.readvSync(fd, parts, 0), parts.map(String));
console.log(fs.readvSync(fd, [Buffer.alloc(3)]));
console.log(fs.readFileSync("v", "utf8"));
fs.closeSync(fd);
