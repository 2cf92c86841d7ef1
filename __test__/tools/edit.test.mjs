// edit: which text an edit means, what it changes there, and why it is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTools, toolsOver, utf16be } from "../support/tools.mjs";
import { bytesOf } from "../support/workspace.mjs";

const PATH = "/workspace/file";
const BOM = "\ufeff";
const latin1 = (text) => Buffer.from(text, "latin1");
const utf16le = (text) => Buffer.from(text, "utf16le");
const edit = (oldText, newText, more) => ({ oldText, newText, ...more });
const all = { replaceAll: true };

/**
 * Rows of contents, old text (or a list of edits), new text, what is in the file then, and how it was
 * found: `rule first-last`, `× places` if they are more than one.
 */
async function makes(t, rows, options) {
  const { fs, ok } = openTools(t, options);
  for (const [contents, old, newText, want, ...found] of rows) {
    const edits = Array.isArray(old) ? old : [edit(old, newText)];
    const told = JSON.stringify([contents, edits]);
    await fs.writeFile(PATH, contents);
    const output = await ok("edit", { path: PATH, edits });
    assert.deepEqual(await bytesOf(fs.readFile(PATH)), Buffer.from(want), told);
    const matches = output.matches.map(
      ({ rule, startLine, endLine, count }) => `${rule} ${startLine}-${endLine}${count > 1 ? ` × ${count}` : ""}`,
    );
    assert.deepEqual(matches, found, told);
    assert.deepEqual(
      output.matches.map((match) => match.edit),
      [...edits.keys()],
    );
    assert.equal(output.editsApplied, edits.length);
    assert.equal(output.changed, !Buffer.from(contents).equals(Buffer.from(want)), told);
    assert.deepEqual(
      [output.sizeBefore, output.sizeAfter],
      [contents, want].map((part) => Buffer.from(part).length),
    );
    assert.equal(output.version, (await ok("read", { path: PATH })).version);
  }
}

/** Rows of contents, edits, a code, and words of the sentence; the file has to stay as it is. */
async function refuses(t, rows, options) {
  const { fs, refused } = openTools(t, options);
  const outputs = [];
  for (const [contents, edits, code, ...words] of rows) {
    await fs.writeFile(PATH, contents);
    const { mtime } = await fs.stat(PATH);
    const output = await refused("edit", { path: PATH, edits: [edits].flat() }, code, ...words);
    assert.deepEqual(await bytesOf(fs.readFile(PATH)), Buffer.from(contents));
    assert.deepEqual((await fs.stat(PATH)).mtime, mtime);
    outputs.push(output);
  }
  return outputs;
}

test("exact text", (t) =>
  makes(t, [
    ["a\nb\nc\n", "b", "B", "a\nB\nc\n", "exact 2-2"],
    ["a\nb\nc\n", "a\nb\n", "x\n", "x\nc\n", "exact 1-2"],
    ["a\nb\nc", "c", "", "a\nb\n", "exact 3-3"],
    ["a\nb\nc\n", "\nb", "", "a\nc\n", "exact 1-2"],
    ["abc", "b", "123", "a123c", "exact 1-1"],
    ["a\n", "a\n", "", "", "exact 1-1"],
    ["f(x) $1 \\n", "(x)", "$& $1 \\0 $$", "f$& $1 \\0 $$ $1 \\n", "exact 1-1"],
    ["Word word", "word", "w", "Word w", "exact 1-1"],
    // An exact place wins, whatever is like it.
    ['“x” "x"', '"x"', "y", "“x” y", "exact 1-1"],
    ["  a\n    a  \n", "    a", "\tb", "  a\n\tb  \n", "exact 2-2"],
    ["é e\u0301", "é", "x", "x e\u0301", "exact 1-1"],
    [`words\u0001${"and more ".repeat(9)}`, "\u0001", " ", `words ${"and more ".repeat(9)}`, "exact 1-1"],
    ["😀😁", "😁", "🤣", "😀🤣", "exact 1-1"],
    ["a\r\nb\r\nc\r\n", "b\r\n", "", "a\r\nc\r\n", "exact 2-2"],
  ]));

test("line endings do not matter, and the text takes those of its place", (t) =>
  makes(t, [
    ["a\r\nb\r\nc\r\n", "a\nb", "A\nX\nB", "A\r\nX\r\nB\r\nc\r\n", "line-endings 1-2"],
    ["a\nb\nc\n", "a\r\nb", "A\r\nB", "A\nB\nc\n", "line-endings 1-2"],
    ["a\rb\rc\r", "a\nb", "A\nX\nB", "A\rX\rB\rc\r", "line-endings 1-2"],
    ["a\r\nb\r\n", "b", "b\nc\nd", "a\r\nb\r\nc\r\nd\r\n", "exact 2-2"],
    ["a\nb\r\nc\nd\r\n", "b\nc", "B\nX\nC", "a\nB\r\nX\r\nC\nd\r\n", "line-endings 2-3"],
    ["one\ntwo\r\n", "one", "1\n1", "1\n1\ntwo\r\n", "exact 1-1"],
    ["one\ntwo\r\n", "two", "2\n2", "one\n2\r\n2\r\n", "exact 2-2"],
    ["a\r\nb\r\n", "b\n", "", "a\r\n", "line-endings 2-2"],
    // As read shows lines: with the first half of their line break.
    ["a\r\nb\r\n", "a\r", "A\r", "A\r\nb\r\n", "exact 1-1"],
    ["a\r\nb\r\n", "b\r", "B", "a\r\nB\r\n", "exact 2-2"],
    ["a\r\nb\r\n", "a\r\nb\r", "a\r\nX\r\nb\r", "a\r\nX\r\nb\r\n", "exact 1-2"],
    ["a\r\nb\r\n", "a\r", "", "\r\nb\r\n", "exact 1-1"],
    ["a\r\nb", "b", "b\n", "a\r\nb\r\n", "exact 2-2"],
    // Where there is none yet it keeps its own.
    ["x", "x", "x\r\ny", "x\r\ny", "exact 1-1"],
    ["x", "x", "x\ny\n", "x\ny\n", "exact 1-1"],
    // A mark in front, which models copy from elsewhere.
    [`${BOM}a\nb\n`, `${BOM}a`, "A", `${BOM}A\nb\n`, "line-endings 1-1"],
    [`${BOM}a\nb\n`, "a", `${BOM}A`, `${BOM}A\nb\n`, "exact 1-1"],
    ["a\nb\n", `${BOM}a`, `${BOM}A`, "A\nb\n", "line-endings 1-1"],
  ]));

test("quotes, dashes, spaces, trailing blanks and compatible characters do not matter", (t) =>
  makes(t, [
    ["it’s “so” – yes", `it's "so" - yes`, "no", "no", "loose 1-1"],
    ["a\u00a0b\u3000c", "a b c", "x", "x", "loose 1-1"],
    ["ﬁne ① ａ", "fine 1 a", "x", "x", "loose 1-1"],
    ["cafe\u0301 x", "café x", "tea x", "tea x", "loose 1-1"],
    ["café x", "cafe\u0301 x", "tea x", "tea x", "loose 1-1"],
    ["a  \nb\t\nc\n", "a\nb", "A\nb", "A  \nb\t\nc\n", "loose 1-2"],
    ["a\nb\n", "a  \nb  ", "A\nb", "A\nb\n", "loose 1-2"],
    ["a \r\nb\r\n", "a\nb", "a\nx\nb", "a \r\nx\r\nb\r\n", "loose 1-2"],
    // What both texts have keeps its bytes.
    ["“a” – b  \nc\n", '"a" - b\nc', '"a" - b\nd', "“a” – b  \nd\n", "loose 1-2"],
    ["x – y – z1", "x - y - z1", "x - y - z2", "x – y – z2", "loose 1-1"],
    // And no pair of quotes is torn.
    ["say “hi”", 'say "hi"', "say 'hi'", "say 'hi'", "loose 1-1"],
  ]));

test("the indentation of a whole block does not matter, and the text takes that of its place", (t) =>
  makes(t, [
    [
      "    if (a) {\n      b();\n    }\n",
      "if (a) {\n  b();\n}",
      "if (x) {\n  b();\n  c();\n}",
      "    if (x) {\n      b();\n      c();\n    }\n",
      "indentation 1-3",
    ],
    ["a {\n  b\n}\n", "    a {\n      b\n    }", "    a {\n      c\n    }", "a {\n  c\n}\n", "indentation 1-3"],
    [
      "\ta {\n\t\tb\n\t}\n",
      "  a {\n    b\n  }",
      "  a {\n    b\n    c\n  }",
      "\ta {\n\t\tb\n\t\tc\n\t}\n",
      "indentation 1-3",
    ],
    [
      "    a {\n        b\n    }\n",
      "\ta {\n\t\tb\n\t}",
      "\ta {\n\t\tc\n\t}",
      "    a {\n        c\n    }\n",
      "indentation 1-3",
    ],
    ["  a\n\n  b\n", "a\n\nb", "a\n\nc", "  a\n\n  c\n", "indentation 1-3"],
    ["  a\r\n  b\r\n", "a\nb", "a\nx\nb", "  a\r\n  x\r\n  b\r\n", "indentation 1-2"],
  ]));

test("what is found nowhere is refused with the nearest text and the first difference", async (t) => {
  const nearest = (startLine, endLine, text, difference) => ({ startLine, endLine, text, difference });
  const rows = [
    [
      "const total = price * count;\n",
      "const total = price * counts;",
      nearest(1, 1, "1\tconst total = price * count;", /line 1.*`.*count;`.*`.*counts;`/),
    ],
    [
      "fn a() {\n  one();\n  two();\n}\n",
      "fn a() {\n  one();\n  three();\n}",
      nearest(
        1,
        4,
        "1\tfn a() {\n2\t  one();\n3\t  two();\n4\t}",
        /line 3: the file has `two\(\);`, oldText has `three\(\);`/,
      ),
    ],
    // The first and the last line alone never suffice.
    [
      "begin here\nx = 1\ny = 2\nend there\n",
      "begin here\nend there",
      nearest(1, 2, "1\tbegin here\n2\tx = 1", /line 2/),
    ],
    // Indentation that does not change in one way.
    ["    begin of it\n      inner part\n", "begin of it\ninner part", nearest(1, 2, /1\t/, /6 spaces.*nothing/)],
    ["a long line with a tab\there\n", "a long line with a tab here", nearest(1, 1, /^1\t/, /U\+0009 TAB/)],
    ["two  blanks in the line\n", "two blanks in the line", nearest(1, 1, /^1\t/, /`two {2}blanks.*`two blanks/)],
    ["an\u200bother line of text\n", "another line of text", nearest(1, 1, /^1\t/, /U\+200B ZERO WIDTH SPACE/)],
    [
      "It’s one thing\n",
      "It's one things",
      nearest(1, 1, /^1\t/, /U\+2019 RIGHT SINGLE QUOTATION MARK.*U\+0027 APOSTROPHE/),
    ],
    ["Hello Big World\n", "hello big world", nearest(1, 1, /^1\t/, /only letter case differs/)],
    ['print("a")\n', 'print(\\"a\\")', nearest(1, 1, /^1\t/, /escape `\\"`/)],
    [
      "first line\nsecond line\n",
      "first line\\nsecond line",
      nearest(1, 2, /^1\tfirst line\n2\tsecond/, /escape `\\n`.*line break/),
    ],
    ['p("a\\nb")\n', "a\nb", nearest(1, 1, /^1\t/, /escape `\\n`/)],
    ["if (a < b && c)\n", "if (a &lt; b &amp;&amp; c)", nearest(1, 1, /^1\t/, /escape `&lt;`/)],
    ["last line of it", "last line of it\n", nearest(1, 1, /^1\t/, /ends with a line break/)],
    ["the last line\n", "the last line\nand one more", nearest(1, 1, /^1\t/, /1 more line after the end/)],
    ["half a ﬁre\n", "half a f", nearest(1, 1, /^1\t/, /part of a character|its parts/)],
    ["abc\n", "nothing like it at all", undefined],
    ["", "anything", undefined],
  ];
  const outputs = await refuses(
    t,
    rows.map(([contents, old]) => [contents, edit(old, "new"), "ENOMATCH", "oldText"]),
  );
  for (const [index, output] of outputs.entries()) {
    const [, old, want] = rows[index];
    assert.equal(output.nearest === undefined, want === undefined, `${old}: ${JSON.stringify(output.nearest)}`);
    if (!want) continue;
    for (const [field, value] of Object.entries(want)) {
      if (value instanceof RegExp) assert.match(output.nearest[field], value);
      else assert.equal(output.nearest[field], value, old);
    }
    assert.ok(output.error.includes(output.nearest.difference));
  }
});

test("what a refusal shows is at most 2 KiB", async (t) => {
  const long = Array.from({ length: 400 }, (_, n) => `line number ${n} ${"é".repeat(n)}`).join("\n");
  const wide = `start ${"w".repeat(100_000)} end\n`;
  const outputs = await refuses(t, [
    [long, edit(long.replace("number 200 ", "number 2oo "), "x"), "ENOMATCH"],
    [wide, edit(wide.replace("start", "stert"), "x"), "ENOMATCH"],
    ["😀".repeat(3_000), edit(`${"😀".repeat(2_999)}😁`, "x"), "ENOMATCH"],
  ]);
  for (const { nearest } of outputs) {
    assert.ok(Buffer.byteLength(nearest.text) + Buffer.byteLength(nearest.difference) <= 2_048);
    assert.ok(!nearest.text.includes("\ufffd"));
  }
  assert.match(outputs[0].nearest.text, /201\tline number 200/);
});

test("what is found in several places is refused with their lines", async (t) => {
  const rows = [
    ["a\nb\na\n", edit("a", "x"), [1, 3], "2 places", "replaceAll"],
    // Places that overlap count.
    ["aaa", edit("aa", "x"), [1], "2 places"],
    ["x\nab\nab\nab\n", edit("ab\nab", "x"), [2, 3], "2 places"],
    ["a\r\nb\r\na\r\nb\r\n", edit("a\nb", "x"), [1, 3], "2 places", "line endings"],
    ["“a”\n‘x’ „a‟\n", edit('"a"', "x"), [1, 2], "2 places", "quotes"],
    ["“a”\n„a‟\n", edit('"a"', "x", all), [1, 2], "exactly as it is"],
    ["  a {\n  }\n    a {\n    }\n", edit("a {\n}", "x"), [1, 3], "indentation"],
    ["a\n".repeat(30), edit("a", "x"), Array.from({ length: 20 }, (_, line) => line + 1), "30 places", "and more"],
    ["a".repeat(5_000), edit("a", "x"), [1], "1000 or more places"],
  ];
  const outputs = await refuses(
    t,
    rows.map(([contents, edits, , ...words]) => [contents, edits, "EAMBIGUOUS", ...words]),
  );
  for (const [index, { lines }] of outputs.entries())
    assert.deepEqual(lines, rows[index][2], rows[index][0].slice(0, 50));
});

test("replaceAll means every place, from left to right", (t) =>
  makes(t, [
    ["a b a b a", [edit("a", "x", all)], 0, "x b x b x", "exact 1-1 × 3"],
    ["a b", [edit("a", "x", all)], 0, "x b", "exact 1-1"],
    ["aaaaa", [edit("aa", "b", all)], 0, "bba", "exact 1-1 × 2"],
    ["a a", [edit("a", "aa", all)], 0, "aa aa", "exact 1-1 × 2"],
    ["x\na\nx\n", [edit("x", "", all)], 0, "\na\n\n", "exact 1-1 × 2"],
    ["a\r\nb\r\nc\na\nb\n", [edit("a\nb", "A\nB", all)], 0, "a\r\nb\r\nc\nA\nB\n", "exact 4-5"],
    ["a\r\nb\r\na\r\nb\r\n", [edit("a\nb", "A\nB", all)], 0, "A\r\nB\r\nA\r\nB\r\n", "line-endings 1-2 × 2"],
    ["“a” b", [edit('"a"', "x", all)], 0, "x b", "loose 1-1"],
    ["a\nb a\n", [edit("a", "1", all), edit("b", "2")], 0, "1\n2 1\n", "exact 1-1 × 2", "exact 2-2"],
  ]));

test("several edits are all matched against the file as it was", async (t) => {
  await makes(t, [
    [
      "a\nb\nc\n",
      [edit("a", "b"), edit("b", "c"), edit("c", "a")],
      0,
      "b\nc\na\n",
      "exact 1-1",
      "exact 2-2",
      "exact 3-3",
    ],
    ["a\nb\nc\n", [edit("c", "C"), edit("a", "A")], 0, "A\nb\nC\n", "exact 3-3", "exact 1-1"],
    ["abcd", [edit("ab", "x"), edit("cd", "y")], 0, "xy", "exact 1-1", "exact 1-1"],
    ["ab", [edit("b", "bc"), edit("a", "za")], 0, "zabc", "exact 1-1", "exact 1-1"],
    ["a\nb\n", [edit("a", "a"), edit("b", "c")], 0, "a\nc\n", "exact 1-1", "exact 2-2"],
    ["a\r\nb – c\n", [edit("b - c", "d"), edit("a", "x\ny")], 0, "x\r\ny\r\nd\n", "loose 2-2", "exact 1-1"],
  ]);
  await refuses(t, [
    ["abc", [edit("ab", "x"), edit("bc", "y")], "EINVAL", "edits[0] and edits[1]", "merge"],
    ["abc", [edit("b", "x"), edit("b", "x")], "EINVAL", "edits[0] and edits[1]"],
    ["a b c", [edit("c", "x"), edit("a", "y"), edit("b c", "z")], "EINVAL", "edits[0] and edits[2]"],
    ["a b a", [edit("a", "x", all), edit("b a", "y")], "EINVAL", "edits[0] and edits[1]"],
    // All or nothing.
    ["a\nb\n", [edit("a", "x"), edit("unknown text", "y")], "ENOMATCH", "edits[1].oldText"],
    ["a\nb\nb\n", [edit("a", "x"), edit("b", "y")], "EAMBIGUOUS", "edits[1].oldText"],
    ["a\nb\n", [edit("a", "x"), edit("", "y")], "EINVAL", "edits[1].oldText", "empty"],
  ]);
});

test("an old text without anything in it", (t) =>
  refuses(t, [
    ["a", edit("", "x"), "EINVAL", "oldText is empty", "write"],
    ["", edit("", "x"), "EINVAL", "oldText is empty"],
    ["a", edit(BOM, "x"), "EINVAL", "oldText is empty"],
    ["a\n\n\nb", edit("\n\n", "x"), "EAMBIGUOUS"],
  ]));

test("an edit that changes nothing says so", async (t) => {
  const { fs, ok, workspace } = openTools(t);
  for (const [contents, edits] of [
    ["a\nb\n", [edit("a", "a")]],
    ["a\r\nb\r\n", [edit("a\nb", "a\nb")]],
    ["“a” – b", [edit('"a" - b', '"a" - b')]],
    ["aa", [edit("a", "a", all)]],
    ["a b", [edit("a", "a"), edit("b", "b")]],
  ]) {
    await fs.writeFile(PATH, contents);
    const before = [(await fs.stat(PATH)).mtime, (await ok("read", { path: PATH })).version];
    const output = await ok("edit", { path: PATH, edits });
    assert.deepEqual([output.changed, output.diff, output.patch, output.firstChangedLine], [false, "", "", undefined]);
    assert.match(output.note, /same/);
    assert.deepEqual([(await fs.stat(PATH)).mtime, output.version], before);
    assert.equal(await fs.readFile(PATH, "utf8"), contents);
  }
  assert.equal((await workspace.check()).ok, true);
});

test("any encoding keeps its bytes outside of the edit, and its mark", (t) =>
  makes(t, [
    [`${BOM}é\nb\n`, "é", "è", `${BOM}è\nb\n`, "exact 1-1"],
    [utf16le(`${BOM}a\r\nb😀\r\n`), "b😀", "c😁\nd", utf16le(`${BOM}a\r\nc😁\r\nd\r\n`), "exact 2-2"],
    [utf16be(`${BOM}a\nb\n`), "a\nb", "é\nb", utf16be(`${BOM}é\nb\n`), "exact 1-2"],
    [utf16le("plain text\nb\n"), "plain", "new", utf16le("new text\nb\n"), "exact 1-1"],
    [latin1("café crème\nà la carte\n"), "crème", "noir é", latin1("café noir é\nà la carte\n"), "exact 1-1"],
    [latin1("d\xe9j\xe0 vu \x93q\x94\n"), "vu", "lu", latin1("d\xe9j\xe0 lu \x93q\x94\n"), "exact 1-1"],
    // In the file's own bytes: € is 0x80 in windows-1252.
    [latin1("d\xe9j\xe0 vu, tr\xe8s bien\n"), "vu", "5 €", latin1("d\xe9j\xe0 5 \x80, tr\xe8s bien\n"), "exact 1-1"],
    [
      Buffer.concat([Buffer.from("日本語 "), Buffer.from([0xff, 0x61, 0xfe, 0x0a])]),
      "\ufffda\ufffd",
      "\ufffdb\ufffd",
      Buffer.concat([Buffer.from("日本語 "), Buffer.from([0xff, 0x62, 0xfe, 0x0a])]),
      "exact 1-1",
    ],
  ]));

test("text that the encoding cannot hold, and files that are no text, are refused", (t) =>
  refuses(t, [
    [latin1("café crème\nà la carte\n"), edit("crème", "→"), "EILSEQ", "windows-1252", "U+2192"],
    [latin1("café crème\nà la carte\n"), [edit("café", "x"), edit("crème", "😀")], "EILSEQ", "U+1F600"],
    [Buffer.concat([Buffer.from("日本語 x"), Buffer.from([0xff])]), edit("x", "\ufffd"), "EILSEQ", "U+FFFD"],
    [Buffer.from("a\0b"), edit("a", "b"), "EINVAL", "no text", "`read`"],
    [Buffer.from("89504e470d0a1a0a0000", "hex"), edit("PNG", "b"), "EINVAL", "no text"],
  ]));

test("what an edit makes is read as it was meant, or refused", async (t) => {
  const { fs, ok, run } = openTools(t, { read: { includeLineNumbers: false } });
  const rows = [
    // Bytes of one encoding that are text of another one.
    [latin1("\xe9t\xe9 x"), "\u00e9t\u00e9 x", "\u00c3\u00a9"],
    [latin1("caf\xe9"), "caf\u00e9", "\u00c3\u00a9t \u00c3\u00a9"],
    [latin1("xbc caf\xe9 cr\xe8me"), "xbc", "\u00ff\u00fe"],
    [latin1("xbc caf\xe9 cr\xe8me"), "caf\u00e9 cr\u00e8me", "nothing else"],
    [utf16le("hello"), "hello", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8"],
    [utf16le("hello wo"), "hello", "\u65e5\u672c"],
    [utf16le("hello wo"), "hello", "good morning"],
    // Text that is none any more.
    ["abc", "b", "\0"],
    ["abc", "abc", "\u0001\u0002"],
    ["abc", "abc", "%PDF-1.4 x"],
    ["abc", "abc", "GIF89a"],
    ["abc", "abc", "\ufeffabc"],
    [`${BOM}abc`, "abc", "\ufeffx"],
  ];
  let made = 0;
  for (const [contents, oldText, newText] of rows) {
    await fs.writeFile(PATH, contents);
    const { content } = await ok("read", { path: PATH });
    const { output, isError } = await run("edit", { path: PATH, edits: [edit(oldText, newText)] });
    const told = JSON.stringify([content, oldText, newText, output]);
    if (isError) {
      assert.equal(output.code, "EILSEQ", told);
      assert.deepEqual(await bytesOf(fs.readFile(PATH)), Buffer.from(contents), told);
    } else {
      const after = await ok("read", { path: PATH });
      assert.equal(after.content, content.replace(oldText, newText.replace(BOM, "")), told);
      made++;
    }
  }
  assert.ok(made >= 5, `${made} edits were made`);
});

test("the mode stays, and links stay links", async (t) => {
  const { fs, ok } = openTools(t);
  await fs.mkdir("/workspace/d");
  await fs.writeFile("/workspace/d/a", "one\n", { mode: 0o750 });
  await fs.symlink("d/a", "/workspace/soft");
  await fs.symlink("d", "/workspace/dir");
  await fs.link("/workspace/d/a", "/workspace/hard");
  const paths = ["/workspace/soft", "/workspace/dir/a", "/workspace/hard", "d/../soft", "/workspace/d/a"];
  for (const [index, path] of paths.entries()) {
    const text = index === 0 ? "one" : `text ${index}`;
    const output = await ok("edit", { path, edits: [edit(text, `text ${index + 1}`)] });
    assert.equal(output.path, path);
    for (const same of paths) assert.equal((await ok("read", { path: same })).version, output.version, same);
  }
  assert.equal((await fs.lstat("/workspace/d/a")).mode & 0o7777, 0o750);
  assert.equal(await fs.readlink("/workspace/soft"), "d/a");
  assert.equal((await fs.stat("/workspace/hard")).inode, (await fs.stat("/workspace/d/a")).inode);
  assert.equal(await fs.readFile("/workspace/d/a", "utf8"), "text 5\n");
});

test("the result of an edit, whole", async (t) => {
  const { fs, run } = openTools(t);
  await fs.writeFile(PATH, "a\nb\nc\n");
  const { output, text, isError } = await run("edit", { path: PATH, edits: [edit("b\n", "x\ny\n"), edit("c", "C")] });
  const { version, ...rest } = output;
  assert.match(version, /^[0-9a-f]{16}$/);
  assert.deepEqual(rest, {
    path: PATH,
    editsApplied: 2,
    diff: " 1 a\n-2 b\n-3 c\n+2 x\n+3 y\n+4 C",
    patch: `${header(PATH)}@@ -1,3 +1,4 @@\n a\n-b\n-c\n+x\n+y\n+C\n`,
    firstChangedLine: 2,
    changed: true,
    matches: [
      { edit: 0, startLine: 2, endLine: 2, rule: "exact", count: 1 },
      { edit: 1, startLine: 3, endLine: 3, rule: "exact", count: 1 },
    ],
    sizeBefore: 6,
    sizeAfter: 8,
  });
  assert.equal(isError, false);
  assert.deepEqual(JSON.parse(text), output);
});

const header = (path) => `Index: ${path}\n${"=".repeat(67)}\n--- ${path}\n+++ ${path}\n`;
const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const lines = (from, to, last = "\n") =>
  numbers(from, to)
    .map((n) => `l${n}`)
    .join("\n") + last;

test("the diff and the patch", async (t) => {
  const { fs, ok } = openTools(t);
  const context = (from, to, width) => numbers(from, to).map((n) => ` ${String(n).padStart(width)} l${n}`);
  const plain = (from, to) => numbers(from, to).map((n) => ` l${n}`);
  const rows = [
    [
      "four lines of context, gaps on both sides",
      lines(1, 20),
      [edit("l10", "X")],
      ["    ...", ...context(6, 9, 2), "-10 l10", "+10 X", ...context(11, 14, 2), "    ..."],
      ["@@ -6,9 +6,9 @@", ...plain(6, 9), "-l10", "+X", ...plain(11, 14)],
      10,
    ],
    [
      "changes with eight lines between them share their context",
      lines(1, 20),
      [edit("l3\n", ""), edit("l12", "X")],
      [...context(1, 2, 2), "- 3 l3", ...context(4, 11, 2), "-12 l12", "+11 X", ...context(13, 16, 2), "    ..."],
      ["@@ -1,16 +1,15 @@", ...plain(1, 2), "-l3", ...plain(4, 11), "-l12", "+X", ...plain(13, 16)],
      3,
    ],
    [
      "with nine they do not",
      lines(1, 20),
      [edit("l3\n", "l3\nN\n"), edit("l13", "X")],
      [
        ...context(1, 3, 2),
        "+ 4 N",
        ...context(4, 7, 2),
        "    ...",
        ...context(9, 12, 2),
        "-13 l13",
        "+14 X",
        ...context(14, 17, 2),
        "    ...",
      ],
      [
        "@@ -1,7 +1,8 @@",
        ...plain(1, 3),
        "+N",
        ...plain(4, 7),
        "@@ -9,9 +10,9 @@",
        ...plain(9, 12),
        "-l13",
        "+X",
        ...plain(14, 17),
      ],
      4,
    ],
    ["one line", "a", [edit("a", "b")], ["-1 a", "+1 b"], ["@@ -1,1 +1,1 @@", "-a", NO_BREAK, "+b", NO_BREAK], 1],
    [
      "a line break at the end",
      "a",
      [edit("a", "a\n")],
      ["-1 a", "+1 a"],
      ["@@ -1,1 +1,1 @@", "-a", NO_BREAK, "+a"],
      1,
    ],
    ["all goes", "a\n", [edit("a\n", "")], ["-1 a"], ["@@ -1,1 +0,0 @@", "-a"], 1],
    [
      "CRLF is shown as LF",
      "a\r\nb\r\nc\r\n",
      [edit("b", "B")],
      [" 1 a", "-2 b", "+2 B", " 3 c"],
      ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"],
      2,
    ],
  ];
  for (const [what, contents, edits, diff, patch, first] of rows) {
    await fs.writeFile(PATH, contents);
    const output = await ok("edit", { path: PATH, edits });
    assert.equal(output.diff, diff.join("\n"), what);
    assert.equal(output.patch, header(PATH) + patch.map((line) => `${line}\n`).join(""), what);
    assert.equal(output.firstChangedLine, first, what);
    assert.equal(output.diffTruncated, undefined);
  }
});

const NO_BREAK = "\\ No newline at end of file";

test("a diff beyond its limits is left out or cut, and the edit is made", async (t) => {
  const { workspace, fs, ok } = openTools(t, { edit: { maxDiffLines: 3 } });
  const rows = [
    [3, undefined],
    [4, true],
  ];
  for (const [count, isCut] of rows) {
    await fs.writeFile(PATH, lines(1, 9));
    const newText = lines(11, 10 + count);
    const output = await ok("edit", { path: PATH, edits: [edit("l5\n", newText)] });
    assert.equal(output.diffTruncated, isCut);
    assert.deepEqual(
      [output.diff === "", output.patch === "", output.firstChangedLine],
      [!!isCut, !!isCut, isCut ? undefined : 5],
    );
    assert.equal(output.changed, true);
    assert.equal(await fs.readFile(PATH, "utf8"), lines(1, 4) + newText + lines(6, 9));
  }

  const { ok: cutting } = toolsOver(workspace, { edit: { maxDiffBytes: 40 } });
  await fs.writeFile(PATH, "x\n");
  const cut = await cutting("edit", { path: PATH, edits: [edit("x", "é".repeat(30))] });
  // `-1 x`, `+1 ` and as many characters as fit.
  assert.equal(cut.diff, `-1 x\n+1 ${"é".repeat(16)}`);
  assert.ok(Buffer.byteLength(cut.patch) <= 40 && header(PATH).startsWith(cut.patch));
  assert.equal(cut.diffTruncated, true);
  assert.equal(cut.firstChangedLine, 1);
});

test("a file larger than maxBytes is refused, a result is not", async (t) => {
  await refuses(t, [["12345678901", edit("1234", "x"), "EFBIG", "11 bytes", "at most 10", "`write`"]], {
    edit: { maxBytes: 10 },
  });
  await makes(t, [["1234567890", "0", "0123", "1234567890123", "exact 1-1"]], { edit: { maxBytes: 10 } });
  await refuses(t, [["a".repeat(2_097_153), edit("b", "x"), "EFBIG", "2097153", "2097152"]]);
});

test("line numbers that were copied along are left out", async (t) => {
  const { fs, ok } = openTools(t);
  const rows = [
    ["a\nb\nc\n", [edit("2\tb", "2\tB")], "a\nB\nc\n"],
    ["a\nb\nc\n", [edit("2\tb\n3\tc", "2\tB\n3\tC\n4\tD")], "a\nB\nC\nD\n"],
    ["a\nb\nc\n", [edit("2\tb\n3\tc", "B\nC")], "a\nB\nC\n"],
    ["a\r\nb\r\n", [edit("1\ta\n2\tb", "1\ta\n2\tc")], "a\r\nc\r\n"],
    ["a\nx\nb\nx\n", [edit("3\tb\n4\tx", "3\tb\n4\ty")], "a\nx\nb\ny\n"],
    // Others of the same call are as they are.
    ["a\n1\tfoo\n", [edit("1\ta", "1\tb"), edit("1\tfoo", "2\tfoo")], "b\n2\tfoo\n"],
  ];
  for (const [contents, edits, want] of rows) {
    await fs.writeFile(PATH, contents);
    const output = await ok("edit", { path: PATH, edits });
    assert.equal(await fs.readFile(PATH, "utf8"), want, JSON.stringify(edits));
    assert.match(output.note, /line numbers/);
  }
  // As the file has them they are text.
  await makes(t, [["1\ta\n2\tb\n", "2\tb", "2\tc", "1\ta\n2\tc\n", "exact 2-2"]]);
});

test("numbers that are not those of the lines are no line numbers", (t) =>
  refuses(t, [
    ["id\tname\n4\tapples\n", edit("3\tapples", "3\tpears"), "ENOMATCH"],
    ["id\tname\n4\tapples\n", edit("3\tapples", "3\tpears", all), "ENOMATCH"],
    ["a\nb\nc\n", edit("1\tb", "1\tx"), "ENOMATCH"],
    ["a\nb\nc\n", edit("1\tb\n3\tc", "1\tx\n3\ty"), "ENOMATCH"],
    ["a\nb\nc\n", edit("2\tb\n2\tc", "x"), "ENOMATCH"],
    ["a\nb\nc\n", edit("2\tb\nc", "x"), "ENOMATCH"],
    ["a\nb\nc\n", edit("2 b", "x"), "ENOMATCH"],
  ]));

test("paths that are no files", async (t) => {
  const { fs, refused } = openTools(t);
  await fs.mkdir("/workspace/d");
  await fs.writeFile("/workspace/there.txt", "x");
  await fs.symlink("nowhere", "/workspace/dangling");
  const edits = [edit("a", "b")];
  const missing = await refused("edit", { path: "/workspace/There.txt", edits }, "ENOENT", "/workspace/There.txt");
  assert.deepEqual(missing.candidates, ["/workspace/there.txt"]);
  await refused("edit", { path: "/workspace/d", edits }, "EISDIR", "/workspace/d is a directory");
  await refused("edit", { path: "/workspace/dangling", edits }, "ENOENT");
  await refused("edit", { path: "/workspace/there.txt/x", edits }, "ENOTDIR", "leads through a file");
});

test("one call has a bounded number of edits and of places", async (t) => {
  const { fs, refused } = openTools(t, { edit: { maxBytes: 4 * 1024 * 1024 } });
  await fs.writeFile(PATH, "a".repeat(600_000));
  const edit = { oldText: "a", newText: "b", replaceAll: true };
  await refused("edit", { path: PATH, edits: [edit, edit] }, "EFBIG", "more than 1000000 places");
  const many = Array.from({ length: 1001 }, () => edit);
  await refused("edit", { path: PATH, edits: many }, "EINVAL", "1001 items", "at most 1000");
});

test("an edit that is about line endings only says that they stay", async (t) => {
  const { fs, ok } = openTools(t);
  for (const [oldText, newText] of [
    ["\r\n", "\n"],
    ["a\nb", "a\r\nb"],
  ]) {
    await fs.writeFile(PATH, "a\r\nb\r\n");
    const { changed, note } = await ok("edit", { path: PATH, edits: [{ oldText, newText, replaceAll: true }] });
    assert.equal(changed, false);
    assert.match(note, /lines keep the line endings/);
    assert.equal(await fs.readFile(PATH, "utf8"), "a\r\nb\r\n");
  }
});
