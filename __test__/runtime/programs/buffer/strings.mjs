const buffer = Buffer.from("Grüße 世界 🎉\0x");
for (const encoding of [
  "utf8",
  "utf-8",
  "UTF8",
  "hex",
  "base64",
  "base64url",
  "latin1",
  "binary",
  "ascii",
  "ucs2",
  "utf16le",
]) {
  console.log(
    encoding,
    JSON.stringify(buffer.toString(encoding)),
    Buffer.byteLength("ü🎉", encoding),
    Buffer.isEncoding(encoding),
  );
}
console.log(
  JSON.stringify(buffer.toString("utf8", 2, 6)),
  JSON.stringify(buffer.toString("utf8", -5, 100)),
  buffer.toString("hex", 3),
  JSON.stringify(Buffer.from([0xff, 0xe2, 0x82, 0x61, 0xf0, 0x9f]).toString()),
);
console.log(
  buffer.utf8Slice(0, 3),
  buffer.latin1Slice(0, 3),
  buffer.hexSlice(0, 3),
  Buffer.from([0xc3]).toString(),
  Buffer.from("\ud800x"),
);
console.log(
  buffer.toJSON().data.length,
  JSON.stringify(Buffer.from("hi")),
  `${Buffer.from("tmpl")}`,
  buffer.toLocaleString() === buffer.toString(),
);
try {
  buffer.toString("x");
} catch (error) {
  console.log(error.name, error.code, error.message);
}
