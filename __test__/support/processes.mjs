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

/** Memory of this process that is nobody else's, in bytes. */
export function privateBytes() {
  const rollup = readFileSync("/proc/self/smaps_rollup", "utf8");
  const kilobytes = (name) => Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(rollup)[1]);
  return (kilobytes("Private_Clean") + kilobytes("Private_Dirty")) * 1024;
}
