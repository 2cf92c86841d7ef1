const buffer = Buffer.from("the quick brown fox, the lazy dog, thé end");
console.log(
  buffer.indexOf("the"),
  buffer.indexOf("the", 1),
  buffer.lastIndexOf("the"),
  buffer.lastIndexOf("the", 10),
  buffer.indexOf(Buffer.from("fox")),
  buffer.indexOf(0x71),
  buffer.includes("lazy"),
  buffer.indexOf("é"),
  buffer.indexOf("nope"),
  buffer.indexOf("", 5),
  buffer.indexOf("the", -5),
  buffer.indexOf("6675", "hex"),
  buffer.indexOf("x".repeat(100)),
);
console.log(
  Buffer.from("aéb", "utf16le").indexOf("b", 0, "utf16le"),
  Buffer.from("aXbX", "latin1").lastIndexOf("X", "latin1"),
  buffer.indexOf(new Uint8Array([111, 120])),
  buffer.indexOf(999),
  buffer.indexOf("e", NaN),
);
console.log(
  Buffer.compare(Buffer.from("a"), Buffer.from("b")),
  Buffer.from("abc").compare(Buffer.from("xabcx"), 1, 4),
  Buffer.from("a").equals(new Uint8Array([97])),
  Buffer.from("ab").compare(Buffer.from("a")),
);
console.log(
  Buffer.concat([Buffer.from("a"), new Uint8Array([98]), Buffer.from("c")]),
  Buffer.concat([Buffer.from("abc")], 2),
  Buffer.concat([Buffer.from("a")], 3),
  Buffer.concat([]),
);
const copy = Buffer.alloc(5, ".");
console.log(
  Buffer.from("abcdef").copy(copy, 1, 2, 5),
  copy,
  copy.subarray(1, -1),
  copy.slice(2),
  Buffer.from("abcd").swap16(),
  Buffer.from("abcd").swap32(),
  Buffer.from("abcdefgh").swap64(),
  Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1),
);
for (const call of [
  () => Buffer.compare("a", Buffer.from("b")),
  () => buffer.indexOf({}),
  () => Buffer.concat("x"),
  () => Buffer.concat(["x"]),
  () => Buffer.from("abc").swap16(),
  () => copy.copy("x"),
  () => copy.compare(Buffer.alloc(1), 5),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
