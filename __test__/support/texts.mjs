// Text files of all sorts: encodings, line endings, characters of several parts, bytes that are no text.
// Each is text beyond doubt, also where there is no byte order mark to say so.

import fc from "fast-check";
import { utf16be } from "./tools.mjs";

const BOM = "\ufeff";
const NARROW = [
  "a",
  "b",
  " ",
  "\t",
  "x = 1;",
  "hello world",
  "{",
  "}",
  "\u00e9",
  "\u00fc\u00df",
  "caf\u00e9",
  "aa",
  "  ",
];
const WIDE = [
  ...NARROW,
  "\u65e5\u672c\u8a9e",
  "\u{1f600}",
  "e\u0301",
  "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}",
  "\u{1f44d}\u{1f3fd}",
  "a\u0301\u0302\u0303",
  "\u201cq\u201d",
  "\u2013",
  "\u00a0",
  "\ufb01",
  "\u2028",
  "\u0301",
  "\u0915\u094d\u0937",
  "y".repeat(90),
];
const ENDINGS = { lf: ["\n"], crlf: ["\r\n"], cr: ["\r"], mixed: ["\n", "\r\n", "\r", "\n\r", "\n\n"] };
/** Bytes that are no UTF-8 where they stand. */
const BROKEN = ["ff", "80", "c3", "e282", "f09f98", "eda080", "c080"].map((hex) => Buffer.from(hex, "hex"));

const linesOf = (words, endings) =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.array(fc.constantFrom(...words), { maxLength: 5 }), fc.constantFrom(...endings)), {
        maxLength: 14,
      }),
      fc.array(fc.constantFrom(...words), { maxLength: 3 }),
    )
    .map(([lines, last]) => lines.map(([line, ending]) => line.join("") + ending).join("") + last.join(""));

/** Text of a kind of line ending. */
const textOf = (words) => fc.constantFrom(...Object.keys(ENDINGS)).chain((kind) => linesOf(words, ENDINGS[kind]));

/** More ASCII than the text has, with its own line endings: what an encoding without a mark is known by. */
const plain = (text) => `plain words${/\r?\n|\r|$/.exec(text)[0]}`.repeat(2 + Math.ceil(text.length / 8));

const SORTS = {
  "utf-8": textOf(WIDE).map((text) => Buffer.from(text)),
  "utf-8 with BOM": textOf(WIDE).map((text) => Buffer.from(BOM + text)),
  "utf-16le": textOf(WIDE).map((text) => Buffer.from(plain(text) + text, "utf16le")),
  "utf-16le with BOM": textOf(WIDE).map((text) => Buffer.from(BOM + text, "utf16le")),
  "utf-16be": textOf(WIDE).map((text) => utf16be(plain(text) + text)),
  "utf-16be with BOM": textOf(WIDE).map((text) => utf16be(BOM + text)),
  "utf-16 with half pairs": textOf([...WIDE, "\ud83d", "\ude00"]).map((text) =>
    Buffer.from(BOM + plain(text).repeat(14) + text, "utf16le"),
  ),
  "latin-1": textOf(NARROW).map((text) => Buffer.from(`${text}tr\u00e8s bien, \u00e0 bient\u00f4t`, "latin1")),
  "broken utf-8": fc
    .tuple(textOf(WIDE), fc.array(fc.tuple(fc.nat(), fc.constantFrom(...BROKEN)), { minLength: 1, maxLength: 6 }))
    .map(([text, broken]) => {
      let bytes = Buffer.from(text);
      for (const [at, wrong] of broken) {
        const cut = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, cut), wrong, bytes.subarray(cut)]);
      }
      // Valid characters outweigh the others.
      return Buffer.concat([bytes, Buffer.from("\u65e5\u672c\u8a9e".repeat(6))]);
    }),
};

/** A file: which sort it is, and its bytes. */
export const textFile = fc
  .constantFrom(...Object.keys(SORTS))
  .chain((sort) => SORTS[sort].map((bytes) => ({ sort, bytes })));

/** The encoding that a sort is read in. */
export function encodingOf(sort) {
  return (
    { "latin-1": "windows-1252", "broken utf-8": "utf-8", "utf-16 with half pairs": "utf-16le" }[sort] ??
    sort.split(" ")[0]
  );
}

/** The text of bytes, without a byte order mark, as the WHATWG standard has it. */
export function decoded(bytes, encoding = "utf-8") {
  return new TextDecoder(encoding).decode(bytes);
}
