import { promisify } from "node:util";
import zlib from "node:zlib";

const input = Buffer.from("round and round and round we go ".repeat(200));
for (const [pack, unpack] of [
  ["gzip", "gunzip"],
  ["deflate", "inflate"],
  ["deflateRaw", "inflateRaw"],
  ["brotliCompress", "brotliDecompress"],
  ["gzip", "unzip"],
  ["deflate", "unzip"],
]) {
  const packed = zlib[`${pack}Sync`](input);
  console.log(
    pack,
    packed.length < 300,
    zlib[`${unpack}Sync`](packed).equals(input),
    (await promisify(zlib[unpack])(await promisify(zlib[pack])(input))).equals(input),
  );
}
for (const level of [0, 1, 6, 9])
  console.log(
    level,
    zlib.inflateSync(zlib.deflateSync(input, { level })).equals(input),
    zlib.gunzipSync(zlib.gzipSync("text", { level })).toString(),
  );
console.log(
  zlib.gunzipSync(Buffer.concat([zlib.gzipSync("one "), zlib.gzipSync("two")])).toString(),
  zlib.inflateSync(Buffer.from("eJzLSM3JyQcABiwCFQ==", "base64")).toString(),
  zlib.gzipSync("").length,
  zlib.gzipSync("x").subarray(0, 4),
  zlib.deflateSync("x")[0],
);
console.log(
  zlib.crc32("hello"),
  zlib.crc32(Buffer.from(" world"), zlib.crc32("hello")),
  zlib
    .inflateRawSync(zlib.deflateRawSync(input, { dictionary: Buffer.from("round") }), {
      dictionary: Buffer.from("round"),
    })
    .equals(input),
  zlib
    .gunzipSync(zlib.gzipSync(input, { strategy: zlib.constants.Z_HUFFMAN_ONLY, memLevel: 9, windowBits: 12 }))
    .equals(input),
);
console.log(
  zlib.brotliDecompressSync(zlib.brotliCompressSync(input, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }))
    .length,
  zlib.inflateSync(zlib.deflateSync(input), { info: true }).buffer.length,
);
