// edit: any text copied from read can be edited, and nothing else changes; what is only near is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chance, seed } from "../support/chance.mjs";
import { decoded, textFile } from "../support/texts.mjs";
import { openTools, utf16be } from "../support/tools.mjs";
import { bytesOf } from "../support/workspace.mjs";

const PATH = "/workspace/file";
const PLAIN = { read: { includeLineNumbers: false } };
const parameters = (t, numRuns) => ({ seed: chance(seed, t.name).below(2 ** 31), numRuns, includeErrorInReport: true });

/** Where the characters of a text start, as people see characters, `\r\n` being one. */
function boundaries(text) {
  const starts = Array.from(new Intl.Segmenter("en").segment(text), ({ index }) => index);
  return [...starts, text.length];
}

/** Bytes of text in the encoding of a file. */
function encoded(text, encoding = "utf-8") {
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return utf16be(text);
  return Buffer.from(text, encoding === "utf-8" ? "utf8" : "latin1");
}

/** Whether a text is in another exactly once, places that overlap counted. */
function isUnique(text, part) {
  return text.indexOf(part) === text.lastIndexOf(part);
}

/** The bytes of a file before, of, and after a span of its text. */
function parts(bytes, { encoding, bom }, text, start, end) {
  const mark = bom ? (encoding ? 2 : 3) : 0;
  const sizeOf = (part) => {
    // What is no text has as many bytes as it takes for the decoder to say the same.
    if (!part.includes("\ufffd")) return encoded(part, encoding).length;
    return undefined;
  };
  const before = sizeOf(text.slice(0, start));
  const after = sizeOf(text.slice(end));
  const from = before === undefined ? undefined : mark + before;
  const to = after === undefined ? undefined : bytes.length - after;
  return { from, to };
}

test("any span that read shows can be edited, and every other byte stays", async (t) => {
  const { workspace, fs, ok, run } = openTools(t, PLAIN);
  let edited = 0;
  let withInvalidBytes = 0;
  const property = fc.asyncProperty(
    textFile,
    fc.nat(),
    fc.nat({ max: 40 }),
    fc.constantFrom("", "new", "new\nlines\n", "X", "\u00e9"),
    async ({ bytes }, at, length, newText) => {
      await fs.writeFile(PATH, bytes);
      const { encoding, bom, content } = await ok("read", { path: PATH });
      const text = decoded(bytes, encoding);
      const cuts = boundaries(content);
      const first = at % cuts.length;
      const start = cuts[first];
      const end = cuts[Math.min(first + 1 + length, cuts.length - 1)];
      const oldText = content.slice(start, end);
      if (oldText === "" || !isUnique(text, oldText) || oldText === newText) return;

      const { output, isError } = await run("edit", { path: PATH, edits: [{ oldText, newText }] });
      assert.equal(isError, false, output.error);
      assert.deepEqual(
        output.matches.map(({ rule, count }) => [rule, count]),
        [["exact", 1]],
      );
      const after = await bytesOf(fs.readFile(PATH));
      assert.deepEqual([output.sizeBefore, output.sizeAfter], [bytes.length, after.length]);

      // The new text is there, in the line ending of the place, and all around it is as it was.
      const became = decoded(after, encoding);
      const [head, tail] = [text.slice(0, start), text.slice(end)];
      assert.ok(became.startsWith(head) && became.endsWith(tail) && became.length >= head.length + tail.length);
      const middle = became.slice(head.length, became.length - tail.length);
      assert.equal(middle.replace(/\r\n?/g, "\n"), newText);

      const { from, to } = parts(bytes, { encoding, bom }, text, start, end);
      if (from !== undefined) assert.deepEqual(after.subarray(0, from), bytes.subarray(0, from));
      if (to !== undefined) assert.deepEqual(after.subarray(after.length - (bytes.length - to)), bytes.subarray(to));
      if (from !== undefined && to !== undefined) {
        assert.deepEqual(after.subarray(from, after.length - (bytes.length - to)), encoded(middle, encoding));
      } else {
        withInvalidBytes++;
      }
      edited++;
    },
  );
  await fc.assert(property, parameters(t, 1_000));
  assert.ok(edited > 600 && withInvalidBytes > 20, `${edited} edits, ${withInvalidBytes} of them near invalid bytes`);
  assert.deepEqual((await workspace.check()).problems, []);
});

test("an edit and the way back give the same bytes", async (t) => {
  const { fs, ok, run } = openTools(t, PLAIN);
  let edited = 0;
  const property = fc.asyncProperty(textFile, fc.nat(), fc.nat({ max: 60 }), async ({ bytes }, at, length) => {
    await fs.writeFile(PATH, bytes);
    const { encoding, content } = await ok("read", { path: PATH });
    const cuts = boundaries(content);
    const first = at % cuts.length;
    const oldText = content.slice(cuts[first], cuts[Math.min(first + 1 + length, cuts.length - 1)]);
    if (oldText === "" || oldText.includes("\ufffd") || !isUnique(decoded(bytes, encoding), oldText)) return;
    const mark = "<<<mark>>>";
    const there = await run("edit", { path: PATH, edits: [{ oldText, newText: mark }] });
    assert.equal(there.isError, false, there.output.error);
    const back = await run("edit", { path: PATH, edits: [{ oldText: mark, newText: oldText }] });
    assert.equal(back.isError, false, back.output.error);
    // Line breaks within the text are written as those of the place: the same ones where they are of one kind.
    const endings = new Set(decoded(bytes, encoding).match(/\r\n|\r|\n/g));
    if (endings.size > 1 && /[\r\n]/.test(oldText)) return;
    assert.deepEqual(await bytesOf(fs.readFile(PATH)), bytes);
    edited++;
  });
  await fc.assert(property, parameters(t, 400));
  assert.ok(edited > 150, `${edited} edits`);
});

/** A text whose lines all end with `\n`, after the hunks of a unified diff. */
function patched(text, patch) {
  const old = text.split("\n").slice(0, -1);
  const made = [];
  let at = 0;
  for (const hunk of patch.split(/^(?=@@ )/m).slice(1)) {
    const [head, ...lines] = hunk.split("\n").slice(0, -1);
    const [, from, count, first, added] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(head).map(Number);
    const start = count === 0 ? from : from - 1;
    made.push(...old.slice(at, start));
    at = start;
    const before = made.length;
    assert.equal(first, added === 0 ? before : before + 1);
    for (const line of lines) {
      if (line[0] !== "+") assert.equal(line.slice(1), old[at++]);
      if (line[0] !== "-") made.push(line.slice(1));
    }
    assert.deepEqual([made.length - before, at - start], [added, count]);
  }
  made.push(...old.slice(at));
  return made.map((line) => `${line}\n`).join("");
}

test("the patch makes the new text of the old one", async (t) => {
  const { fs, ok } = openTools(t, PLAIN);
  const word = fc.constantFrom("a", "b", "c", "", "dd", "}", "\u00e9");
  const lines = fc.array(word, { minLength: 1, maxLength: 40 });
  const property = fc.asyncProperty(
    lines,
    fc.constantFrom("\n", "\r\n"),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.array(word, { maxLength: 3 })), { minLength: 1, maxLength: 4 }),
    async (old, ending, changes) => {
      // Numbered, so that any run of lines is there once.
      const numbered = old.map((text, index) => `${index}:${text}`);
      await fs.writeFile(PATH, numbered.map((line) => line + ending).join(""));
      const text = numbered.map((line) => `${line}\n`).join("");
      const edits = [];
      const taken = new Set();
      for (const [at, more, into] of changes) {
        const first = at % numbered.length;
        const lines = numbered.slice(first, first + more + 1);
        const oldText = lines.map((line) => `${line}\n`).join("");
        // `1:a` is also the end of `11:a`.
        if (lines.some((line) => taken.has(line)) || !isUnique(text, oldText)) continue;
        for (const line of lines) taken.add(line);
        edits.push({ oldText, newText: into.map((line) => `${line}\n`).join("") });
      }
      if (edits.length === 0) return;
      const { diff, patch } = await ok("edit", { path: PATH, edits });
      assert.equal(patched(text, patch), (await fs.readFile(PATH, "utf8")).replaceAll("\r\n", "\n"));
      // The numbered form has the same lines with the same signs.
      const signed = (form, pattern) => form.split("\n").filter((line) => pattern.test(line));
      const body = patch.slice(patch.indexOf("@@"));
      assert.deepEqual(
        signed(diff, /^[-+]/).map((line) => line[0] + line.replace(/^[-+] *\d+ /, "")),
        signed(body, /^[-+]/),
      );
    },
  );
  await fc.assert(property, parameters(t, 300));
});

/** Ways to write a block of code that is not there. Each changes what the code says. */
const NEAR = [
  (lines, dice) => lines.with(dice.below(lines.length), "  return somethingElse(value);"),
  (lines, dice) => lines.toSpliced(1 + dice.below(lines.length - 1), 1),
  (lines, dice) => lines.toSpliced(1 + dice.below(lines.length - 1), 0, "  // not there"),
  (lines) => [lines[0], lines.at(-1)],
  (lines) => [lines[0], "  // ... existing code ...", lines.at(-1)],
  (lines, dice) => {
    const at = dice.below(lines.length - 1);
    return lines.with(at, lines[at + 1]).with(at + 1, lines[at]);
  },
  (lines, dice) => changeOne(lines, dice, (line) => line.replace(/\d+/, (number) => String(Number(number) + 1))),
  (lines, dice) => changeOne(lines, dice, (line) => line.replace(/[a-z]{3}/, (word) => word.toUpperCase())),
  (lines, dice) => changeOne(lines, dice, (line) => line.replace(/(\w)(\W*)$/, "$1x$2")),
  (lines, dice) => changeOne(lines, dice, (line) => line.replace(/(\S) (\S)/, "$1  $2")),
  (lines, dice) => changeOne(lines, dice, (line) => line.replace("(", "((")),
  // Only one line is indented otherwise.
  (lines, dice) =>
    lines.with(1 + dice.below(lines.length - 1), `      ${lines[1 + dice.below(lines.length - 1)].trim()}`),
];

function changeOne(lines, dice, change) {
  const first = dice.below(lines.length);
  for (let step = 0; step < lines.length; step++) {
    const at = (first + step) % lines.length;
    if (change(lines[at]) !== lines[at]) return lines.map((line, index) => (index === at ? change(line) : line));
  }
  return [...lines, "// and more"];
}

test("200 blocks that are only near are refused, and the file stays", async (t) => {
  const { fs, run } = openTools(t);
  const dice = chance(seed, t.name);
  const endings = ["\n", "\r\n"];
  for (let round = 0; round < 200; round++) {
    const functions = Array.from({ length: 3 + dice.below(8) }, (_, index) => {
      const [name, limit] = [`task${index}`, dice.below(90)];
      return [
        `function ${name}(input, count) {`,
        `  const total = input.length * ${limit};`,
        `  if (total > ${limit + 7}) {`,
        `    report("${name}", total - ${index});`,
        "  }",
        `  return total + count * ${index};`,
        "}",
        "",
      ];
    });
    const indentation = dice.pick(["", "", "    ", "\t"]);
    const ending = dice.pick(endings);
    const all = functions.flat().map((line) => (line === "" ? line : indentation + line));
    const contents = all.join(ending);
    await fs.writeFile(PATH, contents);
    const start = dice.below(functions.length) * 8;
    const block = all.slice(start, start + 7);
    const near = NEAR[round % NEAR.length](block, dice);
    const oldText = near.join("\n");
    assert.ok(!contents.replaceAll("\r\n", "\n").includes(oldText), "it is not there");
    const { output, isError } = await run("edit", { path: PATH, edits: [{ oldText, newText: "gone();" }] });
    const told = `round ${round}: ${oldText}\n${JSON.stringify(output)}`;
    assert.equal(isError, true, told);
    assert.equal(output.code, "ENOMATCH", told);
    assert.ok(output.nearest, told);
    assert.ok(output.nearest.startLine <= start + 7 && output.nearest.endLine > start, told);
    assert.ok(Buffer.byteLength(output.nearest.text) + Buffer.byteLength(output.nearest.difference) <= 2_048);
    assert.equal(await fs.readFile(PATH, "utf8"), contents);
  }
});
