import { atob, Blob, btoa, constants, File, isAscii, isUtf8, kMaxLength, transcode } from "node:buffer";

console.log(
  btoa("hello ÿ"),
  atob("aGVsbG8"),
  atob(" aGk = ".replaceAll(" ", "")),
  isUtf8(Buffer.from([0xff])),
  isUtf8(Buffer.from("ü")),
  isAscii(Buffer.from("a")),
  isAscii(Buffer.from("ü")),
);
console.log(
  transcode(Buffer.from("€"), "utf8", "utf16le"),
  transcode(Buffer.from("é"), "utf8", "latin1"),
  transcode(Buffer.from("€"), "utf8", "ascii"),
  constants,
  kMaxLength,
);
console.log(
  Blob === globalThis.Blob,
  File === globalThis.File,
  Buffer.poolSize,
  Buffer.name,
  Buffer.length,
  Object.getOwnPropertyNames(Buffer).sort().join(" "),
);
for (const call of [
  () => atob("a"),
  () => atob("\u0100"),
  () => btoa("\u0100"),
  () => btoa(),
  () => transcode(Buffer.from("a"), "b", "c"),
  () => isUtf8("x"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log(Buffer(3), new Buffer("old"));
