import { createHash } from "node:crypto";
import fs from "node:fs";

const bytes = Buffer.alloc(3_000_000);
for (let index = 0; index < bytes.length; index++) bytes[index] = (index * 31 + (index >> 8)) & 255;
fs.writeFileSync("big", bytes);
const read = fs.readFileSync("big");
console.log(read.length, read.equals(bytes), createHash("sha256").update(read).digest("hex"));
const fd = fs.openSync("big", "r+");
fs.writeSync(fd, Buffer.from("0123456789"), 0, 10, 524_283);
const part = Buffer.alloc(20);
fs.readSync(fd, part, 0, 20, 524_278);
console.log(part);
fs.writeSync(fd, "end", 5_000_000);
console.log(fs.fstatSync(fd).size);
fs.closeSync(fd);
const after = fs.readFileSync("big");
console.log(createHash("sha256").update(after).digest("hex"), after.subarray(2_999_998, 3_000_003));
