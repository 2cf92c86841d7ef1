const decoder = new TextDecoder();
console.log(
  decoder.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])),
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length,
  new TextDecoder("utf-16le").decode(new Uint8Array([0x61, 0, 0x3d, 0xd8])),
  new TextDecoder("latin1").encoding,
  new TextDecoder("shift_jis").decode(new Uint8Array([0x93, 0xfa])),
  new TextDecoder("gbk").decode(new Uint8Array([0xc4, 0xe3])),
  new TextDecoder("windows-1251").decode(new Uint8Array([0xcf])),
  new TextDecoder("big5").encoding,
  new TextDecoder("euc-kr").decode(new Uint8Array([0xb0, 0xa1])),
);
const streaming = new TextDecoder();
console.log(
  JSON.stringify(streaming.decode(new Uint8Array([0xe2, 0x82]), { stream: true })),
  JSON.stringify(streaming.decode(new Uint8Array([0xac]), { stream: true })),
  JSON.stringify(streaming.decode(new Uint8Array([0xf0]))),
  decoder,
);
const encoder = new TextEncoder();
console.log(
  encoder.encode("ü€"),
  encoder.encodeInto("héllo", new Uint8Array(3)),
  encoder.encode("\ud800"),
  encoder.encoding,
  encoder,
);
for (const call of [
  () => new TextDecoder("nope"),
  () => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])),
  () => decoder.decode("x"),
  () => encoder.encodeInto("x", []),
  () => new TextDecoder("utf-8", 5),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
