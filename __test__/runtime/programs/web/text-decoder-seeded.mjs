import { createHash } from "node:crypto";

let state = 3;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const source = Buffer.from("\ufeffaé€🎉世\u0000ÿ".repeat(3));
for (const encoding of ["utf-8", "utf-16le", "utf-16be", "latin1", "iso-8859-2", "windows-1251", "koi8-r"]) {
  const results = [];
  for (let round = 0; round < 300; round++) {
    const data = Buffer.from(source.subarray(next(8), 12 + next(20)));
    for (let count = next(3); count > 0; count--) data[next(data.length)] = next(256);
    const options = { fatal: next(3) === 0, ignoreBOM: next(2) === 0 };
    const decoder = new TextDecoder(encoding, options);
    try {
      results.push(decoder.decode(data));
      const streaming = new TextDecoder(encoding, options);
      for (let at = 0; at < data.length; at += 3)
        results.push(streaming.decode(data.subarray(at, at + 3), { stream: true }));
      results.push(streaming.decode());
    } catch (error) {
      results.push(error.name, error.code);
    }
  }
  console.log(encoding, createHash("sha1").update(JSON.stringify(results)).digest("hex"), results.slice(0, 8));
}
