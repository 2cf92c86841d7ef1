import { Buffer } from "node:buffer";

console.log(
  Buffer.from("héllo"),
  Buffer.from("ff0g", "hex"),
  Buffer.from("aGVsbG8", "base64"),
  Buffer.from("a-_b", "base64url"),
  Buffer.from("é", "latin1"),
  Buffer.from("aé", "utf16le"),
  Buffer.from("é", "ascii"),
);
console.log(
  Buffer.from([1, 256, -1, "7", 1.9]),
  Buffer.from(new Uint16Array([1, 258])),
  Buffer.from(new ArrayBuffer(2)),
  Buffer.from(Buffer.from("x")),
  Buffer.from({ length: 2, 0: 5, 1: 6 }),
  Buffer.from({ type: "Buffer", data: [1, 2] }),
  Buffer.from(new String("obj")),
);
const shared = new ArrayBuffer(8);
const view = Buffer.from(shared, 2, 4);
view[0] = 7;
console.log(new Uint8Array(shared), view.byteOffset, view.parent === shared, view.buffer === shared);
console.log(
  Buffer.alloc(3),
  Buffer.alloc(5, "ab"),
  Buffer.alloc(4, 1),
  Buffer.alloc(3, "6162", "hex"),
  Buffer.allocUnsafe(3).length,
  Buffer.allocUnsafeSlow(2).length,
);
for (const call of [
  () => Buffer.from(5),
  () => Buffer.from(null),
  () => Buffer.from({}),
  () => Buffer.alloc(-1),
  () => Buffer.alloc("5"),
  () => Buffer.from("a", "nope"),
  () => Buffer.alloc(2 ** 53),
  () => Buffer.from(new ArrayBuffer(2), 3),
  () => Buffer.alloc(1, "", "hex"),
  () => Buffer.from(Symbol("x")),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
