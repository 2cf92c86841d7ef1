import { StringDecoder } from "node:string_decoder";

const feed = (encoding, pieces) => {
  const decoder = new StringDecoder(encoding);
  console.log(
    encoding,
    pieces.map((piece) => JSON.stringify(decoder.write(Buffer.from(piece)))).join(" "),
    JSON.stringify(decoder.end()),
    decoder.lastNeed,
    decoder.lastTotal,
  );
};
feed("utf8", [[0xe2], [0x82], [0xac, 0x61]]);
feed("utf8", [[0xf0, 0x9f], [0x8e], [0x89, 0xc3]]);
feed("utf8", [[0xff, 0xe2, 0x41], [0xed, 0xa0, 0x80], [0x80]]);
feed("utf16le", [[0x61], [0x00, 0x3d], [0xd8, 0x00], [0xdc]]);
feed("utf16le", [[0x3d, 0xd8]]);
feed("base64", [[1], [2, 3, 4], [5]]);
feed("base64url", [[255, 254], [253]]);
feed("hex", [[1, 2], [255]]);
feed("latin1", [[0xe9], [0x80]]);
feed("ascii", [[0xe9, 0x41]]);
const decoder = new StringDecoder();
console.log(
  decoder.encoding,
  decoder.write("text"),
  decoder.end(Buffer.from([0xc3])),
  new StringDecoder("UCS-2").encoding,
  decoder.lastChar,
);
for (const call of [() => new StringDecoder("x"), () => decoder.write(5), () => decoder.write(null)]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
