// Memory: of a run that waits, and of the agent's process after many.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { canMeasureMemory, privateBytes } from "../memory.mjs";

export const names = ["idle", "flat"];

const IDLE = 8;
const RUNS = { quick: 200, full: 1000 };
/** Runs after which the caches of the host are filled. */
const BEFORE = 200;
const MIB = 2 ** 20;

export async function run(bench) {
  if (!canMeasureMemory) {
    bench.note("memory: not measured, this system does not tell what a process has for itself.");
    return;
  }
  if (bench.wants("idle")) {
    await bench.rounds(
      bench.sides,
      (side) =>
        bench.withStore(side, {}, async (session) => {
          await session.isWarm();
          const { bytes, close } = await session.idle(IDLE);
          bench.record({ name: "private memory of an idle run", unit: "MiB" }, side, bytes / MIB);
          await close();
        }),
      { trials: 3 },
    );
    bench.note(
      `idle: ${IDLE} runs that wait for a timer. carrel: private bytes of each process; the others: how much their process grows for each.`,
    );
  }
  if (bench.wants("flat")) {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc");
    const count = bench.isQuick ? RUNS.quick : RUNS.full;
    const side = bench.sides.find(({ id }) => id === "carrel");
    await bench.withStore(side, {}, async (session) => {
      await session.runs(BEFORE, 1);
      gc();
      const before = privateBytes();
      await session.runs(count, 1);
      gc();
      const kib = (privateBytes() - before) / 1024;
      bench.record({ name: `agent's memory, ${count} runs in a row, growth for each`, unit: "KiB" }, side, kib / count);
    });
  }
}
