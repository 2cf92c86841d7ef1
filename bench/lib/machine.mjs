// What the numbers were measured on.

import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";

export function machine(directory) {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpu?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    fileSystem: fileSystemOf(directory),
    load: load(),
  };
}

/** Runnable threads of the whole machine, averaged over the last minute. */
export function load() {
  return loadavg()[0].toFixed(1);
}

/** Type of the file system that a directory is on, where the system tells. */
export function fileSystemOf(directory) {
  let mounts;
  try {
    mounts = readFileSync("/proc/self/mounts", "utf8");
  } catch {
    return "unknown";
  }
  const holders = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, point]) => point && (point === "/" || `${directory}/`.startsWith(`${point}/`)))
    // The last of equal ones is mounted over the others.
    .reduce((best, mount) => (best && best[1].length > mount[1].length ? best : mount), undefined);
  return holders?.[2] ?? "unknown";
}
