// Peak memory of this process.

import { readFileSync, writeFileSync } from "node:fs";

/**
 * Begins to watch; the function it returns ends that and gives the bytes that the process had more, at
 * its peak, than at the beginning.
 */
export function watchMemory() {
  globalThis.gc?.();
  return watchKernelsMark() ?? watchBySamples();
}

/** Linux keeps the peak itself, and forgets it on demand: nothing falls between two samples. */
function watchKernelsMark() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
    const before = statusBytes("VmRSS");
    return () => Math.max(0, statusBytes("VmHWM") - before);
  } catch {
    return undefined;
  }
}

function statusBytes(field) {
  const [, kib] = readFileSync("/proc/self/status", "utf8").match(new RegExp(`^${field}:\\s+(\\d+) kB`, "m"));
  return Number(kib) * 1024;
}

function watchBySamples() {
  const before = process.memoryUsage.rss();
  let peak = before;
  const sample = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(sample, 5);
  return () => {
    clearInterval(timer);
    sample();
    return peak - before;
  };
}
