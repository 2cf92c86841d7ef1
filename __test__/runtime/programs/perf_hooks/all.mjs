import { performance as own, PerformanceObserver } from "node:perf_hooks";

const observed = new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      console.log(entry.entryType, entry.name, entry.detail, typeof entry.startTime, typeof entry.duration);
    observer.disconnect();
    resolve();
  });
  observer.observe({ entryTypes: ["mark", "measure"] });
});
console.log(
  own === performance,
  performance.mark("a", { detail: { x: 1 } }).name,
  typeof performance.now(),
  performance.timeOrigin > 1e12,
);
performance.mark("b", { startTime: 1e6 });
const measure = performance.measure("m", { start: 100000, end: 100003, detail: "d" });
console.log(
  measure.duration,
  measure.startTime,
  measure.detail,
  measure.toJSON(),
  performance.getEntriesByType("mark").length,
  performance.getEntriesByName("m").length,
);
await observed;
performance.clearMarks();
performance.clearMeasures("m");
console.log(
  performance.getEntries().filter((entry) => /mark|measure/.test(entry.entryType)),
  typeof performance.toJSON().timeOrigin,
  typeof performance.eventLoopUtilization().utilization,
);
const timed = performance.timerify((x) => x * 2);
console.log(timed(4), timed.name);
for (const call of [
  () => performance.measure("x", "none"),
  () => performance.mark(),
  () => performance.mark("n", { startTime: -1 }),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
