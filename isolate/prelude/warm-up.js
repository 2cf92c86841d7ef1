/**
 * What is done while the start-up snapshot is made, so that no run has to do it: common modules are
 * loaded, and what nearly every run needs is executed once.
 *
 * - V8 compiles a function when it is first called, and the snapshot keeps what is compiled.
 * - There are no native functions yet; some are played here. What is loaded only meets those that do
 *   for ASCII exactly what the native ones do, since a module may keep what they gave. What is executed
 *   meets others that do nothing, and leaves no trace.
 */

import { asyncWrap } from "./bindings/loop.js";
import { pretend } from "./late.js";
import { loop } from "./loop.js";
import { primordials } from "./primordials.js";

const { SafeSet, StringPrototypeCharCodeAt, Uint8Array, globalThis } = primordials;

function writeAscii(target, text, offset = 0, length = text.length) {
  const count = primordials.MathMin(length, text.length, target.length - offset);
  for (let index = 0; index < count; index++) target[offset + index] = StringPrototypeCharCodeAt(text, index);
  return count;
}

/** By group and name. */
const EXACT = {
  __proto__: null,
  "buffer.byteLengthUtf8": (text) => text.length,
  "buffer.latin1WriteStatic": writeAscii,
  "buffer.utf8WriteStatic": writeAscii,
  "encoding_binding.encodeUtf8String"(text) {
    const bytes = new Uint8Array(text.length);
    writeAscii(bytes, text);
    return bytes;
  },
  "types.isDate": (value) => value instanceof primordials.Date,
  "types.isMap": (value) => value instanceof primordials.Map,
  "types.isNativeError": (value) => value instanceof primordials.Error,
  "types.isPromise": (value) => value instanceof primordials.Promise,
  "types.isSet": (value) => value instanceof primordials.Set,
};

let now = 0;

const INEXACT = {
  __proto__: null,
  "buffer.utf8Slice": () => "a",
  "core.epoch": () => 0,
  "core.monotonic": () => now,
  "encoding_binding.decodeUTF8": () => "a",
  "types.isExternal": () => false,
  "util.getConstructorName": () => "Object",
  "util.getOwnNonIndexProperties": (value) => (primordials.ArrayIsArray(value) ? [] : primordials.ObjectKeys(value)),
  "util.getPromiseDetails": () => [0],
  "util.previewEntries": () => [],
};

/** Cryptography is loaded when code asks for it: it is large, and needs the executable. */
const LATE_GLOBALS = new SafeSet(["Crypto", "CryptoKey", "SubtleCrypto", "crypto"]);

const COMMON = ["fs", "fs/promises", "os", "stream/promises", "stream/web", "util"];

/** Loads what many runs use, so that all but `LATE_GLOBALS` are plain data properties. */
export function loadCommon(realm) {
  const restore = pretend((group, name) => EXACT[`${group}.${name}`]);
  const names = primordials.ObjectGetOwnPropertyNames(globalThis);
  for (let index = 0; index < names.length; index++) {
    if (!LATE_GLOBALS.has(names[index])) globalThis[names[index]];
  }
  for (let index = 0; index < COMMON.length; index++) realm.builtins[COMMON[index]]();
  restore();
}

/** Runs it, on the globals of a realm that has all of them. */
export function warmUp(realm) {
  const { console, Buffer, process } = globalThis;
  const restore = pretend(
    (group, name) => EXACT[`${group}.${name}`] ?? INEXACT[`${group}.${name}`] ?? (() => undefined),
  );

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
  Buffer.concat([Buffer.from([1, 2]), Buffer.allocUnsafe(1)])
    .subarray(1)
    .equals(Buffer.from([2]));
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
