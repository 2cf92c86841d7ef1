// Paging: to follow the continuations gives all of a file, whatever it holds and however small the pages.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chance, seed } from "../support/chance.mjs";
import { decoded, encodingOf, textFile } from "../support/texts.mjs";
import { openTools, toolsOver, utf16be } from "../support/tools.mjs";

const PATH = "/workspace/file";

/** Content without the line numbers, which have to be those of the page. */
function unnumbered({ content, startLine, endLine }) {
  if (endLine < startLine) return content;
  const lines = content.split("\n");
  assert.equal(lines.length, endLine - startLine + 1, "as many lines as the page says");
  return lines
    .map((line, index) => {
      const prefix = `${startLine + index}\t`;
      assert.ok(line.startsWith(prefix), `${JSON.stringify(line)} begins with ${JSON.stringify(prefix)}`);
      return line.slice(prefix.length);
    })
    .join("\n");
}

/** Reads page after page, each of at most `limitOf(index)` lines, and puts the text together again. */
async function readAll(ok, { isNumbered, limitOf = () => undefined, maxBytes }) {
  let text = "";
  let page;
  const pages = [];
  do {
    const from = page && { offset: page.nextOffset, byteOffset: page.nextByteOffset, version: page.version };
    const limit = limitOf(pages.length);
    const before = page;
    page = await ok("read", { path: PATH, ...from, ...(limit && { limit }) });
    assert.equal(page.kind, undefined, `it is text, not ${page.description}`);
    assert.equal(page.startLine, before?.nextOffset ?? 1);
    if (limit) assert.ok(page.endLine - page.startLine < limit);
    assert.equal(page.changed, undefined);
    if (page.truncated) {
      const isInside = page.nextOffset === page.endLine;
      assert.ok(isInside || page.nextOffset === page.endLine + 1);
      assert.ok(page.nextByteOffset > (before?.nextByteOffset ?? 0), "it goes on");
      if (isInside) assert.equal(page.partialLine, true);
    } else {
      assert.equal(page.nextOffset ?? page.nextByteOffset, undefined);
    }
    if (maxBytes) {
      // More only if there is no room for one character, with what stands before it.
      const lines = isNumbered ? `${page.startLine}\t`.length : 0;
      assert.ok(Buffer.byteLength(page.content) <= Math.max(maxBytes, lines + 4), page.content);
    }
    text += isNumbered ? unnumbered(page) : page.content;
    const endsWithBreak = page.truncated ? page.nextOffset > page.endLine : page.finalNewline !== false;
    if (endsWithBreak && page.endLine >= page.startLine) text += "\n";
    pages.push(page);
  } while (page.truncated);
  return { text, pages };
}

const withoutLastBreak = (text) => text.replace(/\n$/, "");

/** Compares all pages with the file as a whole. */
function compare({ text, pages }, bytes) {
  const { encoding, bom } = pages[0];
  const whole = decoded(bytes, encoding);
  assert.equal(text, whole);
  const lines = whole === "" ? 0 : withoutLastBreak(whole).split("\n").length;
  assert.equal(pages.at(-1).endLine, lines);
  for (const page of pages) {
    assert.equal(page.totalLines, lines);
    assert.deepEqual([page.encoding, page.bom, page.version], [encoding, bom, pages[0].version]);
  }
}

test("the pages of any file are the file", async (t) => {
  const { workspace, fs } = openTools(t);
  const property = fc.asyncProperty(
    textFile,
    fc.record({
      isNumbered: fc.boolean(),
      maxLines: fc.constantFrom(1, 2, 3, 7, 2_000),
      maxBytes: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(200, 262_144)),
      limits: fc.array(fc.constantFrom(undefined, 1, 2, 5), { minLength: 1, maxLength: 4 }),
    }),
    async ({ sort, bytes }, { isNumbered, maxLines, maxBytes, limits }) => {
      await fs.writeFile(PATH, bytes);
      const read = { includeLineNumbers: isNumbered, maxLines, maxBytes };
      const { ok } = toolsOver(workspace, { read });
      const all = await readAll(ok, { isNumbered, maxBytes, limitOf: (index) => limits[index % limits.length] });
      assert.equal(all.pages[0].encoding ?? "utf-8", encodingOf(sort));
      assert.equal(all.pages[0].bom ?? false, sort.includes("BOM") || sort.includes("half"));
      compare(all, bytes);
    },
  );
  await fc.assert(property, { seed: chance(seed, t.name).below(2 ** 31), numRuns: 1_000, includeErrorInReport: true });
});

test("line numbers alone lead on where no line is cut", async (t) => {
  const { workspace, fs } = openTools(t);
  const property = fc.asyncProperty(textFile, fc.integer({ min: 1, max: 4 }), async ({ bytes }, limit) => {
    await fs.writeFile(PATH, bytes);
    const { ok } = toolsOver(workspace, { read: { includeLineNumbers: false } });
    const contents = [];
    for (let page = { nextOffset: 1 }; page.nextOffset; ) {
      page = await ok("read", { path: PATH, offset: page.nextOffset, limit });
      contents.push(page.content);
    }
    const { encoding } = await ok("read", { path: PATH });
    assert.equal(contents.join("\n"), withoutLastBreak(decoded(bytes, encoding)));
  });
  await fc.assert(property, { seed: chance(seed, t.name).below(2 ** 31), numRuns: 150, includeErrorInReport: true });
});

test("text in legacy encodings of several bytes", async (t) => {
  const { workspace, fs } = openTools(t);
  const rows = {
    shift_jis: "93fa967b8cea82cc837483408343838b82c582b7814283658358836782f08f9182ab82dc82b78142",
    "euc-jp": "c6fccbdcb8eca4cea5d5a5a1a5a4a5eba4c7a4b9a1a3a5c6a5b9a5c8a4f2bdf1a4ada4dea4b9a1a3",
    "euc-kr": "c7d1b1b9beee20c6c4c0cfc0d4b4cfb4d92e20bfa9b7af20b9aec0e520c0cc20b5e9beee20c0d6bdc0b4cfb4d92e",
    gbk: "d6d0cec4cec4bcfea1a3d5e2cac7d2bbb8f6b2e2cad4cec4bcfea1a3",
    big5: "a4a4a4e5c0c9aed7a143b3f8ac4fa440adecb4fab8d5c0c9aed7a143",
  };
  for (const [encoding, hex] of Object.entries(rows)) {
    const line = Buffer.from(hex, "hex");
    const bytes = Buffer.concat([line, Buffer.from("\n"), line, Buffer.from(" ab\r\n"), line, line, line]);
    await fs.writeFile(PATH, bytes);
    for (const maxBytes of [1, 2, 3, 4, 5, 7, 10, 31, 100, 262_144]) {
      for (const isNumbered of [false, true]) {
        const { ok } = toolsOver(workspace, { read: { includeLineNumbers: isNumbered, maxBytes } });
        const all = await readAll(ok, { isNumbered, maxBytes });
        assert.equal(all.pages[0].encoding, encoding);
        compare(all, bytes);
      }
    }
  }
});

test("one line of some megabytes", async (t) => {
  const { workspace, fs } = openTools(t);
  const dice = chance(seed, t.name);
  const words = [
    "a",
    "\u00e9",
    "\u{1f600}",
    "e\u0301",
    "\u65e5\u672c",
    "\u{1f469}\u200d\u{1f467}",
    " ",
    "word ".repeat(20),
  ];
  let line = "";
  while (line.length < 1_500_000) line += dice.pick(words);
  const rows = [
    ["utf-8", Buffer.from(line)],
    ["utf-8, then more", Buffer.from(`first\n${line}\nlast\n`)],
    ["utf-16le", Buffer.from(`\ufeff${line}`, "utf16le")],
    ["utf-16be", utf16be(`\ufeff${line}\n`)],
    ["latin-1", Buffer.from("voil\u00e0 ".repeat(400_000), "latin1")],
    ["one accent after the other", Buffer.from(`a${"\u0301".repeat(300_000)}`)],
    ["carriage returns", Buffer.from("\r".repeat(700_000))],
  ];
  for (const [sort, bytes] of rows) {
    await fs.writeFile(PATH, bytes);
    for (const [isNumbered, maxBytes] of [
      [true, 262_144],
      [false, 262_144],
      [false, 99_991],
    ]) {
      const { ok } = toolsOver(workspace, { read: { includeLineNumbers: isNumbered, maxBytes } });
      const { text, pages } = await readAll(ok, { isNumbered, maxBytes });
      assert.ok(pages.length > 1 && pages.length < 80, `${sort}: ${pages.length} pages`);
      assert.ok(text === decoded(bytes, pages[0].encoding), `${sort}, pages of ${maxBytes} bytes`);
    }
  }
});

test("pages of a file of many chunks", async (t) => {
  const { workspace, fs } = openTools(t);
  const line = "line \u00e9\u{1f600} of some length, with \t and \r in it\r\n";
  const bytes = Buffer.from(line.repeat(40_000));
  await fs.writeFile(PATH, bytes);
  for (const isNumbered of [false, true]) {
    const { ok } = toolsOver(workspace, { read: { includeLineNumbers: isNumbered } });
    const { text, pages } = await readAll(ok, { isNumbered });
    assert.ok(text === bytes.toString());
    assert.equal(pages.length, 20);
    assert.ok(pages.every(({ totalLines }, index) => totalLines === (index < 19 ? null : 40_000)));
  }
});
