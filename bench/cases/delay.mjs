// How long the event loop is held up while large work goes on.

import { inChild } from "../lib/child.mjs";

export const names = ["delay"];

const WORKS = [
  { work: "grep", label: "20 times grep of 100 MB" },
  { work: "stream", label: "a write of 1 GiB" },
  { work: "writes", label: "small writes, 100 at a time, with checkpoints" },
  { work: "loop", label: "small writes, one by one, with checkpoints" },
  { work: "all", label: "all of these together" },
];

export async function run(bench) {
  if (bench.isQuick) return;
  const sides = bench.sides.filter(({ id }) => id === "carrel" || id === "node");
  for (const { work, label } of WORKS) {
    await bench.rounds(
      sides,
      async (side) => {
        const result = await inChild("delay", { side: side.id, directory: bench.directory(side), work });
        if (result.error) throw new Error(`${side.name}, ${label}: ${result.error}`);
        bench.record({ name: `event-loop delay p99, ${label}`, unit: "ms" }, side, result.p99);
        bench.record({ name: `event-loop delay at most, ${label}`, unit: "ms" }, side, result.max);
        bench.directory(side);
      },
      { trials: Math.min(3, bench.trials), warmUps: 0 },
    );
  }
  bench.note("event-loop delay: perf_hooks.monitorEventLoopDelay({ resolution: 1 }); an idle loop shows about 1 ms.");
}
