// find and grep over a tree of source-like text.

import { expectEqual } from "../../lib/bench.mjs";
import { ABSENT, LITERAL, REGEX, sourceTree } from "../../lib/tree.mjs";

export const names = ["find", "grep"];

const ROOT = "/workspace/tree";
const COUNT = 5_000;
const SEARCHES = [
  { what: "a literal", query: LITERAL },
  { what: "a literal, files only", query: LITERAL, only: "files" },
  { what: "a regex", query: REGEX, isRegex: true },
  { what: "no match", query: ABSENT },
];

export async function run(bench) {
  const stores = new Map();
  for (const side of bench.sides) {
    const store = await side.open({ directory: bench.directory(side) });
    await store.fill(sourceTree(ROOT, COUNT));
    stores.set(side, store);
  }
  const size = `${COUNT.toLocaleString("en")} files / ${COUNT / 100} MB`;
  const seen = new Map();
  const timed = async (side, name, work) => {
    const found = await bench.time({ name: `${name}, ${size}` }, side, 1, work);
    if (!seen.has(name)) seen.set(name, found);
    expectEqual(name, side, found, seen.get(name));
  };
  await bench.rounds([...stores.keys()], async (side) => {
    const store = stores.get(side);
    if (bench.wants("find")) await timed(side, "find, **/area-4*/*.md", () => store.find(ROOT, "**/area-4*/*.md"));
    if (!bench.wants("grep")) return;
    for (const { what, query, isRegex = false, only } of SEARCHES) {
      await timed(side, `grep, ${what}`, () => store.grep(ROOT, query, { isRegex, only }));
    }
  });
  for (const store of stores.values()) await store.close();
  const found = [...seen].map(([name, lines]) => `${name.replace(/^grep, /, "")} ${lines}`);
  bench.note(`search: everything is in memory; what was found: ${found.join(", ")}.`);
  bench.note("search: just-bash has the files as JavaScript objects; node:fs reads 32 at a time.");
}
