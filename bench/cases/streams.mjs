// Large files: in, out, and a part from the middle.

import { inChild } from "../lib/child.mjs";
import { source } from "../lib/source.mjs";

export const names = ["stream", "range"];

const MIB_64 = { label: "64 MiB", bytes: 64 * 2 ** 20 };
const GIB = { label: "1 GiB", bytes: 2 ** 30, isLong: true };
const RANGE_BYTES = 64 * 1024;
const RANGES = 200;

/** Sides that need minutes for a GiB, or cannot hold it: SQLite's limit for one value is 10^9 bytes. */
const NOT_A_GIB = ["sqlite", "agentfs", "memfs"];

export async function run(bench) {
  if (bench.wants("stream")) {
    await stream(bench, MIB_64, "normal");
    if (!bench.isQuick) await stream(bench, GIB, "normal");
    // How fast the disk itself is: here everybody waits for it.
    if (!bench.isQuick) await stream(bench, GIB, "full");
  }
  if (bench.wants("range")) await ranges(bench, bench.isQuick ? MIB_64 : GIB);
}

async function stream(bench, { label, bytes, isLong }, durability) {
  const sides = bench.stores({ except: isLong ? NOT_A_GIB : [] });
  const rounds = isLong ? { trials: Math.min(3, bench.trials), warmUps: 0 } : {};
  await bench.rounds(
    sides,
    async (side) => {
      const job = { side: side.id, directory: bench.directory(side), durability, bytes };
      const result = await inChild("stream", job);
      if (result.error) {
        bench.note(`stream of ${label}: ${side.name} failed (${result.error})`);
        return;
      }
      for (const direction of durability === "full" ? ["in"] : ["in", "out"]) {
        const { speed, extraBytes } = result[direction];
        const name = `stream ${direction}, ${label}${durability === "full" ? ", full" : ""}`;
        bench.record({ name, unit: "MB/s", isMoreBetter: true }, side, speed);
        bench.record({ name: `${name}, peak extra memory`, unit: "MiB" }, side, extraBytes / 2 ** 20);
      }
      bench.directory(side);
    },
    rounds,
  );
  bench.note(
    "streams: at normal unless it says full, so node:fs leaves the file in memory; what is read was written just before.",
  );
}

async function ranges(bench, { label, bytes }) {
  const sides = bench.stores({ except: NOT_A_GIB });
  const stores = new Map();
  for (const side of sides) {
    const store = await side.open({ directory: bench.directory(side), durability: "normal" });
    stores.set(side, store);
    await store.mkdir("/workspace");
    await store.writeStream("/workspace/file", source(bytes));
  }
  // Anywhere, and the same places for all sides.
  const places = Array.from({ length: RANGES }, (_, index) =>
    Math.floor((bytes - RANGE_BYTES) * ((index * 0.618034) % 1)),
  );
  await bench.rounds(sides, async (side) => {
    const store = stores.get(side);
    await bench.time({ name: `64 KiB from the middle of ${label}` }, side, RANGES, async () => {
      for (const offset of places) {
        const { byteLength } = await store.readRange("/workspace/file", offset, RANGE_BYTES);
        if (byteLength !== RANGE_BYTES) throw new Error(`${side.name} read ${byteLength} bytes of a range`);
      }
    });
  });
  for (const store of stores.values()) await store.close();
}
