import crypto from "node:crypto";

console.log(
  crypto.randomBytes(8).length,
  crypto.randomUUID().match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) !== null,
  crypto.randomInt(5) < 5,
  crypto.randomInt(3, 4),
  crypto.randomFillSync(Buffer.alloc(4), 1, 2).length,
  crypto.getRandomValues(new Uint32Array(2)).length,
  globalThis.crypto.randomUUID().length,
);
await new Promise((resolve) => crypto.randomBytes(4, (error, bytes) => resolve(console.log(error, bytes.length))));
await new Promise((resolve) =>
  crypto.randomInt(1, 3, (error, value) => resolve(console.log(error, value === 1 || value === 2))),
);
await new Promise((resolve) =>
  crypto.randomFill(new Uint8Array(3), (error, bytes) => resolve(console.log(error, bytes.length))),
);
console.log(
  crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")),
  crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("b")),
  crypto.webcrypto === globalThis.crypto,
  new Set(Array.from({ length: 50 }, () => crypto.randomUUID())).size,
  Math.random() !== Math.random(),
);
for (const call of [
  () => crypto.randomBytes(-1),
  () => crypto.randomBytes("x"),
  () => crypto.randomInt(0),
  () => crypto.randomInt(5, 2),
  () => crypto.timingSafeEqual(Buffer.alloc(1), Buffer.alloc(2)),
  () => crypto.getRandomValues(new Float32Array(1)),
  () => globalThis.crypto.getRandomValues(new Uint8Array(70000)),
  () => crypto.randomInt(2 ** 50),
  () => crypto.randomFillSync("x"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
