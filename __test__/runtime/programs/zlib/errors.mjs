import zlib from "node:zlib";

const good = zlib.gzipSync("some text that is long enough to be cut in the middle of it all");
for (const call of [
  () => zlib.gunzipSync("nope"),
  () => zlib.inflateSync(Buffer.from([1, 2, 3])),
  () => zlib.gunzipSync(good.subarray(0, 30)),
  () => zlib.gunzipSync(good.subarray(0, 30), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).length > 0,
  () => zlib.brotliDecompressSync(Buffer.from([255, 255])),
  () => zlib.gzipSync(5),
  () => zlib.gzipSync("x", { level: 99 }),
  () => zlib.gunzipSync(good, { maxOutputLength: 5 }),
  () => zlib.inflateRawSync(Buffer.from([255])),
  () => zlib.createGzip({ chunkSize: 1 }),
  () => zlib.crc32(5),
  () => zlib.inflateSync(zlib.deflateSync("x", { dictionary: Buffer.from("d") })),
  () => zlib.unzipSync(Buffer.from("plain text")),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.errno, error.message);
  }
}
await new Promise((resolve) =>
  zlib.gunzip("bad", (error, value) => resolve(console.log(error.name, error.code, error.errno, error.message, value))),
);
const flipped = Buffer.from(good);
flipped[flipped.length - 6] ^= 255;
try {
  zlib.gunzipSync(flipped);
} catch (error) {
  console.log(error.code, error.message);
}
