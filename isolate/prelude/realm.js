/**
 * Node's library without Node: its files, what they require, and what stands where its C++ was.
 *
 * - A file of the library is a function in the prelude's script. It runs when it is first required:
 *   what nearly every run needs, while the start-up snapshot is made; the rest in the run.
 * - `internalBinding(name)` gives the tables and functions in `bindings/`.
 * - Nothing of the executable exists before `boot`.
 *
 * Not here: the run itself (`main.js`), the process object's own functions (`process.js`).
 */

import { library } from "carrel:library";
import { bindings } from "./bindings/index.js";
import { callbacks } from "./bindings/loop.js";
import { environment } from "./bindings/system.js";
import { lazyLoader } from "./bindings/util.js";
import { builtins } from "./builtins.js";
import { fill } from "./late.js";
import { loop } from "./loop.js";
import { primordials, privateSymbols } from "./primordials.js";
import { replaced } from "./replaced.js";
import { prepareStackTrace } from "./stack.js";
import { loadCommon, warmUp } from "./warm-up.js";
import { installStreaming } from "./wasm.js";

const {
  Error,
  FunctionPrototypeCall,
  ObjectDefineProperty,
  ObjectGetPrototypeOf,
  ObjectSetPrototypeOf,
  Proxy,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  SymbolToStringTag,
  TypeError,
  Uint32Array,
  globalThis,
} = primordials;

function Process() {}
// The name is what `util.inspect` shows.
ObjectDefineProperty(Process, "name", { __proto__: null, configurable: true, value: "process" });

/** The process object, as bare as Node's own is before its library fills it. */
export const process = new Process();
process.version = "v24.22.3";
process.versions = {
  __proto__: null,
  acorn: "8.18.0",
  ada: "4.0.0",
  modules: "137",
  node: "24.22.3",
  openssl: "3.5.9",
  undici: "7.30.2",
  unicode: "17.0",
  uv: "1.52.1",
  v8: "15.2.0",
};
process.arch = "x64";
process.platform = "linux";
process.release = { __proto__: null, lts: "Krypton", name: "node" };
process.argv = [];
process.execArgv = [];
process.env = {};
process.pid = 1;
process.ppid = 0;
process.execPath = "/usr/bin/node";
process.debugPort = 9229;
process.title = "node";
process[privateSymbols.exit_info_private_symbol] = new Uint32Array(3);

export function internalBinding(name) {
  const binding = bindings[name];
  if (binding === undefined) throw new Error(`No such binding: ${name}`);
  return binding;
}

const modules = { __proto__: null };

/** Exports of a file of the library. */
export function require(id) {
  const known = modules[id];
  if (known !== undefined) return known.exports;
  const module = { exports: {}, id };
  modules[id] = module;
  try {
    if (replaced[id] !== undefined) {
      module.exports = replaced[id](realm);
    } else {
      const file = library[id];
      if (file === undefined) throw new TypeError(`'${id}' is not available in an isolate`);
      const requires = StringPrototypeStartsWith(id, "internal/deps/") ? requireForDependency : require;
      file(module.exports, requires, module, process, internalBinding, primordials);
    }
  } catch (error) {
    delete modules[id];
    throw error;
  }
  return module.exports;
}

/**
 * What libraries inside of Node's library require: with `node:`, or by their own name. Large modules
 * that they need in rare cases are loaded when something of them is used.
 */
function requireForDependency(id) {
  const bare = StringPrototypeStartsWith(id, "node:") ? StringPrototypeSlice(id, 5) : id;
  if (bare === "assert") return dependencyAssert;
  if (bare !== "crypto" && bare !== "zlib") return require(bare);
  return new Proxy({ __proto__: null }, { __proto__: null, get: (_target, key) => require(bare)[key] });
}

/** Checks of undici's own state. */
function dependencyAssert(condition, message) {
  if (!condition) throw new Error(message ?? "an assertion of fetch failed");
}
dependencyAssert.ok = dependencyAssert;
dependencyAssert.strictEqual = (left, right, message) => dependencyAssert(left === right, message);
dependencyAssert.notStrictEqual = (left, right, message) => dependencyAssert(left !== right, message);

/** A name that code can import, without `node:`; undefined for all others. */
function publicId(id) {
  if (typeof id !== "string") return undefined;
  const bare = StringPrototypeStartsWith(id, "node:") ? StringPrototypeSlice(id, 5) : id;
  return builtins[bare] === undefined ? undefined : bare;
}

const realm = {
  __proto__: null,
  builtins,
  exists: (id) => library[id] !== undefined || replaced[id] !== undefined,
  internalBinding,
  isPublic: (id) => publicId(id) !== undefined,
  process,
  publicId,
  require,
};

/** Globals that Node has and an isolate does not. */
const NOT_HERE = ["BroadcastChannel", "EventSource", "WebSocket"];

/** Puts Node's globals on `globalThis`, and makes `process` an emitter of events. */
export function installGlobals() {
  lazyLoader.require = require;
  environment.process = process;
  const EventEmitter = require("events");
  ObjectSetPrototypeOf(ObjectGetPrototypeOf(process), EventEmitter.prototype);
  FunctionPrototypeCall(EventEmitter, process);
  ObjectDefineProperty(process, SymbolToStringTag, {
    __proto__: null,
    configurable: false,
    enumerable: false,
    value: "process",
    writable: true,
  });
  ObjectDefineProperty(globalThis, SymbolToStringTag, {
    __proto__: null,
    configurable: true,
    enumerable: false,
    value: "global",
    writable: false,
  });
  globalThis.global = globalThis;
  defineReplaceable("process", process);
  const { Buffer } = require("buffer");
  defineReplaceable("Buffer", Buffer);
  internalBinding("buffer").setBufferPrototype(Buffer.prototype);
  require("internal/worker/js_transferable").setup();

  require("internal/util/debuglog").initializeDebugEnv(undefined);

  const { setupTaskQueue } = require("internal/process/task_queues");
  const timers = require("timers");
  const { defineOperation, defineReplaceableLazyAttribute, exposeLazyInterfaces } = require("internal/util");
  defineOperation(globalThis, "clearImmediate", timers.clearImmediate);
  defineOperation(globalThis, "setImmediate", timers.setImmediate);
  const { emitWarning, onWarning } = require("internal/process/warning");
  process.emitWarning = emitWarning;
  process.on("warning", onWarning);
  process.getBuiltinModule = function getBuiltinModule(id) {
    require("internal/validators").validateString(id, "id");
    const name = publicId(id);
    return name === undefined ? undefined : builtins[name]();
  };
  const { nextTick, runNextTicks } = setupTaskQueue();
  process.nextTick = nextTick;
  const { processImmediate, processTimers } = require("internal/timers").getTimerCallbacks(runNextTicks);
  internalBinding("timers").setupTimers(processImmediate, processTimers);

  const consoleOfV8 = globalThis.console;
  require("internal/bootstrap/web/exposed-wildcard");
  addMissing(globalThis.console, consoleOfV8);
  require("internal/bootstrap/web/exposed-window-or-worker");
  require("internal/console/constructor").initializeGlobalConsole(globalThis.console);
  exposeLazyInterfaces(globalThis, "internal/navigator", ["Navigator"]);
  defineReplaceableLazyAttribute(globalThis, "internal/navigator", ["navigator"], false);
  for (let index = 0; index < NOT_HERE.length; index++) delete globalThis[NOT_HERE[index]];

  const { ErrorPrepareStackTrace, prepareStackTraceCallback } = require("internal/errors");
  internalBinding("errors").setPrepareStackTraceCallback(prepareStackTraceCallback);
  ObjectDefineProperty(globalThis.Error, "prepareStackTrace", {
    __proto__: null,
    configurable: true,
    enumerable: false,
    value: ErrorPrepareStackTrace,
    writable: true,
  });
  loadCommon(realm);
  warmUp(realm);
}

/** Adds what only an inspector would do something for, such as `console.profile`. */
function addMissing(target, source) {
  const keys = primordials.ObjectKeys(source ?? {});
  for (let index = 0; index < keys.length; index++) {
    if (primordials.ObjectHasOwn(target, keys[index])) continue;
    ObjectDefineProperty(target, keys[index], {
      __proto__: null,
      configurable: true,
      enumerable: true,
      value: source[keys[index]],
      writable: true,
    });
  }
}

/** A global that code can assign to, which changes nothing for the prelude. */
function defineReplaceable(name, initial) {
  let value = initial;
  ObjectDefineProperty(globalThis, name, {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get: () => value,
    set(replacement) {
      value = replacement;
    },
  });
}

/** Connects everything with the executable. */
export function boot(natives) {
  fill(natives);
  installStreaming();
}

export { builtins, callbacks, loop, prepareStackTrace, primordials };
