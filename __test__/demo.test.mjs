// The demonstration: does what it says, says it readably without a terminal, and leaves nothing.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root, run, temporaryFolder } from "./support/consumer.mjs";

const temporary = temporaryFolder();
const STEPS = [
  "open",
  "load",
  "find",
  "grep",
  "grep, regex",
  "copy",
  "edit",
  "stream out",
  "close",
  "second process",
  "open again",
  "check",
];

/** What each step printed after its time, by the step's name. */
const results = new Map();
let output;

before(() => {
  const { path } = temporary;
  const env = { ...process.env, TMPDIR: path, TMP: path, TEMP: path };
  output = run(process.execPath, [join(root, "examples", "demo.mjs")], { env, cwd: path, timeout: 60_000 });
  for (const [, name, result] of output.matchAll(/^ {2}(\S.*?) +[\d.]+ ms {2}(.+)$/gm)) results.set(name, result);
});

after(() => temporary.remove());

test("every step says what it did and how long it took", () => {
  assert.deepEqual([...results.keys()], STEPS, output);
});

test("the whole tree was loaded, and found by name and by content", () => {
  const folder = join(root, "node_modules", "typescript");
  const files = readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
  assert.match(results.get("load"), new RegExp(`^${files.length} files, `));

  const declarations = files.filter((name) => name.endsWith(".d.ts"));
  assert.match(results.get("find"), new RegExp(`^${declarations.length} files `));

  const sources = files.filter((name) => /\.[jt]s$/.test(name)).map((name) => readFileSync(join(folder, name), "utf8"));
  const lines = sources.flatMap((text) => text.split("\n")).filter((line) => line.includes("getTokenPosOfNode"));
  assert.ok(lines.length > 0);
  assert.equal(results.get("grep"), `${lines.length} lines with getTokenPosOfNode in ${sources.length} files`);
  assert.equal(results.get("second process"), `sees ${lines.length} lines with startOfNode, 0 with getTokenPosOfNode`);
});

test("the copy of the tree shares its contents", () => {
  assert.match(results.get("copy"), /, 0 bytes of contents more to store$/);
});

test("the second process was one, and the first found its note", () => {
  const [, id] = /^its note says: process (\d+) was here$/.exec(results.get("open again"));
  assert.notEqual(Number(id), process.pid);
});

test("without a terminal there are no colours", () => {
  assert.ok(!output.includes("\x1b"));
});

test("nothing is left in the temporary directory", () => {
  assert.deepEqual(readdirSync(temporary.path), []);
});
