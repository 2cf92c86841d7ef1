// Calls that the code of a run makes: of files, and of a host module.

import { expectEqual } from "../../lib/bench.mjs";
import { HOST, READ, READ_SYNC, STAT, STAT_SYNC } from "../sources.mjs";

export const names = ["stat", "readFile", "sync", "host"];

const COUNT = { quick: 1000, full: 5000 };
const TEXT = "0123456789abcdef\n".repeat(64);

const CASES = [
  ["stat", "stat from inside", STAT, [1, 64]],
  ["readFile", "readFile from inside", READ, [1, 64]],
  ["sync", "statSync from inside", STAT_SYNC, [1]],
  ["sync", "readFileSync from inside", READ_SYNC, [1]],
  ["host", "host module call", HOST, [1, 64]],
];

export async function run(bench) {
  const count = bench.isQuick ? COUNT.quick : COUNT.full;
  for (const [name, title, source, manners] of CASES) {
    if (!bench.wants(name)) continue;
    // Without promises there are only carrel and plain Node.js.
    const sides = bench.sides.filter(({ id }) => name !== "sync" || id === "carrel" || id === "worker");
    for (const together of manners) {
      const how = name === "sync" ? "" : together === 1 ? ", one by one" : `, ${together} at a time`;
      const row = { name: `${title}${how}`, unit: "µs" };
      await bench.rounds(sides, (side) =>
        bench.withStore(side, {}, async (session) => {
          await session.fill([["small.txt", TEXT]]);
          // What a run with one call takes is no part of the others.
          const times = [];
          for (const calls of [1, 1, count + 1]) {
            await session.isWarm();
            const start = performance.now();
            const done = await session.run(source, { count: calls, together });
            times.push((performance.now() - start) * 1000);
            expectEqual(title, side, done, calls);
          }
          bench.record(row, side, (times[2] - times[1]) / count);
        }),
      );
    }
  }
  bench.note(`calls: of ${count} in one run, each; the time of a run with one call is taken off. The file has 1 KiB.`);
  bench.note(
    "calls: isolated-vm and worker_threads read the host's file system; isolated-vm by a reference to a function.",
  );
}
