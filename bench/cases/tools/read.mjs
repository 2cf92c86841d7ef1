// Reading: many small files, and a page of a large one. And listing, which is reading too.

import { expectEqual } from "../../lib/bench.mjs";
import { sourceText } from "../../lib/texts.mjs";
import { sourceTree } from "../../lib/tree.mjs";

export const names = ["read", "ls"];

const ROOT = "/workspace";
const SMALL = 100;
const LARGE = `${ROOT}/large.ts`;
const LARGE_BYTES = 2 * 1024 * 1024;
const ENTRIES = 10_000;
const REPEATS = 10;

export async function run(bench) {
  const text = sourceText(LARGE_BYTES);
  const middle = text.slice(0, text.indexOf("\n", text.length / 2) + 1);
  const offset = middle.split("\n").length;
  const small = [...sourceTree(`${ROOT}/small`, SMALL)];
  const entries = Array.from({ length: ENTRIES }, (_, index) => [`${ROOT}/many/file-${index}.txt`, `${index}\n`]);

  const stores = new Map();
  for (const side of bench.stores()) {
    const store = await side.open({ directory: bench.directory(side) });
    await store.fill([[LARGE, text], ...small, ...(bench.wants("ls") ? entries : [])]);
    stores.set(side, store);
  }

  const seen = new Map();
  /** Times what all sides have to agree on. */
  const timed = async (side, name, count, work) => {
    const result = await bench.time({ name }, side, count, work);
    if (!seen.has(name)) seen.set(name, result);
    expectEqual(name, side, result, seen.get(name));
  };
  await bench.rounds([...stores.keys()], async (side) => {
    const store = stores.get(side);
    if (bench.wants("read")) {
      await timed(side, "read, 10 KB, one of 100", SMALL, async () => {
        let length = 0;
        for (const [path] of small) length += (await store.read(path)).length;
        return length;
      });
      for (const [name, part] of [
        ["read, 2 MiB, first page", {}],
        ["read, 2 MiB, page in the middle, by line", { offset }],
        ["read, 2 MiB, page in the middle, by line and byte", { offset, byteOffset: middle.length }],
      ]) {
        for (let repeat = 0; repeat < REPEATS; repeat++) await timed(side, name, 1, () => store.read(LARGE, part));
      }
    }
    if (!bench.wants("ls")) return;
    await timed(side, "ls, first 200 of 10,000", 1, () => store.ls(`${ROOT}/many`, 200));
    await timed(side, "ls, all of 10,000", 1, () => store.ls(`${ROOT}/many`));
  });
  for (const store of stores.values()) await store.close();
  bench.note(
    "read: a page is 2,000 lines with their numbers, about 110 KB; node:fs reads the whole file, unless it has the byte.",
  );
  bench.note("ls: with size and time of each entry; carrel in pages of 1,000.");
}
