// Private memory of processes, as Linux tells it.

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether this system tells. */
export const canMeasureMemory = existsSync("/proc/self/smaps_rollup");

/** Bytes that a process shares with nobody. */
export function privateBytes(pid = "self") {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  let kib = 0;
  for (const [, amount] of text.matchAll(/^Private_(?:Clean|Dirty|Hugetlb):\s+(\d+) kB/gm)) kib += Number(amount);
  return kib * 1024;
}

/**
 * For runs inside a process: how much its private memory grows with each of `count` that `begin` starts.
 * `begin` resolves with how to end one.
 */
export async function growthPerOne(count, begin, pid = "self") {
  globalThis.gc?.();
  const before = privateBytes(pid);
  const ends = [];
  for (let index = 0; index < count; index++) ends.push(await begin());
  await sleep(500);
  return {
    bytes: (privateBytes(pid) - before) / count,
    close: () => Promise.all(ends.map((end) => end())),
  };
}
