import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";

const collect = async (stream) => Buffer.concat(await stream.toArray());
const text = Array.from({ length: 5000 }, (_, index) => `row ${index}\n`).join("");
for (const [pack, unpack] of [
  [zlib.createGzip, zlib.createGunzip],
  [zlib.createDeflate, zlib.createInflate],
  [zlib.createDeflateRaw, zlib.createInflateRaw],
  [zlib.createBrotliCompress, zlib.createBrotliDecompress],
  [zlib.createGzip, zlib.createUnzip],
]) {
  const out = unpack({ chunkSize: 1024 });
  const [, result] = await Promise.all([
    pipeline(Readable.from([text.slice(0, 1000), text.slice(1000)]), pack(), out),
    collect(out),
  ]);
  console.log(pack.name, result.toString() === text, out.bytesWritten > 0);
}
const gzip = zlib.createGzip();
gzip.write("first");
await new Promise((resolve) => gzip.flush(resolve));
const early = gzip.read();
console.log(early.length > 10, gzip.bytesWritten);
await new Promise((resolve) => gzip.params(9, zlib.constants.Z_DEFAULT_STRATEGY, resolve));
gzip.end("second");
console.log(zlib.gunzipSync(Buffer.concat([early, await collect(gzip)])).toString());
const bad = zlib.createGunzip();
bad.on("error", (error) => console.log(error.code, error.errno, error.message));
bad.end("not gzip at all");
await new Promise((resolve) => bad.on("close", resolve));
const trailing = zlib.createGunzip();
trailing.end(Buffer.concat([zlib.gzipSync("a"), Buffer.from([0, 0, 0])]));
console.log(String(await collect(trailing)));
