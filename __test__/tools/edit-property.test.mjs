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
  let refusals = 0;
  const property = fc.asyncProperty(
    textFile,
    fc.nat(),
    fc.nat({ max: 40 }),
    fc.constantFrom("", "new", "new\nlines\n", "X", "\u00e9"),
    async ({ sort, bytes }, at, length, newText) => {
      await fs.writeFile(PATH, bytes);
      const { encoding, bom, content } = await ok("read", { path: PATH });
      const text = decoded(bytes, encoding);
      // Not between the two bytes of the last line break, of which only the first is shown.
      const cuts = boundaries(text).filter((cut) => cut <= content.length);
      const first = at % cuts.length;
      const start = cuts[first];
      const end = cuts[Math.min(first + 1 + length, cuts.length - 1)];
      const oldText = content.slice(start, end);
      if (oldText === "" || !isUnique(text, oldText) || oldText === newText) return;

      const { output, isError } = await run("edit", { path: PATH, edits: [{ oldText, newText }] });
      if (output.code === "EILSEQ" && sort === "latin-1") {
        // What is left would be taken for text in another encoding.
        assert.deepEqual(await bytesOf(fs.readFile(PATH)), bytes);
        refusals++;
        return;
      }
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
  await fc.assert(property, parameters(t, 2_500));
  assert.ok(refusals < 50, `${refusals} refusals`);
  assert.ok(edited > 1_000 && withInvalidBytes > 50, `${edited} edits, ${withInvalidBytes} of them near invalid bytes`);
  assert.deepEqual((await workspace.check()).problems, []);
});

test("an edit and the way back give the same bytes", async (t) => {
  const { fs, ok, run } = openTools(t, PLAIN);
  let edited = 0;
  const property = fc.asyncProperty(textFile, fc.nat(), fc.nat({ max: 60 }), async ({ sort, bytes }, at, length) => {
    await fs.writeFile(PATH, bytes);
    const { encoding, content } = await ok("read", { path: PATH });
    const cuts = boundaries(decoded(bytes, encoding)).filter((cut) => cut <= content.length);
    const first = at % cuts.length;
    const oldText = content.slice(cuts[first], cuts[Math.min(first + 1 + length, cuts.length - 1)]);
    if (oldText === "" || oldText.includes("\ufffd") || !isUnique(decoded(bytes, encoding), oldText)) return;
    const mark = "<<<mark>>>";
    const there = await run("edit", { path: PATH, edits: [{ oldText, newText: mark }] });
    if (there.output.code === "EILSEQ" && sort === "latin-1") return;
    assert.equal(there.isError, false, there.output.error);
    // Without its only character beyond ASCII a file has another encoding.
    const marked = await ok("read", { path: PATH });
    if (marked.encoding !== encoding) return;
    const back = await run("edit", { path: PATH, edits: [{ oldText: mark, newText: oldText }] });
    assert.equal(back.isError, false, back.output.error);
    // Line breaks within the text are written as those of the place: the same ones where they are of one kind, or
    // where there are no others.
    const endings = new Set(decoded(bytes, encoding).match(/\r\n|\r|\n/g));
    const hasOthers = /[\r\n]/.test(marked.content) || marked.finalNewline !== false;
    if (endings.size > 1 && /[\r\n]/.test(oldText) && hasOthers) return;
    assert.deepEqual(await bytesOf(fs.readFile(PATH)), bytes);
    edited++;
  });
  await fc.assert(property, parameters(t, 1_000));
  assert.ok(edited > 300, `${edited} edits`);
});

/** Where a part starts in a text, places that overlap included. */
function placesOf(text, part) {
  const places = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}

test("one place is edited, several are refused with their lines, replaceAll is String.replaceAll", async (t) => {
  const { fs, run } = openTools(t, PLAIN);
  // Nothing here looks like anything else.
  const textOf = (constraints) =>
    fc.string({ unit: fc.constantFrom("a", "b", "\u00e9", "\n", "\u{1f600}"), ...constraints });
  const property = fc.asyncProperty(
    textOf({ maxLength: 30 }),
    textOf({ minLength: 1, maxLength: 3 }),
    textOf({ maxLength: 3 }),
    async (text, oldText, newText) => {
      const lineOf = (at) => text.slice(0, at).split("\n").length;
      const places = placesOf(text, oldText);

      await fs.writeFile(PATH, text);
      const one = await run("edit", { path: PATH, edits: [{ oldText, newText }] });
      const now = await fs.readFile(PATH, "utf8");
      if (places.length === 1) {
        assert.equal(
          now,
          text.replace(oldText, () => newText),
        );
        const endLine = lineOf(places[0] + oldText.length - 1);
        assert.deepEqual(one.output.matches, [
          { edit: 0, startLine: lineOf(places[0]), endLine, rule: "exact", count: 1 },
        ]);
      } else {
        assert.equal(now, text);
        assert.equal(one.output.code, places.length === 0 ? "ENOMATCH" : "EAMBIGUOUS");
        if (places.length > 0) {
          assert.deepEqual(one.output.lines, [...new Set(places.slice(0, 20).map(lineOf))]);
          assert.ok(one.output.error.includes(`${places.length} places`), one.output.error);
        }
      }

      await fs.writeFile(PATH, text);
      const all = await run("edit", { path: PATH, edits: [{ oldText, newText, replaceAll: true }] });
      assert.equal(
        await fs.readFile(PATH, "utf8"),
        text.replaceAll(oldText, () => newText),
      );
      if (places.length === 0) assert.equal(all.output.code, "ENOMATCH");
      else assert.equal(all.output.matches[0].count, text.split(oldText).length - 1);
    },
  );
  await fc.assert(property, parameters(t, 1_000));
});

test("edits of one call are spliced into the text as it was, in any order", async (t) => {
  const { fs, run } = openTools(t, PLAIN);
  const dice = chance(seed, t.name);
  for (let round = 0; round < 200; round++) {
    const text = Array.from(
      { length: 1 + dice.below(30) },
      (_, n) => `<${n}>${dice.pick(["x", "\u00e9", "", "y z"])}\n`,
    ).join("");
    // Cut at random; every other piece may be changed, neighbours too.
    const cuts = [...new Set(Array.from({ length: 2 + dice.below(12) }, () => dice.below(text.length + 1)))].sort(
      (a, b) => a - b,
    );
    const spans = cuts.slice(1).map((end, index) => [cuts[index], end]);
    const chosen = spans.filter(([start, end]) => dice.happens(0.6) && isUnique(text, text.slice(start, end)));
    const edits = chosen.map(([start, end]) => ({
      oldText: text.slice(start, end),
      newText: dice.pick(["", "new", "<1>", "\n\n", text.slice(start, end)]),
    }));
    if (edits.length === 0) continue;
    let want = text;
    for (const [index, [start, end]] of [...chosen.entries()].reverse()) {
      want = want.slice(0, start) + edits[index].newText + want.slice(end);
    }
    const order = edits.map((edit) => [dice.next(), edit]).sort(([a], [b]) => a - b);
    await fs.writeFile(PATH, text);
    const { output, isError } = await run("edit", { path: PATH, edits: order.map(([, edit]) => edit) });
    assert.equal(isError, false, output.error);
    assert.equal(await fs.readFile(PATH, "utf8"), want);
    assert.equal(output.changed, want !== text);
  }
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

/** Ways in which a model writes a block that is there: how the file has it, how the model, and the rule that helps. */
const SLIPS = {
  "line-endings": { ending: "\r\n" },
  "line-endings, lone CR": { ending: "\r", rule: "line-endings" },
  "loose: trailing blanks in the file": { file: (line, index) => (index % 2 ? `${line} \t` : line), rule: "loose" },
  "loose: trailing blanks in oldText": { model: (line) => `${line}  `, rule: "loose" },
  "loose: quotes": { file: (line) => line.replaceAll(/"([^"]*)"/g, "\u201c$1\u201d"), rule: "loose" },
  "loose: dashes and spaces": { file: (line) => line.replace(" - ", "\u00a0\u2212 "), rule: "loose" },
  "loose, with CRLF": { file: (line) => line.replace(" - ", " \u2013 "), ending: "\r\n", rule: "loose" },
  "indentation: less": { file: (line) => `      ${line}`, rule: "indentation" },
  "indentation: more": { model: (line) => `\t${line}`, rule: "indentation" },
  "indentation: tabs for spaces": {
    file: (line) => line.replace(/^( {2})+/, (blanks) => "\t".repeat(blanks.length / 2)),
    rule: "indentation",
  },
  "indentation: spaces for tabs": {
    model: (line) => line.replace(/^( {2})+/, (blanks) => "\t".repeat(blanks.length / 2)),
    rule: "indentation",
  },
  "indentation, with CRLF": { file: (line) => `    ${line}`, ending: "\r\n", rule: "indentation" },
};

test("a block that is written a little differently is found, and only the lines that are meant change", async (t) => {
  const { fs, ok } = openTools(t);
  const dice = chance(seed, t.name);
  const same = (line) => line;
  for (const [slip, { file = same, model = same, ending = "\n", rule = slip }] of Object.entries(SLIPS)) {
    for (let round = 0; round < 25; round++) {
      const lines = codeOf(dice).flat();
      const start = dice.below(lines.length / 8) * 8;
      const length = 5 + dice.below(3);
      const old = lines.slice(start, start + length);
      // One line is another one, one is new, or one is gone.
      const at = 1 + dice.below(length - 2);
      const [removed, added] = dice.pick([
        [1, ["  other();"]],
        [0, ["  added();"]],
        [0, ["  if (a) {", "    b();", "  }"]],
        [1, []],
      ]);
      const became = old.toSpliced(at, removed, ...added);
      const inFile = (text, index) => (text === "" ? text : file(text, index));
      await fs.writeFile(PATH, lines.map(inFile).join(ending));
      const [oldText, newText] = [old, became].map((block) =>
        block.map((line) => (line === "" ? line : model(line))).join("\n"),
      );
      const { matches } = await ok("edit", { path: PATH, edits: [{ oldText, newText }] });
      const told = `${slip}: ${oldText} → ${newText}`;
      assert.deepEqual(matches, [{ edit: 0, startLine: start + 1, endLine: start + length, rule, count: 1 }], told);
      const got = (await fs.readFile(PATH, "utf8")).split(ending);
      // Lines that stay are as they were; the new ones are like their neighbours, but for trailing blanks.
      const want = lines.map(inFile).toSpliced(start + at, removed, ...added.map((line) => inFile(line, 0)));
      const plain = (line, index) => (index >= start + at && index < start + at + added.length ? line.trimEnd() : line);
      assert.deepEqual(got.map(plain), want, told);
    }
  }
});

/** Functions of eight lines each, with `"`, ` - ` and an indentation of two blanks in every one. */
function codeOf(dice) {
  return Array.from({ length: 3 + dice.below(8) }, (_, index) => {
    const limit = dice.below(90);
    return [
      `function task${index}(input, count) {`,
      `  const total = input.length * ${limit};`,
      `  if (total > ${limit + 7}) {`,
      `    report("task${index}", total - ${index});`,
      "  }",
      `  return total + count * ${index};`,
      "}",
      "",
    ];
  });
}

/** Ways to write a block of code that is not there. Each changes what the code says. */
const NEAR = [
  (lines, dice) => lines.with(dice.below(lines.length), "  return somethingElse(value);"),
  (lines, dice) => lines.toSpliced(1 + dice.below(lines.length - 2), 1),
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
  (lines, dice) => {
    const at = 1 + dice.below(lines.length - 1);
    return lines.with(at, `   ${lines[at]}`);
  },
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
  let pointed = 0;
  for (let round = 0; round < 200; round++) {
    const functions = codeOf(dice);
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
    if (output.nearest.startLine <= start + 7 && output.nearest.endLine > start) pointed++;

    assert.ok(Buffer.byteLength(output.nearest.text) + Buffer.byteLength(output.nearest.difference) <= 2_048);
    assert.equal(await fs.readFile(PATH, "utf8"), contents);
  }
  assert.ok(pointed >= 195, `${pointed} of 200 refusals point to the block that was meant`);
});
