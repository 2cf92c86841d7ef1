// The samples in the documentation of an adapter: blocks marked `javascript` that run as modules in a folder of
// their own, where "carrel" is this checkout and the libraries are those that it has installed.
//
// `// → text` says what a sample prints, line by line. A block that begins with `// name.js` is a file
// that the samples import; tests put a scripted model there.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root, run, temporaryFolder } from "./consumer.mjs";

const SAMPLE_MS_MAX = 60_000;

/** The samples of a page, each with the number of its first line, and the name of the file that it is. */
export function samplesOf(page) {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```javascript\n(.*?)^```$/gms)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length + 1,
    code: match[1],
    name: /^\/\/ (\S+\.js)\n/.exec(match[1])?.[1],
    printed: [...match[1].matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => line),
  }));
}

/**
 * Makes a test of every sample of a page.
 * @param packages what the samples import beside carrel
 * @param filesFor the files beside a sample, by name, from its place among the samples (from 0)
 */
export function testSamples(page, packages, filesFor) {
  const samples = samplesOf(page);
  assert.ok(samples.length > 0, `${page} has no samples`);
  for (const [index, { line, code, name, printed }] of samples.entries()) {
    test(`${page}:${line} runs${printed.length > 0 ? " and prints what it says" : ""}`, (t) => {
      const { path: folder, remove } = temporaryFolder();
      t.after(remove);
      for (const [target, place] of [["carrel", root], ...packages.map((name) => [name, installed(name)])]) {
        const link = join(folder, "node_modules", target);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(place, link, "junction");
      }
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      for (const [file, text] of Object.entries(filesFor(index))) writeFileSync(join(folder, file), text);
      const file = name ?? "sample.js";
      writeFileSync(join(folder, file), code);
      const output = run(process.execPath, [file], { cwd: folder, timeout: SAMPLE_MS_MAX });
      if (printed.length > 0) assert.deepEqual(output.trimEnd().split("\n").filter(Boolean), printed);
    });
  }
}

const installed = (name) => join(root, "node_modules", name);
