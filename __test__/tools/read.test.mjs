// read: pages of text, kinds of files, encodings, media, and what is said of paths that lead nowhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decoded } from "../support/texts.mjs";
import { openTools, toolsOver, utf16be } from "../support/tools.mjs";

const PATH = "/workspace/file";
const PLAIN = { includeLineNumbers: false };
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n");
const latin1 = (text) => Buffer.from(text, "latin1");
const utf16le = (text) => Buffer.from(text, "utf16le");

/** Lines `first` to `last` of a file of `total`; `more` has what else is in the result. */
const page = (content, first, last, total, more = {}) => ({
  content,
  startLine: first,
  endLine: last,
  totalLines: total,
  truncated: "nextOffset" in more,
  ...more,
});

/** The continuation of a page. */
const next = (offset, byteOffset) => ({ nextOffset: offset, nextByteOffset: byteOffset });

/** Rows of contents, arguments and the whole result, which is also compared as JSON or text. */
async function check(t, read, rows) {
  const { fs, run } = openTools(t, { read });
  for (const [contents, input, want] of rows) {
    const path = input.path ?? PATH;
    await fs.writeFile(path, contents);
    const { output, text, isError } = await run("read", { path, ...input });
    const told = `${JSON.stringify(String(contents).slice(0, 80))} ${JSON.stringify(input)}`;
    assert.equal(isError, false, `${told}: ${output.error}`);
    const { version, ...rest } = output;
    assert.match(version, /^[0-9a-f]{16}$/);
    // A last line without a line break is said to be one.
    const isOpen =
      !want.truncated && want.content !== "" && !decoded(Buffer.from(contents), want.encoding).endsWith("\n");
    assert.deepEqual(rest, { path, ...want, ...(isOpen && { finalNewline: false }) }, told);
    if (!("content" in output)) continue;
    const isPage = output.truncated || "offset" in input || "byteOffset" in input;
    const isWhole = !isPage && output.content !== "" && !output.encoding;
    assert.equal(text, isWhole ? output.content : JSON.stringify(output), told);
  }
}

test("lines, with and without a final line break", (t) =>
  check(t, PLAIN, [
    ["", {}, page("", 1, 0, 0)],
    ["", { offset: 3 }, page("", 1, 0, 0)],
    ["\n", {}, page("", 1, 1, 1)],
    ["\n\n", {}, page("\n", 1, 2, 2)],
    ["a", {}, page("a", 1, 1, 1)],
    ["a\n", {}, page("a", 1, 1, 1)],
    ["a\n\nb", {}, page("a\n\nb", 1, 3, 3)],
    ["a\r\nb\r\n", {}, page("a\r\nb\r", 1, 2, 2)],
    ["a\rb\rc", {}, page("a\rb\rc", 1, 1, 1)],
    ["a\u2028b\u0085c\vd\fe\n", {}, page("a\u2028b\u0085c\vd\fe", 1, 1, 1)],
    [" \t a \t \n", {}, page(" \t a \t ", 1, 1, 1)],
  ]));

test("offset and limit choose lines", (t) =>
  check(t, PLAIN, [
    ["a\nb\nc\n", { offset: 1 }, page("a\nb\nc", 1, 3, 3)],
    ["a\nb\nc\n", { offset: 0 }, page("a\nb\nc", 1, 3, 3)],
    ["a\nb\nc\n", { offset: 2 }, page("b\nc", 2, 3, 3)],
    ["a\nb\nc", { offset: 3 }, page("c", 3, 3, 3)],
    ["a\nb\nc\n", { limit: 1 }, page("a", 1, 1, 3, next(2, 2))],
    ["a\nb\nc\n", { limit: 3 }, page("a\nb\nc", 1, 3, 3)],
    ["a\nb\nc\n", { limit: 1e9 }, page("a\nb\nc", 1, 3, 3)],
    ["é\n😀\nc\n", { offset: 2, limit: 1 }, page("😀", 2, 2, 3, next(3, 8))],
    ["é\n😀\nc\n", { offset: 3, byteOffset: 8 }, page("c", 3, 3, 3)],
    ["é\n😀\nc\n", { offset: 2, byteOffset: 3, limit: 1 }, page("😀", 2, 2, 3, next(3, 8))],
    ["a\nb", { byteOffset: 0 }, page("a\nb", 1, 2, 2)],
    ["abc\nd", { offset: 1, byteOffset: 1 }, page("bc\nd", 1, 2, 2, { partialLine: true })],
  ]));

test("lines have their numbers unless that is turned off", (t) =>
  check(t, undefined, [
    ["", {}, page("", 1, 0, 0)],
    ["\n", {}, page("1\t", 1, 1, 1)],
    ["a\n\tb\r\n", {}, page("1\ta\n2\t\tb\r", 1, 2, 2)],
    ["a\nb\nc\n", { offset: 2, limit: 1 }, page("2\tb", 2, 2, 3, next(3, 4))],
    ["a\n".repeat(12), { offset: 9, limit: 3 }, page("9\ta\n10\ta\n11\ta", 9, 11, 12, next(12, 22))],
  ]));

test("a page holds as many whole lines as fit", async (t) => {
  await check(t, { ...PLAIN, maxLines: 2 }, [
    ["a\nb\nc\n", {}, page("a\nb", 1, 2, 3, next(3, 4))],
    ["a\nb\nc\n", { limit: 3 }, page("a\nb", 1, 2, 3, next(3, 4))],
    ["a\nb\n", {}, page("a\nb", 1, 2, 2)],
  ]);
  await check(t, { ...PLAIN, maxBytes: 7 }, [
    ["aaa\nbbb\n", {}, page("aaa\nbbb", 1, 2, 2)],
    ["aaa\nbbbb\n", {}, page("aaa", 1, 1, 2, next(2, 4))],
    ["é\né\nab", {}, page("é\né", 1, 2, 3, next(3, 6))],
  ]);
  await check(t, { maxBytes: 7 }, [
    ["a\nb\nc\n", {}, page("1\ta\n2\tb", 1, 2, 3, next(3, 4))],
    ["a\nbb\nc\n", {}, page("1\ta", 1, 1, 3, next(2, 2))],
  ]);
});

test("a line too long for a page comes in pieces that cut no character", async (t) => {
  const piece = { partialLine: true };
  await check(t, { ...PLAIN, maxBytes: 5 }, [
    ["abcdefghij\nk\n", {}, page("abcde", 1, 1, 2, { ...next(1, 5), ...piece })],
    ["abcdefghij\nk\n", { offset: 1, byteOffset: 5 }, page("fghij", 1, 1, 2, { ...next(2, 11), ...piece })],
    ["abcdefg\nk\n", { offset: 1, byteOffset: 5 }, page("fg\nk", 1, 2, 2, piece)],
    ["😀😀\n", {}, page("😀", 1, 1, 1, { ...next(1, 4), ...piece })],
    ["aéééé", {}, page("aéé", 1, 1, 1, { ...next(1, 5), ...piece })],
    // The accent stays with its letter, and the two bytes of a line break together.
    ["abcde\u0301f", {}, page("abcd", 1, 1, 1, { ...next(1, 4), ...piece })],
    ["abcde\r\nf", {}, page("abcd", 1, 1, 2, { ...next(1, 4), ...piece })],
    ["ab\ncdefghi\n", {}, page("ab", 1, 1, 2, next(2, 3))],
    [
      utf16le("\ufeffabcdefgh"),
      {},
      page("abcde", 1, 1, 1, { ...next(1, 12), encoding: "utf-16le", bom: true, ...piece }),
    ],
  ]);
  await check(t, { ...PLAIN, maxBytes: 1 }, [["😀é", {}, page("😀", 1, 1, 1, { ...next(1, 4), ...piece })]]);
  await check(t, { maxBytes: 5 }, [
    ["abcdefg\n", {}, page("1\tabc", 1, 1, 1, { ...next(1, 3), ...piece })],
    ["abcdefg\n", { offset: 1, byteOffset: 3 }, page("1\tdef", 1, 1, 1, { ...next(1, 6), ...piece })],
    ["abcdefg\n", { offset: 1, byteOffset: 6 }, page("1\tg", 1, 1, 1, piece)],
  ]);
});

test("lineTruncation cuts lines instead", async (t) => {
  await check(t, { ...PLAIN, lineTruncation: { bytes: 4 } }, [
    ["abcd\nabcde\néééx\n", {}, page("abcd\nabcd... (truncated)\néé... (truncated)", 1, 3, 3)],
    ["abcde\nf", { limit: 1 }, page("abcd... (truncated)", 1, 1, 2, next(2, 6))],
  ]);
  await check(t, { ...PLAIN, lineTruncation: { chars: 2 } }, [
    ["ab\nabc\n😀é😀\n", {}, page("ab\nab... (truncated)\n😀é... (truncated)", 1, 3, 3)],
  ]);
  await check(t, { lineTruncation: { chars: 1 } }, [["ab\n", {}, page("1\ta... (truncated)", 1, 1, 1)]]);
});

test("all lines are counted where that is cheap", async (t) => {
  const { fs, ok } = openTools(t);
  for (const [lines, total] of [
    [2_001, 2_001],
    [100_000, 100_000],
    [1_200_000, null],
  ]) {
    await fs.writeFile(PATH, "\n".repeat(lines));
    assert.equal((await ok("read", { path: PATH })).totalLines, total);
  }
  const last = await ok("read", { path: PATH, offset: 1_199_999 });
  assert.deepEqual([last.startLine, last.endLine, last.totalLines], [1_199_999, 1_200_000, 1_200_000]);
});

test("text has its encoding named unless it is UTF-8", (t) =>
  check(t, PLAIN, [
    ["\ufeffé\n", {}, page("é", 1, 1, 1, { bom: true })],
    ["\ufeff", {}, page("", 1, 0, 0, { bom: true })],
    ["é\ufeff\n\ufeffa", {}, page("é\ufeff\n\ufeffa", 1, 2, 2)],
    [utf16le("\ufeffhé\n😀\n"), {}, page("hé\n😀", 1, 2, 2, { encoding: "utf-16le", bom: true })],
    [utf16be("\ufeffhé\n😀\n"), {}, page("hé\n😀", 1, 2, 2, { encoding: "utf-16be", bom: true })],
    [utf16le("hello\nyou\n"), {}, page("hello\nyou", 1, 2, 2, { encoding: "utf-16le" })],
    [utf16be("hello\nyou\n"), {}, page("hello\nyou", 1, 2, 2, { encoding: "utf-16be" })],
    [utf16le("\ufeffab\ncd\n"), { limit: 1 }, page("ab", 1, 1, 2, { ...next(2, 8), encoding: "utf-16le", bom: true })],
    // U+0A0A and U+0D0A hold the bytes of line breaks and are none.
    [utf16le("\ufeffa\u0a0ab\u0d0ac"), {}, page("a\u0a0ab\u0d0ac", 1, 1, 1, { encoding: "utf-16le", bom: true })],
    [latin1("café crème\nà la carte\n"), {}, page("café crème\nà la carte", 1, 2, 2, { encoding: "windows-1252" })],
    [latin1("caf\xe9"), {}, page("café", 1, 1, 1, { encoding: "windows-1252" })],
    [Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3, 0xa9, 0xc3, 0xa9]), {}, page("a\ufffdb\néé", 1, 2, 2)],
    [Buffer.concat([Buffer.from("ééé"), Buffer.from([0xe2, 0x82])]), {}, page("ééé\ufffd", 1, 1, 1)],
    [
      utf16le(`\ufeffab\ud800c${"!".repeat(20)}`),
      {},
      page(`ab\ufffdc${"!".repeat(20)}`, 1, 1, 1, { encoding: "utf-16le", bom: true }),
    ],
  ]));

test("a continuation that cannot be is refused", async (t) => {
  const { fs, refused } = openTools(t);
  await fs.writeFile(PATH, "aé\nb\n");
  const rows = [
    [{ offset: 3 }, ["Offset 3", "2 line(s)"]],
    [{ offset: 9e15 }, ["beyond end of file", PATH]],
    [{ offset: 2, byteOffset: 6 }, ["Byte continuation 6", "6 bytes"]],
    [{ offset: 2, byteOffset: 99 }, ["Byte continuation 99"]],
    [{ offset: 1, byteOffset: 2 }, ["`byteOffset` 2", "within a character"]],
    [{ byteOffset: 2 }, ["`byteOffset` needs `offset`", "nextByteOffset"]],
    [{ offset: 0, byteOffset: 4 }, ["`byteOffset` needs `offset`"]],
    [{ offset: 5, byteOffset: 4 }, ["`byteOffset` 4"]],
    [{ offset: 1, byteOffset: 4 }, ["`byteOffset` 4"]],
  ];
  for (const [input, words] of rows) await refused("read", { path: PATH, ...input }, "EINVAL", ...words);
});

test("a version names contents, whoever wrote them", async (t) => {
  const { fs, ok } = openTools(t);
  const versionOf = async (contents) => {
    await fs.writeFile(PATH, contents);
    return (await ok("read", { path: PATH })).version;
  };
  for (const size of [0, 5, 3_000, 600_000]) {
    const [a, b] = ["a".repeat(size), `${"a".repeat(Math.max(size - 1, 0))}b`];
    const version = await versionOf(a);
    assert.notEqual(await versionOf(b), version);
    assert.equal(await versionOf(a), version);
    // The same bytes, written piece by piece.
    await fs.writeFile(PATH, "");
    for (let at = 0; at < size; at += 70_000) await fs.appendFile(PATH, a.slice(at, at + 70_000));
    assert.equal((await ok("read", { path: PATH })).version, version, `${size} bytes`);
  }
});

test("a continuation in a file that has changed says so", async (t) => {
  const { fs, ok, refused } = openTools(t);
  await fs.writeFile(PATH, "a\nb\nc\n");
  const { version, nextOffset, nextByteOffset } = await ok("read", { path: PATH, limit: 1 });
  const goesOn = { path: PATH, offset: nextOffset, byteOffset: nextByteOffset, version };
  const same = await ok("read", goesOn);
  assert.equal(same.content, "2\tb\n3\tc");
  assert.equal(same.changed, undefined);

  await fs.writeFile(PATH, "x\na\nb\nc\n");
  const stale = await refused("read", goesOn, "ESTALE", PATH, "has changed", "from the start");
  const line = await ok("read", { path: PATH, offset: nextOffset, version });
  assert.deepEqual([line.content, line.changed, line.version], ["2\ta\n3\tb\n4\tc", true, stale.version]);
  // As it was: nothing is wrong any more.
  await fs.writeFile(PATH, "a\nb\nc\n");
  assert.equal((await ok("read", goesOn)).content, same.content);
});

test("the contents decide what a file is, the name comes second", async (t) => {
  const { fs, run } = openTools(t);
  const zip = Buffer.from("PK\x03\x04\x14\0\0\0\x08\0abcdefghijk\0\0\0\0", "latin1");
  const rows = [
    ["photo.txt", PIXEL, "image", "image/png"],
    ["photo", PIXEL, "image", "image/png"],
    ["a.jpeg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46]), "image", "image/jpeg"],
    ["a.gif", Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1"), "image", "image/gif"],
    ["a.bin", Buffer.from("RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0", "latin1"), "image", "image/webp"],
    ["text.png", "not a picture\n", "text"],
    ["empty.png", "", "text"],
    ["gif.txt", "GIF89a is a format\n", "text"],
    ["a.svg", '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>\n', "text"],
    ["a.vue", "<template>é</template>\n", "text"],
    ["breaks.txt", "\n\r\r\nnot a packet capture\n", "text"],
    ["breaks", Buffer.from("\xff\nnot a picture\n", "latin1"), "text"],
    ["noname", "#!/bin/sh\necho\n", "text"],
    ["colors.log", "\x1b[31mred\x1b[0m\n", "text"],
    ["paper", PDF, "file", "application/pdf"],
    ["paper.txt", PDF, "file", "application/pdf"],
    ["pdf.pdf", "no document\n", "text"],
    ["data.zip", zip, "binary", "application/zip"],
    ["data.md", zip, "binary", "application/zip"],
    ["nul.ts", Buffer.from("let a;\0\n"), "binary"],
    ["zeros.txt", Buffer.alloc(100), "binary", "application/octet-stream"],
    ["noise", Buffer.from("8f1e02f3b7c9d04e11aa00ff3c77", "hex"), "binary", "application/octet-stream"],
  ];
  for (const [name, contents, kind, mediaType] of rows) {
    const path = `/workspace/${name}`;
    await fs.writeFile(path, contents);
    const { output, text, media, isError } = await run("read", { path });
    assert.equal(isError, false, `${name}: ${output.error}`);
    assert.equal(output.kind ?? "text", kind, name);
    if (kind === "text") {
      assert.equal(media, undefined);
      continue;
    }
    const bytes = Buffer.from(contents);
    assert.equal(output.path, path);
    assert.equal(output.name, name);
    assert.equal(output.sizeBytes, bytes.length);
    assert.match(output.version, /^[0-9a-f]{16}$/);
    if (mediaType) assert.equal(output.mediaType, mediaType, name);
    if (kind === "binary") {
      assert.equal(media, undefined);
      assert.equal(output.unsupported, true);
      assert.equal(
        output.firstBytes,
        bytes
          .subarray(0, 32)
          .toString("hex")
          .replaceAll(/(..)(?=.)/g, "$1 "),
      );
      for (const part of [path, output.mediaType, `${bytes.length} bytes`, output.firstBytes]) {
        assert.ok(text.includes(part), text);
      }
    } else {
      assert.equal(output.unsupported, undefined);
      assert.equal(text, `Read ${path} (${mediaType}, ${bytes.length} bytes).`);
      const { data, ...rest } = media;
      assert.deepEqual(rest, { kind, mediaType, name });
      assert.deepEqual(Buffer.from(data), bytes);
    }
  }
});

test("media of any size up to maxModelBytes are whole", async (t) => {
  const { workspace, fs, refused } = openTools(t);
  const picture = (size) => Buffer.concat([PIXEL, Buffer.alloc(size - PIXEL.length, 7)]);
  for (const size of [1_000, 524_288, 524_289, 1_300_000]) {
    const { run } = toolsOver(workspace, { read: { maxModelBytes: size } });
    await fs.writeFile("/workspace/a.png", picture(size));
    const { media } = await run("read", { path: "/workspace/a.png", offset: 1, limit: 1 });
    assert.deepEqual(Buffer.from(media.data), picture(size));
    await fs.writeFile("/workspace/a.png", picture(size + 1));
    const { output, media: none, isError } = await run("read", { path: "/workspace/a.png" });
    assert.deepEqual([output.code, none, isError], ["EFBIG", undefined, true]);
    assert.match(output.error, /\/workspace\/a\.png \(image\/png\).*at most/);
  }
  await fs.writeFile("/workspace/a.pdf", Buffer.concat([PDF, Buffer.alloc(3_670_016)]));
  await refused("read", { path: "/workspace/a.pdf" }, "EFBIG", "application/pdf", "3.5MB");
});

test("a path that leads nowhere names what may be meant", async (t) => {
  const { fs, refused } = openTools(t);
  const files = [
    "/workspace/README.md",
    "/workspace/src/index.ts",
    "/workspace/src/parts/button.ts",
    "/workspace/lib/button.ts",
    "/workspace/caf\u00e9.txt",
    "/workspace/a\u00a0b.txt",
    "/workspace/Schreibtisch Foto.txt",
    "/workspace/many/f1.txt",
    "/workspace/many/f2.txt",
    "/workspace/many/f3.txt",
    "/workspace/many/f4.txt",
  ];
  for (const file of files) {
    await fs.mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true });
    await fs.writeFile(file, "x");
  }
  const rows = [
    ["/workspace/readme.md", ["/workspace/README.md"]],
    ["/workspace/README.m", ["/workspace/README.md"]],
    ["/workspace/REDAME.md", ["/workspace/README.md"]],
    ["/workspace/READXME.md", ["/workspace/README.md"]],
    ["/workspace/src/indx.ts", ["/workspace/src/index.ts"]],
    ["/workspace/Src/index.ts", ["/workspace/src/index.ts"]],
    ["/workspace/srcs/index.ts", ["/workspace/src/index.ts"]],
    ["/workspace/index.ts", ["/workspace/src/index.ts"]],
    ["src/Index.ts", ["/workspace/src/index.ts"]],
    ["/workspace/src/button.ts", ["/workspace/lib/button.ts", "/workspace/src/parts/button.ts"]],
    ["/workspace/src/parts/Button.ts", ["/workspace/src/parts/button.ts", "/workspace/lib/button.ts"]],
    ["/workspace/cafe\u0301.txt", ["/workspace/caf\u00e9.txt"]],
    ["/workspace/CAFE\u0301.TXT", ["/workspace/caf\u00e9.txt"]],
    ["/workspace/a b.txt", ["/workspace/a\u00a0b.txt"]],
    ["/workspace/Schreibtisch\u202fFoto.txt", ["/workspace/Schreibtisch Foto.txt"]],
    ["/workspace/many/f5.txt", ["/workspace/many/f1.txt", "/workspace/many/f2.txt", "/workspace/many/f3.txt"]],
    ["/workspace/nothing-like-it", undefined],
    ["/workspace/src/none/here/deep.js", undefined],
    ["/", undefined, "EISDIR"],
    ["/workspace/README.md/x", undefined, "ENOTDIR"],
  ];
  for (const [path, candidates, code = "ENOENT"] of rows) {
    const output = await refused("read", { path }, code, path);
    assert.deepEqual(output.candidates, candidates, path);
    if (!candidates && code === "ENOENT") assert.match(output.error, /`ls` or `find`/);
  }
});

test("candidates are named in the text for a model", async (t) => {
  const { fs, run } = openTools(t);
  await fs.writeFile("/workspace/one.txt", "x");
  const { text } = await run("read", { path: "/workspace/One.txt" });
  assert.equal(text, "File not found: /workspace/One.txt\nDid you mean: /workspace/one.txt?");
});

test("paths that are no files", async (t) => {
  const { fs, ok, refused } = openTools(t);
  await fs.mkdir("/workspace/d");
  await fs.writeFile("/workspace/d/a", "hello");
  await fs.symlink("d/a", "/workspace/link");
  await fs.symlink("d", "/workspace/dlink");
  await fs.symlink("nowhere", "/workspace/dangling");
  await fs.symlink("loop", "/workspace/loop");
  const rows = [
    ["/workspace/d", "EISDIR", "/workspace/d is a directory", "`ls`"],
    ["/workspace/dlink", "EISDIR", "`ls`"],
    [".", "EISDIR", "`ls`"],
    ["", "EISDIR", "`ls`"],
    ["/workspace/dangling", "ENOENT"],
    ["/workspace/loop", "ELOOP", "links"],
    ["/workspace/a\0b", "EINVAL"],
    [`/workspace/${"a".repeat(300)}`, "ENAMETOOLONG"],
  ];
  for (const [path, code, ...words] of rows) await refused("read", { path }, code, ...words);
  for (const path of ["/workspace/link", "/workspace/dlink/a", "d/a", "./d/../link", "/workspace//d/./a"]) {
    const output = await ok("read", { path });
    assert.deepEqual([output.path, output.content], [path, "1\thello"]);
  }
});
