class Point {
  x = 1;
  get y() {
    return 2;
  }
}
const cyclic = { list: [1] };
cyclic.self = cyclic;
const value = {
  date: new Date(0),
  map: new Map([[1, { a: 1 }]]),
  set: new Set(["x"]),
  re: /x/gi,
  big: 5n,
  nan: NaN,
  zero: -0,
  undef: undefined,
  nul: null,
  sparse: [, 1],
  bytes: new Uint8Array([1, 2]),
  buffer: new ArrayBuffer(2),
  error: new TypeError("t"),
  boxed: Object(5),
  point: new Point(),
  cyclic,
  nested: { deep: [{ x: 1 }] },
};
const copy = structuredClone(value);
console.log(copy, copy !== value, copy.cyclic.self === copy.cyclic, copy.point instanceof Point);
const buffer = new ArrayBuffer(4);
const moved = structuredClone({ buffer }, { transfer: [buffer] });
console.log(buffer.byteLength, buffer.detached, moved.buffer.byteLength);
const channel = new MessageChannel();
console.log(structuredClone(channel.port1, { transfer: [channel.port1] }).constructor.name);
channel.port2.close();
for (const call of [
  () => structuredClone(() => {}),
  () => structuredClone(Symbol("s")),
  () => structuredClone({ f() {} }),
  () => structuredClone(new WeakMap()),
  () => structuredClone(),
  () => structuredClone(Promise.resolve()),
  () => structuredClone(1, { transfer: [5] }),
  () => structuredClone(buffer),
  () =>
    structuredClone({
      get x() {
        throw new Error("getter");
      },
    }),
  () => structuredClone(new Proxy({}, {})),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
