import timers from "node:timers";
import { scheduler, setImmediate, setInterval, setTimeout } from "node:timers/promises";

console.log(
  await setTimeout(1, "value"),
  await setTimeout(),
  await setImmediate("now"),
  await scheduler.wait(1),
  await scheduler.yield(),
);
let ticks = 0;
for await (const value of setInterval(1, "tick")) {
  console.log(value);
  if (++ticks === 3) break;
}
const controller = new AbortController();
const pending = setTimeout(1000, null, { signal: controller.signal });
controller.abort("reason");
try {
  await pending;
} catch (error) {
  console.log(error.name, error.code, error.message, error.cause);
}
for (const call of [
  () => setTimeout("x"),
  () => setTimeout(1, 1, { signal: 5 }),
  () => setTimeout(1, 1, { ref: 5 }),
  () => setImmediate(1, { signal: AbortSignal.abort() }),
]) {
  try {
    await call();
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log(
  timers.setTimeout === globalThis.setTimeout,
  timers.promises.setTimeout === setTimeout,
  Object.keys(timers).sort().join(" "),
);
