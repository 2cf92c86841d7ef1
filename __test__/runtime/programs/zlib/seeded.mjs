import { createHash } from "node:crypto";
import zlib from "node:zlib";

let state = 21;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const kinds = [
  ["gzipSync", "gunzipSync"],
  ["deflateSync", "inflateSync"],
  ["deflateRawSync", "inflateRawSync"],
  ["brotliCompressSync", "brotliDecompressSync"],
];
const results = [];
for (let round = 0; round < 200; round++) {
  const size = next(4) === 0 ? next(200_000) : next(300);
  const data = Buffer.alloc(size);
  const variety = 1 + next(256);
  for (let index = 0; index < size; index++) data[index] = next(variety);
  const [pack, unpack] = kinds[next(kinds.length)];
  const options = pack.startsWith("brotli")
    ? { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: next(6) } }
    : {
        level: next(10),
        memLevel: 1 + next(9),
        strategy: next(5),
        windowBits: 9 + next(7),
        chunkSize: 64 + next(4000),
      };
  const packed = zlib[pack](data, options);
  results.push(zlib[unpack](packed, { chunkSize: 64 + next(2000) }).equals(data));
  const broken = Buffer.from(packed);
  if (broken.length > 4) broken[2 + next(broken.length - 4)] ^= 1 + next(255);
  try {
    results.push(zlib[unpack](broken).length >= 0);
  } catch (error) {
    results.push(typeof error.code);
  }
  results.push(zlib.crc32(data), createHash("md5").update(data).digest("hex"));
}
console.log(
  results.filter((result) => result === true || typeof result === "number" || result?.length === 32).length > 500,
  results.filter((_, index) => index % 4 === 0).every(Boolean),
  createHash("md5")
    .update(JSON.stringify(results.filter((_, index) => index % 4 > 1)))
    .digest("hex"),
);
