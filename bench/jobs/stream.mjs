// Streams one file into a store and out again, after a smaller one that warms up.

import { loadSide } from "../drivers/index.mjs";
import { expectEqual } from "../lib/bench.mjs";
import { watchMemory } from "../lib/memory.mjs";
import { source } from "../lib/source.mjs";

const WARM_UP_BYTES = 16 * 2 ** 20;

/** MB/s and extra bytes of memory, in and out. */
export default async function run({ side: id, directory, durability, bytes }) {
  const side = await loadSide(id);
  const store = await side.open({ directory, durability });
  await store.mkdir("/workspace");
  await streamIn(store, "/workspace/warm-up", WARM_UP_BYTES, 1);
  await streamOut(store, side, "/workspace/warm-up", WARM_UP_BYTES);
  const intoIt = await streamIn(store, "/workspace/file", bytes, 2);
  const out = await streamOut(store, side, "/workspace/file", bytes);
  await store.close();
  return { in: intoIt, out };
}

async function streamIn(store, path, bytes, seed) {
  return await measured(bytes, () => store.writeStream(path, source(bytes, seed)));
}

async function streamOut(store, side, path, bytes) {
  return await measured(bytes, async () => {
    let length = 0;
    for await (const piece of await store.readStream(path)) length += piece.byteLength;
    expectEqual("bytes of the stream", side, length, bytes);
  });
}

async function measured(bytes, work) {
  const extraMemory = watchMemory();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  return { speed: bytes / 1e6 / seconds, extraBytes: extraMemory() };
}
