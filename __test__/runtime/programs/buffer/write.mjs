const buffer = Buffer.alloc(12, ".");
console.log(
  buffer.write("abc"),
  buffer.write("äö", 4),
  buffer.write("ffff", 9, "hex"),
  buffer.write("xyz", 10, 5),
  buffer.write("long text", 0, 3, "latin1"),
  buffer.write("€", 11),
);
console.log(
  buffer,
  buffer.latin1Write("é", 0),
  buffer.utf8Write("ü", 1, 2),
  buffer.hexWrite("01", 5),
  buffer.base64Write("aGk=", 6),
  buffer.ucs2Write("z", 8),
  buffer,
);
console.log(
  buffer.fill("xy", 2, 5),
  buffer.fill(0),
  buffer.fill("abc", 1),
  buffer.fill(257),
  buffer.fill("", 0, 2),
  buffer.fill(Buffer.from([1, 2]), 3, 9),
  buffer.fill("é", "latin1"),
);
for (const call of [
  () => buffer.write("a", 50),
  () => buffer.write(5),
  () => buffer.fill("a", 0, 50),
  () => buffer.write("a", 0, 50, "utf8"),
  () => buffer.fill("a", "no-such"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
