let state = 5;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const ALPHABET = ["a", "é", "€", "🎉", "\ud83c", "\udf89", "\u0000", "\u07ff", "\u0800", "\uffff"];
const encoder = new TextEncoder();
for (let round = 0; round < 100; round++) {
  const text = Array.from({ length: next(12) }, () => ALPHABET[next(ALPHABET.length)]).join("");
  const target = new Uint8Array(next(20));
  console.log(
    JSON.stringify(text),
    Buffer.from(encoder.encode(text)).toString("hex"),
    encoder.encodeInto(text, target),
    Buffer.from(target).toString("hex"),
    text.isWellFormed(),
    new Blob([text]).size,
    encodeURI(text.toWellFormed()),
  );
}
