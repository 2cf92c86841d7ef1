import EventEmitter, { captureRejectionSymbol, errorMonitor, getEventListeners, on, once } from "node:events";

const emitter = new EventEmitter();
const log = [];
emitter.on("newListener", (name, listener) => log.push(["new", name, typeof listener]));
const first = function (...args) {
  log.push(["first", this === emitter, ...args]);
};
emitter
  .on("a", first)
  .prependListener("a", () => log.push("before"))
  .once("a", () => log.push("once"));
console.log(
  emitter.emit("a", 1, 2),
  emitter.emit("a"),
  emitter.emit("none"),
  emitter.listenerCount("a"),
  emitter.eventNames(),
  emitter.listeners("a").length,
  emitter.rawListeners("a").length,
);
emitter.on("removeListener", (name) => log.push(["removed", name]));
emitter.off("a", first).removeAllListeners("a");
console.log(log, emitter.getMaxListeners(), EventEmitter.defaultMaxListeners, getEventListeners(emitter, "a"));
console.log(emitter);
for (const call of [
  () => emitter.emit("error", new TypeError("mine")),
  () => emitter.emit("error", { not: "an error" }),
  () => emitter.emit("error"),
  () => emitter.on("x", 5),
  () => emitter.setMaxListeners(-1),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message, error.context);
  }
}
emitter.on(errorMonitor, (error) => console.log("monitor", error.message));
emitter.on("error", (error) => console.log("handled", error.message));
emitter.emit("error", new Error("e"));
const rejecting = new EventEmitter({ captureRejections: true });
rejecting.on("x", async () => {
  throw new Error("async");
});
rejecting[captureRejectionSymbol] = (error, name) => console.log("captured", error.message, name);
rejecting.emit("x");
setTimeout(() => emitter.emit("later", 1, 2), 1);
console.log(await once(emitter, "later"));
setTimeout(() => {
  emitter.emit("many", 1);
  emitter.emit("many", 2);
  emitter.emit("stop");
}, 1);
for await (const [value] of on(emitter, "many", { close: ["stop"] })) console.log(value);
try {
  await once(emitter, "x", { signal: AbortSignal.abort() });
} catch (error) {
  console.log(error.name, error.code);
}
const leak = new EventEmitter();
for (let index = 0; index < 11; index++) leak.on("leak", () => {});
await new Promise((resolve) => setImmediate(resolve));
