/**
 * Runs what nearly every run needs once, while the start-up snapshot is made.
 *
 * V8 compiles a function when it is first called, and the snapshot keeps what is compiled. The native
 * functions are played by ones that do nothing; nothing that happens here may leave a trace.
 */

import { asyncWrap } from "./bindings/loop.js";
import { pretend } from "./late.js";
import { loop } from "./loop.js";
import { primordials } from "./primordials.js";

let now = 0;

const NATIVES = {
  __proto__: null,
  "buffer.byteLengthUtf8": () => 1,
  "buffer.utf8Slice": () => "a",
  "buffer.utf8WriteStatic": () => 1,
  "core.epoch": () => 0,
  "core.monotonic": () => now,
  "encoding_binding.decodeUTF8": () => "a",
  "encoding_binding.encodeUtf8String": () => new primordials.Uint8Array(1),
  "types.isExternal": () => false,
  "types.isDate": (value) => value instanceof primordials.Date,
  "types.isMap": (value) => value instanceof primordials.Map,
  "types.isNativeError": (value) => value instanceof primordials.Error,
  "types.isPromise": (value) => value instanceof primordials.Promise,
  "types.isSet": (value) => value instanceof primordials.Set,
  "util.getConstructorName": () => "Object",
  "util.getOwnNonIndexProperties": (value) => (primordials.ArrayIsArray(value) ? [] : primordials.ObjectKeys(value)),
  "util.getPromiseDetails": () => [0],
  "util.previewEntries": () => [],
  "util.getProxyDetails": () => undefined,
};

/** Runs it, on the globals of a realm that has all of them. */
export function warmUp(realm) {
  const { globalThis } = primordials;
  const { console, Buffer, process } = globalThis;
  const restore = pretend((group, name) => NATIVES[`${group}.${name}`] ?? (() => undefined));

  const circular = { name: "a", list: [1, 2.5, "b", null, undefined, true, 1n, Symbol("s")] };
  circular.self = circular;
  const error = new primordials.Error("a");
  console.log("%s %d %i %f %j %o %O %%", "a", 1, 1, 1, { a: 1 }, [1], { a: { b: {} } });
  console.error("a", 1, circular, error, new primordials.Map([[1, { a: 2 }]]), new primordials.Set(["a"]), () => {});
  console.log(new primordials.Uint8Array(3), Buffer.alloc(3), new primordials.Date(0), /a/g, class A {}, [[[[]]]]);
  console.log([["a".repeat(50), "b".repeat(50)], { a: "line\nline" }, primordials.ArrayFrom({ length: 120 })]);
  console.log(new primordials.Promise(() => {}));

  const { EventEmitter } = realm.require("events");
  const emitter = new EventEmitter();
  emitter.once("a", () => {});
  emitter.on("a", () => {});
  emitter.emit("a", 1);
  emitter.removeAllListeners();

  Buffer.from("a").toString();
  Buffer.concat([Buffer.from([1, 2]), Buffer.allocUnsafe(1)]).subarray(1).equals(Buffer.from([2]));
  new globalThis.TextDecoder().decode(new globalThis.TextEncoder().encode("a"));

  const controller = new globalThis.AbortController();
  controller.signal.addEventListener("abort", () => {});
  controller.abort();

  globalThis.setTimeout(() => {}, 1);
  globalThis.clearTimeout(globalThis.setTimeout(() => {}, 2));
  globalThis.setImmediate(() => {});
  process.nextTick(() => {}, 1);
  globalThis.queueMicrotask(() => {});
  loop.enter(() => {});
  now = 10;
  loop.processTimers();
  loop.processImmediate();
  loop.drain();

  const path = realm.require("path");
  path.join("a", "..", path.resolve("/a", "b"), path.dirname("/a/b"), path.basename("/a/b.c"), path.extname("b.c"));

  restore();
  asyncWrap.async_id_fields[asyncWrap.constants.kAsyncIdCounter] = 1;
}
