const buffer = Buffer.from("abc");
console.log(
  [...buffer],
  [...buffer.entries()],
  [...buffer.keys()],
  buffer.map((x) => x + 1),
  buffer.filter((x) => x > 97),
  buffer.at(-1),
  Buffer.of(1, 2),
  buffer.readUint8(),
  buffer.length,
  buffer.byteLength,
);
console.log(
  Buffer.isBuffer(buffer),
  Buffer.isBuffer(new Uint8Array(1)),
  buffer instanceof Uint8Array,
  Object.prototype.toString.call(buffer),
  structuredClone(buffer),
  buffer.toReversed(),
  buffer.with(0, 5),
  Buffer.from("z".repeat(60)),
  [Buffer.from("in list")],
  { b: Buffer.alloc(0) },
);
class Mine extends Uint8Array {}
console.log(Buffer.from(new Mine([1])), new Mine(2), Object.assign(Buffer.from("p"), { prop: 1 }));
