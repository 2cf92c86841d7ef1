import { createHash } from "node:crypto";

let state = 12345;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const ALPHABET = [
  "a",
  "Z",
  "0",
  "=",
  "-",
  "_",
  "+",
  "/",
  " ",
  "\n",
  "\0",
  "é",
  "ÿ",
  "Ā",
  "€",
  "世",
  "\ud83c",
  "\udf89",
  "🎉",
  "%",
  "g",
];
const text = () => Array.from({ length: next(24) }, () => ALPHABET[next(ALPHABET.length)]).join("");
const bytes = () =>
  Buffer.from(
    Array.from({ length: next(40) }, () => [next(256), 0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0x80, 0xed, 0xa0][next(9)]),
  );
const encodings = ["utf8", "utf16le", "latin1", "ascii", "base64", "base64url", "hex"];
for (const encoding of encodings) {
  const results = [];
  for (let round = 0; round < 400; round++) {
    const [input, data, other] = [text(), bytes(), text()];
    results.push(
      Buffer.from(input, encoding).toString("hex"),
      Buffer.byteLength(input, encoding),
      data.toString(encoding),
      data.toString(encoding, next(10), next(40)),
    );
    const target = Buffer.alloc(next(20), "x");
    results.push(target.write(input, next(target.length + 1), encoding), target.toString("hex"));
    try {
      results.push(Buffer.alloc(next(12)).fill(other, encoding).toString("hex"));
    } catch (error) {
      results.push(error.code);
    }
    const whole = Buffer.concat([data, Buffer.from(input, encoding), data]);
    // Node's C++ aborts for some texts.
    const [needle, ...rest] =
      /^(base64|hex)/.test(encoding) || /[^ -~]/.test(input) ? [Buffer.from(input, encoding)] : [input, encoding];
    results.push(
      whole.indexOf(needle, next(10) - 5, ...rest),
      whole.lastIndexOf(needle, next(60) - 5, ...rest),
      whole.includes(needle, 0, ...rest),
    );
    results.push(Buffer.compare(data, Buffer.from(other, encoding)));
  }
  console.log(encoding, createHash("sha1").update(JSON.stringify(results)).digest("hex"), results.slice(0, 22));
}
