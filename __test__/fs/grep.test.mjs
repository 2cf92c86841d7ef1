// grep: against a plain search in JavaScript, and what that does not show.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chance, inPieces, seed } from "../support/chance.mjs";
import { open, rejection } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

/** The same search, said plainly: of `files`, in their order, with JavaScript's own expressions. */
function reference(files, { pattern, regex, ignoreCase, context = 0, offset = 0, limit = Number.POSITIVE_INFINITY }) {
  const source = regex ? pattern : pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const expression = new RegExp(source, ignoreCase ? "iu" : "u");
  const all = [];
  for (const [path, content] of files) {
    const lines = content.split("\n").map((line) => line.replace(/\r$/, ""));
    if (content === "" || content.endsWith("\n")) lines.pop();
    const isMatch = lines.map((line) => expression.test(line));
    for (const [at, text] of lines.entries()) {
      if (!isMatch[at]) continue;
      const match = { path, line: at + 1, text };
      Object.defineProperty(match, "near", { value: { lines, isMatch, at }, enumerable: false });
      all.push(match);
    }
  }
  const page = all.slice(offset, offset + limit);
  for (const match of context > 0 ? page : []) {
    const { lines, isMatch, at } = match.near;
    // A line that is no match belongs to the match before it, if that is near, else to the next.
    const owner = (line) => {
      const before = isMatch.slice(0, line + 1).lastIndexOf(true);
      return before >= 0 && (before === line || line - before <= context) ? before : isMatch.indexOf(true, line);
    };
    const isLast = match === page.at(-1);
    match.context = lines
      .map((text, line) => ({ line: line + 1, text, isMatch: isMatch[line], at: line }))
      .filter(({ at: line }) => Math.abs(line - at) <= context && (owner(line) === at || (isLast && line > at)))
      .map(({ at: _, ...entry }) => entry);
  }
  return { matches: page, truncated: all.length > offset + page.length };
}

const word = fc.constantFrom("a", "b", "ab", "A", "B", "\u00e9", "\u00c9", " ", "x", "a.b", "", "(a)", "\u{1f600}");
const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(""));
const content = fc
  .tuple(fc.array(fc.tuple(line, fc.constantFrom("\n", "\n", "\r\n")), { maxLength: 12 }), line)
  .map(([lines, last]) => lines.flat().join("") + last);
const query = fc.record({
  pattern: fc.oneof(
    fc.record({
      text: fc.constantFrom("a", "b", "ab", ".", "(a)", "\u00e9", "\u{1f600}", "", "zz"),
      regex: fc.constant(false),
    }),
    fc.record({
      text: fc.constantFrom(
        "a",
        "a+b",
        "^a",
        "b$",
        "^$",
        "^",
        "a|\u00e9",
        "[ab]x",
        ".",
        "a.b",
        "(a|b)\\s",
        "\u00e9+",
        "x{2}",
      ),
      regex: fc.constant(true),
    }),
  ),
  ignoreCase: fc.boolean(),
  context: fc.integer({ min: 0, max: 3 }),
  offset: fc.integer({ min: 0, max: 4 }),
  limit: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 6 })),
});

test("it finds what a plain search finds", async (t) => {
  const { fs } = open(t);
  const property = fc.asyncProperty(
    fc.array(content, { minLength: 1, maxLength: 4 }),
    query,
    async (contents, asked) => {
      await fs.rm("/d", { recursive: true, force: true });
      await fs.mkdir("/d");
      for (const [at, text] of contents.entries()) await fs.writeFile(`/d/${at}`, text);
      const { pattern, ...options } = asked;
      const files = contents.map((text, at) => [`/d/${at}`, text]);
      const found = await fs.grep(pattern.text, "/d", { ...options, regex: pattern.regex });
      const expected = reference(files, { ...options, pattern: pattern.text, regex: pattern.regex });
      assert.deepEqual([...found], expected.matches);
      assert.equal(found.truncated, expected.truncated);
      if (!found.truncated) assert.equal(found.filesSearched, files.length);
      assert.deepEqual(found.skipped, { binary: 0, unreadable: 0, tooLong: 0 });
    },
  );
  await fc.assert(property, { seed: chance(seed, t.name).below(2 ** 31), numRuns: 1500, includeErrorInReport: true });
});

/** Lines found in a text, as `number:text`. */
async function linesFound(fs, text, pattern, options) {
  await fs.writeFile("/f", text);
  return (await fs.grep(pattern, "/f", options)).map(({ line, text }) => `${line}:${text}`);
}

test("literal text and expressions", async (t) => {
  const { fs } = open(t);
  const text = "one\nTwo a.c\nabc\n\\d+ 42\n\u212a K k\nSTRASSE stra\u00dfe\n\u0130\n";
  const rows = [
    ["a.c", {}, ["2:Two a.c"]],
    ["a.c", { regex: true }, ["2:Two a.c", "3:abc"]],
    ["\\d+", {}, ["4:\\d+ 42"]],
    ["\\d+$", { regex: true }, ["4:\\d+ 42"]],
    ["two", {}, []],
    ["two", { ignoreCase: true }, ["2:Two a.c"]],
    ["TWO", { ignoreCase: true, regex: true }, ["2:Two a.c"]],
    ["(?i)two", { regex: true }, ["2:Two a.c"]],
    ["^abc$", { regex: true }, ["3:abc"]],
    ["^abc$", {}, []],
    ["\\p{Lu}wo", { regex: true }, ["2:Two a.c"]],
    // Simple case folding: the Kelvin sign is a K, one letter is never two.
    ["k", { ignoreCase: true }, ["5:\u212a K k"]],
    ["strasse", { ignoreCase: true }, ["6:STRASSE stra\u00dfe"]],
    ["STRA\u1e9eE", { ignoreCase: true }, ["6:STRASSE stra\u00dfe"]],
    ["i", { ignoreCase: true }, []],
    [
      "",
      {},
      text
        .trimEnd()
        .split("\n")
        .map((line, at) => `${at + 1}:${line}`),
    ],
  ];
  for (const [pattern, options, expected] of rows) {
    assert.deepEqual(await linesFound(fs, text, pattern, options), expected, `${pattern} ${JSON.stringify(options)}`);
  }
});

test("ends of lines", async (t) => {
  const { fs } = open(t);
  const rows = [
    ["", "", []],
    ["x", "", ["1:x"]],
    ["\n", "", ["1:"]],
    ["x\n", "", ["1:x"]],
    ["x\n\n", "", ["1:x", "2:"]],
    ["a\r\nb\r\n", "", ["1:a", "2:b"]],
    ["a\r\nb\n", "^a$", ["1:a"]],
    ["a\r\n", "a\\r", []],
    ["a\rb\n", "a\\rb", ["1:a\rb"]],
    ["a\r\r\n", "a", ["1:a\r"]],
    ["\r\n\r\n", "^$", ["1:", "2:"]],
    ["a\u2028b\u0085c\n", "b", ["1:a\u2028b\u0085c"]],
  ];
  for (const [text, pattern, expected] of rows) {
    assert.deepEqual(await linesFound(fs, text, pattern, { regex: true }), expected, JSON.stringify([text, pattern]));
  }
});

test("bytes that are no text", async (t) => {
  const { fs } = open(t);
  const rows = {
    "a byte order mark is not part of the text": [Buffer.from("\ufeffneedle\n"), "^needle", ["1:needle"]],
    "what is no UTF-8 becomes U+FFFD": [Buffer.from("61ff6e6565646c65", "hex"), "needle", ["1:a\ufffdneedle"]],
    "UTF-16 with a mark, little endian": [Buffer.from("\ufefflong needle\nx", "utf16le"), "g ne", ["1:long needle"]],
    "a NUL further on": [Buffer.from(`${"line\n".repeat(2000)}needle\0\n`), "needle", ["2001:needle\0"]],
  };
  for (const [name, [bytes, pattern, expected]] of Object.entries(rows)) {
    assert.deepEqual(await linesFound(fs, bytes, pattern, { regex: true }), expected, name);
  }
  for (const bytes of [
    Buffer.from("needle\0"),
    Buffer.from("\0\nneedle"),
    Buffer.from(`${"x".repeat(8000)}\0needle`),
  ]) {
    await fs.writeFile("/f", bytes);
    for (const path of ["/f", "/"]) {
      const found = await fs.grep("needle", path);
      assert.deepEqual(
        [found.length, found.filesSearched, found.skipped],
        [0, 0, { binary: 1, unreadable: 0, tooLong: 0 }],
      );
    }
  }
});

test("a long line is cut around the match", async (t) => {
  const { fs } = open(t);
  const long = (before, after) => `${"\u00e9".repeat(before)}needle${"z".repeat(after)}`;
  const rows = [
    [100, 100, false],
    [1021, 1021, false],
    [10_000, 10_000, true],
    [0, 10_000, true],
    [10_000, 0, true],
    [1_000_000, 1_000_000, true],
  ];
  for (const [before, after, isCut] of rows) {
    await fs.writeFile("/f", `short\n${long(before, after)}\nneedle\n`);
    const [first, second, ...others] = await fs.grep("needle", "/f", { context: 1 });
    assert.deepEqual(others, []);
    assert.equal(first.line, 2);
    assert.equal(first.cut, isCut ? true : undefined);
    assert.ok([...first.text].length <= 2048);
    assert.ok(first.text.includes("needle"), first.text.slice(0, 50));
    assert.ok(long(before, after).includes(first.text));
    if (!isCut) assert.equal(first.text, long(before, after));
    if (isCut && before > 5000 && after > 5000) assert.match(first.text, /\u00e9{500}needlez{500}/);
    assert.deepEqual({ ...second, context: undefined }, { path: "/f", line: 3, text: "needle", context: undefined });
    assert.ok(!("cut" in second));
    for (const { text } of first.context) assert.ok([...text].length <= 2048);
  }
});

test("a file with a line too long to hold is counted", async (t) => {
  const { fs } = open(t, "off");
  const line = Buffer.alloc(40 * 1024 * 1024, "x");
  await fs.writeFile("/long", Buffer.concat([Buffer.from("needle\n"), line]));
  await fs.writeFile("/short", "needle\n");
  const found = await fs.grep("needle", "/");
  assert.deepEqual(
    found.map(({ path }) => path),
    ["/short"],
  );
  assert.deepEqual([found.filesSearched, found.skipped], [1, { binary: 0, unreadable: 0, tooLong: 1 }]);
});

test("which files, in which order", async (t) => {
  const { fs } = open(t);
  const files = ["a/z.js", "a-/1.js", "a.js", "b/node_modules/x.js", "b/x.ts", ".hidden", "\u{1f600}.js"];
  for (const path of files) {
    await fs.mkdir(`/t/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await fs.writeFile(`/t/${path}`, `needle in ${path}\n`);
  }
  await fs.symlink("a.js", "/t/link to file");
  await fs.symlink("../t", "/t/b/link to directory");
  await fs.symlink("t", "/to t");
  await fs.symlink("t/a.js", "/to a.js");
  const found = async (path, options) => (await fs.grep("needle", path, options)).map((match) => match.path);
  const rows = [
    [
      "/t",
      {},
      ["/t/.hidden", "/t/a/z.js", "/t/a-/1.js", "/t/a.js", "/t/b/node_modules/x.js", "/t/b/x.ts", "/t/\u{1f600}.js"],
    ],
    ["/to t", { include: "*.js" }, ["/to t/a.js", "/to t/\u{1f600}.js"]],
    ["/t", { include: "**/*.js" }, ["/t/a/z.js", "/t/a-/1.js", "/t/a.js", "/t/b/node_modules/x.js", "/t/\u{1f600}.js"]],
    ["/t", { include: "b/**", exclude: "**/node_modules/**" }, ["/t/b/x.ts"]],
    ["/t", { exclude: ["**/*.js", ".*"] }, ["/t/b/x.ts"]],
    [
      "/t",
      { include: "" },
      ["/t/.hidden", "/t/a/z.js", "/t/a-/1.js", "/t/a.js", "/t/b/node_modules/x.js", "/t/b/x.ts", "/t/\u{1f600}.js"],
    ],
    ["/t", { include: "nothing" }, []],
    ["/t/a.js", {}, ["/t/a.js"]],
    ["/t/a.js", { include: "nothing", exclude: ["**"] }, ["/t/a.js"]],
    ["/to a.js", {}, ["/to a.js"]],
    ["//t/./a.js", {}, ["/t/a.js"]],
  ];
  for (const [path, options, expected] of rows) {
    assert.deepEqual(await found(path, options), expected, `${path} ${JSON.stringify(options)}`);
  }
  await fs.symlink("missing", "/broken");
  await rejection(fs.grep("needle", "/missing"), "ENOENT");
  await rejection(fs.grep("needle", "/broken"), "ENOENT");
  await rejection(fs.grep("needle", "/t/a.js/x"), "ENOTDIR");
});

test("an expression that it cannot have is refused with the part that it is about", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "x");
  const rows = [
    ["(?=x)", /look-?around|\(\?=/i],
    ["x(?!y)", /look-?around|\(\?!/i],
    ["(?<=x)y", /look-?(around|behind)|\(\?<=/i],
    ["(x)\\1", /back-?reference|\\1/i],
    ["(", /\(|unclosed|group/i],
    ["x)", /\)|unopened|group/i],
    ["[x", /\[|unclosed|class/i],
    ["*", /repeat/i],
    ["x{2,1}", /repetition|range/i],
    ["\\p{Nonsense}", /Nonsense|Unicode|property/i],
    ["\\", /escape|backslash|incomplete/i],
  ];
  for (const [pattern, about] of rows) {
    const error = await rejection(fs.grep(pattern, "/", { regex: true }), "EINVAL");
    assert.match(error.message, about, pattern);
    // As plain text it is nothing special.
    assert.equal((await fs.grep(pattern, "/")).length, 0);
  }
  for (const [pattern, regex] of [
    ["one\ntwo", false],
    ["one\ntwo", true],
    ["one\\ntwo", true],
  ]) {
    const error = await rejection(fs.grep(pattern, "/", { regex }), "EINVAL");
    assert.match(error.message, /one line/);
  }
});

test("an expression that backtracks for ever elsewhere takes no time", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", `${"a".repeat(50_000)}!\n`);
  const started = performance.now();
  for (const pattern of ["(a+)+$", "(a|aa)+$", "(.*)*x", `${"a?".repeat(100)}${"a".repeat(100)}b`]) {
    assert.equal((await fs.grep(pattern, "/", { regex: true })).length, 0, pattern);
  }
  assert.ok(performance.now() - started < 10_000);
});

test("many files, and large ones", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const workspace = open(t, storage);
    await workspace.transaction(async (fs) => {
      for (let at = 0; at < 1500; at++) {
        if (at % 100 === 0) await fs.mkdir(`/t/${at / 100}`, { recursive: true });
        await fs.writeFile(
          `/t/${Math.floor(at / 100)}/${at}`,
          `${"line\n".repeat(at % 50)}${at % 7 ? "hay" : "needle"} ${at}\n`,
        );
      }
    });
    const { fs } = workspace;
    const found = await fs.grep("needle", "/t");
    const expected = (await fs.find("/t"))
      .filter(({ type }) => type === "file")
      .map(({ path }) => [path, Number(path.split("/").at(-1))])
      .filter(([, at]) => at % 7 === 0);
    assert.deepEqual(
      found.map(({ path, line, text }) => [path, line, text]),
      expected.map(([path, at]) => [path, (at % 50) + 1, `needle ${at}`]),
    );
    assert.deepEqual([found.filesSearched, found.truncated], [1500, false]);
    for (const [offset, limit] of [
      [0, 1],
      [0, 215],
      [0, 214],
      [100, 10],
      [214, 5],
      [215, 1],
    ]) {
      const page = await fs.grep("needle", "/t", { offset, limit });
      assert.deepEqual([...page], found.slice(offset, offset + limit), `${limit} from ${offset}`);
      assert.equal(page.truncated, offset + limit < found.length, `${limit} from ${offset}`);
    }

    // Of several chunks, with matches at their ends and across them.
    const lines = Array.from({ length: 60_000 }, (_, at) => `line ${at} ${"x".repeat(at % 60)}`);
    for (let end = CHUNK_BYTES; end < 3 * CHUNK_BYTES; end += CHUNK_BYTES) {
      let at = 0;
      for (let length = lines[0].length + 1; length <= end; length += lines[at].length + 1) at += 1;
      lines[at] = `needle ${"needle".padStart(lines[at].length - 14, "-")}`;
      lines[at + 1] += " needle";
    }
    await fs.writeFile("/large", inPieces(Buffer.from(lines.join("\n")), 100_000));
    assert.ok((await fs.stat("/large")).size > 3 * CHUNK_BYTES);
    const matching = lines.flatMap((line, at) => (line.includes("needle") ? [[at + 1, line]] : []));
    assert.equal(matching.length, 4);
    const inLarge = await fs.grep("needle", "/large");
    assert.deepEqual(
      inLarge.map(({ line, text }) => [line, text]),
      matching,
    );
    const last = await fs.grep(`line ${lines.length - 1} `, "/", { exclude: "t" });
    assert.deepEqual(
      last.map(({ path, line }) => [path, line]),
      [["/large", lines.length]],
    );
  }
});

test("what disappears meanwhile is skipped, and the rest is found", async (t) => {
  const { fs } = open(t, "normal");
  await fs.mkdir("/t");
  for (let at = 0; at < 300; at++) await fs.writeFile(`/t/${at}`, `needle ${at}\n`);
  const searches = Promise.all(Array.from({ length: 10 }, () => fs.grep("needle", "/t")));
  for (let at = 0; at < 300; at += 3) await fs.rm(`/t/${at}`);
  for (const found of await searches) {
    const paths = new Set(found.map(({ path }) => path));
    for (let at = 0; at < 300; at++) if (at % 3 !== 0) assert.ok(paths.has(`/t/${at}`), `${at}`);
    assert.ok(found.filesSearched + found.skipped.unreadable <= 300);
  }
});

test("a limit of nothing finds nothing", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "needle\n");
  assert.equal((await fs.grep("needle", "/", { limit: 0 })).length, 0);
});
