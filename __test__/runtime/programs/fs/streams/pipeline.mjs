import { createHash } from "node:crypto";
import fs from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

fs.writeFileSync("in", Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join(""));
const upper = new Transform({
  transform(chunk, _encoding, callback) {
    callback(null, chunk.toString().toUpperCase());
  },
});
await pipeline(fs.createReadStream("in"), upper, createGzip(), fs.createWriteStream("out.gz"));
await pipeline(fs.createReadStream("out.gz"), createGunzip(), fs.createWriteStream("out"));
const out = fs.readFileSync("out", "utf8");
console.log(out.length, out.slice(0, 20), createHash("md5").update(out).digest("hex"));
try {
  await pipeline(fs.createReadStream("none"), fs.createWriteStream("x"));
} catch (error) {
  console.log(error.code, error.message);
}
