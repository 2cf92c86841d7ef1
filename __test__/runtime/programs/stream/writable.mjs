import { Writable } from "node:stream";

const writable = new Writable({
  highWaterMark: 5,
  write(chunk, encoding, callback) {
    console.log("write", chunk, encoding);
    setImmediate(callback);
  },
  final(callback) {
    console.log("final");
    callback();
  },
});
for (const name of ["drain", "finish", "close", "pipe"]) writable.on(name, () => console.log(name));
console.log(writable.write("abc"), writable.write("def"), writable.writableLength, writable.writableNeedDrain);
writable.end("end", () => console.log("end callback"));
await new Promise((resolve) => writable.on("close", resolve));
writable.on("error", (error) => console.log("error", error.code, error.message));
console.log(writable.write("late", (error) => console.log("callback", error.code)));
const many = new Writable({
  writev(chunks, callback) {
    console.log(chunks.map(({ chunk }) => String(chunk)));
    callback();
  },
});
many.cork();
many.write("a");
many.write("b");
many.uncork();
many.end();
await new Promise((resolve) => many.on("finish", resolve));
const failing = new Writable({ write: (chunk, encoding, callback) => callback(new Error("no space")) });
failing.on("error", (error) => console.log("failing", error.message, failing.destroyed));
failing.write("x", (error) => console.log("callback", error.message));
for (const call of [
  () => new Writable().write(null),
  () => new Writable({ write() {} }).write({}),
  () => new Writable({ defaultEncoding: "zz" }),
  () => new Writable({ write() {} }).write("x", "zz"),
  () => new Writable({ highWaterMark: -1 }),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
