let state = 99;
const next = (bound) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % bound;
};
const buffer = Buffer.from(Array.from({ length: 64 }, () => next(256)));
for (let round = 0; round < 60; round++) {
  const at = next(50);
  const length = 1 + next(6);
  console.log(
    buffer.readIntLE(at, length),
    buffer.readUIntBE(at, length),
    buffer.readDoubleLE(at),
    buffer.readFloatBE(at),
    buffer.readBigInt64BE(at),
    buffer.readInt32LE(at),
    buffer.readUInt16BE(at),
  );
  buffer.writeDoubleBE((next(2 ** 23) - 2 ** 22) * 10 ** (next(40) - 20), at);
  buffer.writeFloatLE((next(2 ** 23) - 2 ** 22) / (1 + next(99)), at);
  buffer.writeIntLE(next(2 ** 23) - 2 ** 22, at, 3 + next(4));
  buffer.copy(buffer, next(40), next(20), 20 + next(40));
}
console.log(buffer.toString("hex"));
