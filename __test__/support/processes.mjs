// What the kernel says of this process and of those that it started. Only Linux says it in `/proc`.

import { readdirSync, readFileSync } from "node:fs";

/** Whether the functions here know anything. */
export const canLook = process.platform === "linux";

/** Numbers of the processes that this one started and that are still there, also those that nobody waited for. */
export function childProcesses() {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === process.pid);
}

function parentOf(pid) {
  try {
    // The name, in parentheses, may have anything in it; the state and the parent follow.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** How many descriptors this process has open. */
export function openDescriptors() {
  return readdirSync("/proc/self/fd").length;
}

/**
 * Memory that this process has taken for its data, in bytes: what JavaScript uses of its heap, and all that is outside
 * of it. What V8 has set apart for its heap and does not use comes and goes in large steps.
 */
export function dataBytes() {
  const rollup = readFileSync("/proc/self/smaps_rollup", "utf8");
  const anonymous = Number(/^Anonymous: +(\d+) kB$/m.exec(rollup)[1]) * 1024;
  const { heapTotal, heapUsed } = process.memoryUsage();
  return anonymous - heapTotal + heapUsed;
}
