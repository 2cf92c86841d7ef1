// The life of 1,000 files of 1 KiB: what agents do all day.

import { expectEqual } from "../lib/bench.mjs";

export const names = ["create", "overwrite", "stat", "read", "rm"];

const COUNT = 1000;
const BYTES = 1024;
const DURABILITIES = ["normal", "full"];
const WAYS = [
  { way: "one by one", atATime: 1 },
  { way: "100 at a time", atATime: 100 },
];

export async function run(bench) {
  for (const durability of DURABILITIES) {
    // What only looks is the same whatever a commit means.
    if (durability === "full" && !bench.wants("create", "overwrite", "rm")) continue;
    for (const { way, atATime } of WAYS) {
      // A flush of a disk takes milliseconds; fewer of them tell as much.
      const count = durability === "full" && atATime === 1 ? COUNT / 5 : COUNT;
      await bench.rounds(bench.stores(), (side) =>
        bench.withStore(side, { durability }, (store) => life(bench, side, store, { durability, way, atATime, count })),
      );
    }
  }
  bench.note(
    "full: node:fs flushes each file (open, write, fsync, close); for rm it flushes nothing. One by one 200 files.",
  );
  bench.note(
    "agentfs-sdk at normal: its database knows no NORMAL, it runs with synchronous = OFF. memfs keeps nothing.",
  );
}

async function life(bench, side, store, { durability, way, atATime, count }) {
  await store.mkdir("/workspace/src/lib");
  const paths = Array.from({ length: count }, (_, index) => `/workspace/src/lib/file-${index}.ts`);
  const texts = (word) => paths.map((path) => `// ${path} ${word} ${Math.random()}\n`.padEnd(BYTES, `${word}; `));
  const [first, second] = [texts("first"), texts("second")];
  const step = async (name, isChange, work) => {
    if (!isChange && durability === "full") return;
    if (isChange && durability === "full") await bench.rest();
    const row = bench.wants(name) && { name: `${name}, ${durability}, ${way}` };
    await bench.time(row, side, count, () => each(paths, atATime, work));
  };

  await step("create", true, (path, index) => store.write(path, first[index]));
  await step("overwrite", true, (path, index) => store.write(path, second[index]));
  await step("stat", false, (path) => store.stat(path));
  await step("read", false, (path) => store.read(path));
  expectEqual("bytes of a small file", side, (await store.read(paths[7])).length, BYTES);
  await step("rm", true, (path) => store.rm(path));
}

async function each(paths, atATime, work) {
  if (atATime === 1) {
    for (let index = 0; index < paths.length; index++) await work(paths[index], index);
    return;
  }
  for (let from = 0; from < paths.length; from += atATime) {
    const some = paths.slice(from, from + atATime);
    await Promise.all(some.map((path, index) => work(path, from + index)));
  }
}
