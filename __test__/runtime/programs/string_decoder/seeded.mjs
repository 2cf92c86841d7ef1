import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";

let state = 7;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const source = Buffer.from("aé€🎉世\u0000ÿ".repeat(4));
for (const encoding of ["utf8", "utf16le", "latin1", "ascii", "base64", "base64url", "hex"]) {
  const results = [];
  for (let round = 0; round < 300; round++) {
    const data = Buffer.from(source.subarray(next(10), 20 + next(40)));
    for (let count = next(4); count > 0; count--) data[next(data.length)] = next(256);
    const decoder = new StringDecoder(encoding);
    const parts = [];
    for (let at = 0; at < data.length; ) {
      const size = next(6);
      parts.push(decoder.write(data.subarray(at, at + size)), decoder.lastNeed, decoder.lastTotal);
      at += size;
    }
    parts.push(decoder.end());
    results.push(parts);
  }
  console.log(encoding, createHash("sha1").update(JSON.stringify(results)).digest("hex"), results[0], results[1]);
}
