// Much that comes out of a run, and much that goes in.

import { expectEqual } from "../../lib/bench.mjs";
import { LINE_BYTES, PRINT, STREAM } from "../sources.mjs";

export const names = ["print", "stream"];

const MIB = 2 ** 20;
const LARGE_MIB = { quick: 128, full: 1024 };

export async function run(bench) {
  if (bench.wants("print")) {
    const canPrint = bench.sides.filter(({ id }) => id !== "isolated-vm");
    for (const [title, bytes, sides] of [
      ["100 KiB through console.log", 100 * 1024, canPrint],
      // @cloudflare/computer takes minutes for it.
      ["10 MiB through console.log", 10 * MIB, canPrint.filter(({ id }) => id !== "computer")],
    ]) {
      await bench.rounds(sides, (side) =>
        bench.withStore(side, {}, async (session) => {
          await session.isWarm();
          const got = await bench.time({ name: title }, side, 1, () => session.print(PRINT, bytes / LINE_BYTES));
          expectEqual("printed bytes", side, got, bytes);
        }),
      );
    }
    bench.note(
      `console.log: lines of ${LINE_BYTES} bytes, all of which are received; isolated-vm has no console, and ` +
        "10 MiB are more than can be waited for with @cloudflare/computer.",
    );
  }
  if (bench.wants("stream")) {
    const mib = bench.isQuick ? LARGE_MIB.quick : LARGE_MIB.full;
    const bytes = mib * MIB;
    const name = `createReadStream, ${mib >= 1024 ? `${mib / 1024} GiB` : `${mib} MiB`}`;
    const row = { name, unit: "MB/s", isMoreBetter: true };
    // The others have no streams of files.
    const sides = bench.sides.filter(({ id }) => id === "carrel" || id === "worker");
    for (const side of sides) {
      await bench.withStore(side, {}, async (session) => {
        await session.fillLarge("large.bin", bytes);
        await bench.rounds([side], async () => {
          await session.isWarm();
          const start = performance.now();
          const got = await session.run(STREAM);
          bench.record(row, side, bytes / 1000 / (performance.now() - start));
          expectEqual("bytes read", side, got, bytes);
        });
      });
    }
    bench.note(
      "createReadStream: in pieces of 64 KiB; worker_threads reads a file of the host. carrel's limit of 256 MiB of answers is raised for it.",
    );
  }
}
