const buffer = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xfe, 0x80, 0x7f]);
for (const name of Object.getOwnPropertyNames(Buffer.prototype)
  .filter((name) => /^read(?!able)/.test(name))
  .sort()) {
  const args = /U?Int(LE|BE)$/i.test(name) ? [2, 5] : [2];
  console.log(name, buffer[name](...args));
}
const out = Buffer.alloc(9);
for (const name of Object.getOwnPropertyNames(Buffer.prototype)
  .filter((name) => /^write[BUIFD]/.test(name))
  .sort()) {
  const args = /Big/.test(name) ? [5n, 1] : /U?Int(LE|BE)$/i.test(name) ? [70, 1, 6] : [9, 1];
  console.log(name, out[name](...args), out.toString("hex"));
}
for (const call of [
  () => buffer.readUInt8(12),
  () => buffer.readInt16LE(-1),
  () => buffer.readUInt32BE("x"),
  () => out.writeUInt8(256),
  () => out.writeInt16BE(40000),
  () => out.writeBigInt64LE(2n ** 63n),
  () => out.writeUInt8(1.5),
  () => buffer.readUIntBE(0, 7),
  () => buffer.readDoubleLE(1.5),
  () => Buffer.alloc(1).readUInt16LE(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
