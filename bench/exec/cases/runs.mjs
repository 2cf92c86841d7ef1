// Whole runs: ready and not, in a row and together.

import { expectEqual } from "../../lib/bench.mjs";
import { TRIVIAL } from "../sources.mjs";

export const names = ["warm", "cold", "row", "together"];

/** Warm runs of a round. */
const WARM = { quick: 10, full: 50 };
const ROW = 100;
const TOGETHER = 24;

export async function run(bench) {
  const { sides } = bench;
  if (bench.wants("warm")) {
    const count = bench.isQuick ? WARM.quick : WARM.full;
    const row = { name: "trivial run, warm", unit: "µs" };
    await bench.rounds(sides, (side) =>
      bench.withStore(side, {}, async (session) => {
        // Three that warm up: the code of the host, too.
        for (let index = -3; index < count; index++) {
          await session.isWarm();
          const start = performance.now();
          const value = await session.run(TRIVIAL, 1);
          const micros = (performance.now() - start) * 1000;
          expectEqual("trivial run", side, value, 2);
          if (index >= 0) bench.record(row, side, micros);
        }
      }),
    );
    bench.note(
      "warm: a process (carrel), an isolate (isolated-vm) or a thread (worker_threads) stands ready and takes this one run; " +
        "@cloudflare/computer has run before, and makes an isolate for each. The time of a request to its object is in its times.",
    );
  }
  if (bench.wants("cold")) {
    const row = { name: "trivial run, cold", unit: "µs" };
    await bench.rounds(sides, (side) =>
      bench.withStore(side, { warm: false }, async (session) => {
        await bench.time(row, side, 1, () => session.run(TRIVIAL, 1));
      }),
    );
    bench.note("cold: the first run of a workspace, with nothing ready.");
  }
  for (const [name, together, title] of [
    ["row", 1, `trivial runs, ${ROW} in a row, each`],
    ["together", TOGETHER, `trivial runs, ${TOGETHER} at once, each`],
  ]) {
    if (!bench.wants(name)) continue;
    const count = name === "row" ? ROW : TOGETHER;
    await bench.rounds(sides, (side) =>
      bench.withStore(side, {}, async (session) => {
        await session.isWarm();
        bench.record({ name: title, unit: "µs" }, side, await session.runs(count, together));
      }),
    );
  }
}
