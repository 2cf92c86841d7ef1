// A directory of 10,000 files as a whole.

import { expectEqual } from "../lib/bench.mjs";

export const names = ["readdir", "rename"];

const COUNT = 10_000;

export async function run(bench) {
  const count = bench.isQuick ? COUNT / 10 : COUNT;
  const label = count.toLocaleString("en");
  const files = Array.from({ length: count }, (_, index) => [`/workspace/many/file-${index}.ts`, `// ${index}\n`]);
  const stores = new Map();
  for (const side of bench.stores()) {
    const store = await side.open({ directory: bench.directory(side), durability: "normal" });
    stores.set(side, store);
    await store.mkdir("/workspace/many");
    await store.fill(files);
  }
  await bench.rounds([...stores.keys()], async (side) => {
    const store = stores.get(side);
    if (bench.wants("readdir")) {
      const found = await bench.time({ name: `readdir of ${label}` }, side, 1, () => store.readdir("/workspace/many"));
      expectEqual("entries", side, found, count);
    }
    if (bench.wants("rename")) {
      const name = `rename of a directory of ${label}`;
      await bench.time({ name }, side, 1, () => store.rename("/workspace/many", "/workspace/moved"));
      await store.rename("/workspace/moved", "/workspace/many");
    }
  });
  for (const store of stores.values()) await store.close();
  bench.note("readdir gives types too; carrel, better-sqlite3 and agentfs-sdk also size and mtime.");
}
