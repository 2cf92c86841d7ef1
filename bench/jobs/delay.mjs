// Works, and watches the event loop of this process meanwhile.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { loadSide } from "../drivers/index.mjs";
import { source } from "../lib/source.mjs";
import { ABSENT, sourceTree } from "../lib/tree.mjs";

const TREE = "/workspace/tree";
const FILES = 10_000;
const STREAM_BYTES = 2 ** 30;
const WRITES = 20_000;
/** One is over before there are enough samples for a percentile. */
const GREPS = 20;

const WORKS = {
  async grep(store) {
    for (let time = 0; time < GREPS; time++) await store.grep(ABSENT, TREE, { isRegex: false });
  },
  stream: (store) => store.writeStream("/workspace/large", source(STREAM_BYTES)),
  async writes(store) {
    for (let from = 0; from < WRITES; from += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => writeSmall(store, from + index)));
    }
  },
  async loop(store) {
    for (let index = 0; index < WRITES; index++) await writeSmall(store, index);
  },
  all: (store) => Promise.all([WORKS.grep(store), WORKS.stream(store), WORKS.writes(store)]),
};

/** Milliseconds of the 99th percentile, and the longest. */
export default async function run({ side, directory, work }) {
  const { open } = await loadSide(side);
  const store = await open({ directory, durability: "normal" });
  await store.mkdir("/workspace/small");
  if (work === "grep" || work === "all") await store.fill(sourceTree(TREE, FILES));
  // The first calls compile code and open connections.
  await store.write("/workspace/small/warm-up", "warm-up");
  await sleep(500);

  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(20);
  await WORKS[work](store);
  await sleep(20);
  delay.disable();
  await store.close();
  return { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
}

const writeSmall = (store, index) =>
  store.write(`/workspace/small/file-${index % 1000}`, `${index} ${Math.random()}\n`.padEnd(1024, "text "));
