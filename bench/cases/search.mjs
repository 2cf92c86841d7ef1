// find and grep over a tree of source-like text.

import { expectEqual } from "../lib/bench.mjs";
import { ABSENT, LITERAL, REGEX, sourceTree } from "../lib/tree.mjs";

export const names = ["find", "grep"];

const COUNT = 10_000;
const ROOT = "/workspace/tree";
const SEARCHES = [
  { what: "a literal", pattern: LITERAL, isRegex: false },
  { what: "a regex", pattern: REGEX, isRegex: true },
  { what: "no match", pattern: ABSENT, isRegex: false },
];

export async function run(bench) {
  const count = bench.isQuick ? COUNT / 10 : COUNT;
  const stores = new Map();
  let tree;
  for (const side of bench.stores()) {
    const directory = bench.directory(side);
    if (side.id === "node") tree = directory;
    const store = await side.open({ directory, durability: "normal" });
    await store.mkdir(ROOT);
    await store.fill(sourceTree(ROOT, count));
    stores.set(side, store);
  }
  const ripgrep = bench.sides.find(({ isSearchOnly }) => isSearchOnly);
  if (ripgrep) stores.set(ripgrep, await ripgrep.open({ tree }));

  const size = `${count.toLocaleString("en")} files / ${count / 100} MB`;
  const wanted = new Map();
  const timed = async (side, name, work) => {
    const found = await bench.time({ name: `${name}, ${size}` }, side, 1, work);
    if (!wanted.has(name)) wanted.set(name, found);
    expectEqual(name, side, found, wanted.get(name));
  };
  await bench.rounds([...stores.keys()], async (side) => {
    const store = stores.get(side);
    if (bench.wants("find")) await timed(side, "find, **/*.md", () => store.find(ROOT, "**/*.md"));
    if (!bench.wants("grep")) return;
    for (const { what, pattern, isRegex } of SEARCHES) {
      await timed(side, `grep, ${what}`, () => store.grep(pattern, ROOT, { isRegex }));
    }
  });
  for (const store of stores.values()) await store.close();
  const found = [...wanted].map(([name, lines]) => `${name.replace(/^grep, /, "")} ${lines}`);
  bench.note(`search: everything is in memory; what was found: ${found.join(", ")}.`);
  bench.note(
    "search: ripgrep with its start; of the others only carrel searches itself, for them 32 files are read at a time.",
  );
}
