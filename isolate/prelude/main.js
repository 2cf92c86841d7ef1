/**
 * The run driver: what the executable calls (`isolate/src/run.rs`).
 *
 * ```text
 *   start ─▶ (modules are loaded) ─▶ begin ─▶ turn ─▶ turn ─▶ …  ─▶ core.done
 * ```
 *
 * - With a default export the run ends when its value is there and files have taken what was written;
 *   timers that still wait are dropped, and the host aborts its calls that nobody awaited. Without one it ends, like a script in Node, when nothing is left to do.
 * - The first error that nobody catches is the run's end.
 */

import { decode, decodeError, encode, toJsonText } from "../../lib/runtime/values.ts";
import { startFiles } from "./bindings/fs.js";
import { answer, call, HOST, hasCalls, hasFileCalls } from "./calls.js";
import { setNetwork } from "./fetch.js";
import { late } from "./late.js";
import { emitExit, exitCodeOf, prepareProcess, setExitCode, startProcess } from "./process.js";
import { boot, builtins, installGlobals, loop, prepareStackTrace, primordials, process, require } from "./realm.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  FunctionPrototypeCall,
  JSONParse,
  MathMax,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  ObjectHasOwn,
  ObjectKeys,
  ObjectPrototype,
  Promise,
  PromisePrototypeThen,
  RegExpPrototypeExec,
  SafeSet,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  Uint32Array,
  Uint8Array,
  globalThis,
} = primordials;

const done = late("core", "done");
const random = late("core", "random");
const runMicrotasks = late("core", "runMicrotasks");

// How a run ends, as the executable knows it.
const COMPLETED = 0;
const FAILED = 1;
const EXITED = 3;
const TOO_LONG = 4;

// What follows a turn, as the executable knows it.
const WAIT = 0;
const AGAIN = 1;
const SOON = 2;
const IDLE = 3;

// What a turn is about.
const ANSWER = 1;
const NOTHING_LEFT = 3;

let config;
/** JSON of the result, once it is there. */
let result;
let hasDefault = false;
let isOver = false;

/** Text of an error that nobody caught, as Node prints it. */
function describe(error) {
  try {
    const { inspect } = require("internal/util/inspect");
    const isError = primordials.ErrorPrototype === error || require("internal/util").isError(error);
    if (!isError) return `Uncaught ${inspect(error)}`;
    // An emitter adds where the error was emitted.
    require("internal/errors").fatalExceptionStackEnhancers.beforeInspector(error);
    const depth = MathMax(inspect.defaultOptions.depth, 5);
    const text = inspect(error, { __proto__: null, customInspect: false, depth });
    // Without a frame of the code there is no stack to show, which `inspect` says by brackets.
    const bracketed = `[${error.name}: ${error.message}]`;
    return StringPrototypeStartsWith(text, bracketed)
      ? `${error.name}: ${error.message}${StringPrototypeSlice(text, bracketed.length)}`
      : text;
  } catch {
    try {
      return `Uncaught ${error}`;
    } catch {
      return "Uncaught error, which cannot be shown";
    }
  }
}

/** Exit code of a run that an error ended, and that of one whose handler of such errors failed itself. */
const ERROR = 1;
const HANDLER_FAILED = 7;

/** Ends the run. As in Node, only the code's `exit` handlers can choose another exit code. */
function fail(error, code = ERROR) {
  if (isOver) return;
  isOver = true;
  const text = describe(error);
  setExitCode(code);
  emitExitSafely(code);
  done(FAILED, text, exitCodeOf() || code);
}

function emitExitSafely(code) {
  try {
    emitExit(code);
  } catch {
    // The run has ended with an error already; the first one counts.
  }
}

/** Nobody caught `error`: the code may listen for that, like in Node. */
function uncaught(error, isFromPromise) {
  if (isOver) return;
  const origin = isFromPromise ? "unhandledRejection" : "uncaughtException";
  try {
    process.emit("uncaughtExceptionMonitor", error, origin);
    if (process.listenerCount("uncaughtException") > 0) {
      process.emit("uncaughtException", error, origin);
      return;
    }
  } catch (second) {
    fail(second, HANDLER_FAILED);
    return;
  }
  fail(error);
}

function complete() {
  if (isOver) return;
  try {
    emitExit(exitCodeOf() ?? 0);
  } catch (error) {
    fail(error);
    return;
  }
  isOver = true;
  done(COMPLETED, result ?? "null", exitCodeOf());
}

function isPromise(value) {
  return require("internal/util/types").isPromise(value);
}

/** Promises inside plain arrays and objects, with the places where they are. */
function promisesIn(root) {
  const found = [];
  const seen = new SafeSet();
  const waiting = [{ value: root, path: "result" }];
  while (waiting.length > 0) {
    const { value, path } = waiting.pop();
    if (value === null || typeof value !== "object" || seen.has(value)) continue;
    seen.add(value);
    const isList = ArrayIsArray(value);
    const prototype = ObjectGetPrototypeOf(value);
    if (!isList && prototype !== null && prototype !== ObjectPrototype) continue;
    const keys = ObjectKeys(value);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index];
      const descriptor = ObjectGetOwnPropertyDescriptor(value, key);
      if (descriptor === undefined || !ObjectHasOwn(descriptor, "value")) continue;
      const place = isList ? `${path}[${key}]` : `${path}.${key}`;
      if (isPromise(descriptor.value)) {
        ArrayPrototypePush(found, { holder: value, key, path: place, promise: descriptor.value });
      } else if (descriptor.value !== null && typeof descriptor.value === "object") {
        ArrayPrototypePush(waiting, { value: descriptor.value, path: place });
      }
    }
  }
  return found;
}

async function settleInside(value) {
  for (;;) {
    const promises = promisesIn(value);
    if (promises.length === 0) return value;
    for (let index = 0; index < promises.length; index++) {
      const { holder, key, path, promise } = promises[index];
      const settled = await promise;
      try {
        ObjectDefineProperty(holder, key, { __proto__: null, value: settled });
      } catch {
        throw new primordials.TypeError(`${path} is a promise inside a frozen object; await it before it is returned`);
      }
    }
  }
}

async function runDefault(namespace) {
  const entry = namespace.default;
  const value = await (typeof entry === "function"
    ? FunctionPrototypeCall(entry, undefined, JSONParse(config.input))
    : entry);
  const settled = await settleInside(value);
  try {
    result = toJsonText(settled, "result", { unitsMax: config.resultBytesMax, limit: "maxResultBytes" });
  } catch (error) {
    if (error?.code !== "ELIMIT") throw error;
    isOver = true;
    emitExitSafely(ERROR);
    done(TOO_LONG, "", undefined);
  }
}

/** What is left to do after a turn. */
function whatNext() {
  if (isOver) return WAIT;
  if (loop.hasImmediates()) return hasCalls() ? SOON : AGAIN;
  if (hasDefault && result !== undefined) return hasFileCalls() ? WAIT : IDLE;
  return hasCalls() || loop.hasRefTimers() ? WAIT : IDLE;
}

/** Nothing is left that could go on by itself. */
function finish() {
  if (hasDefault && result === undefined) {
    fail(
      new primordials.Error(
        "The promise of the default export never settles: no call, timer or other work is left that could settle it",
      ),
    );
    return WAIT;
  }
  if (!isEvaluated) {
    fail(
      new primordials.Error(
        "A top-level await never settles: no call, timer or other work is left that could settle it",
      ),
    );
    return WAIT;
  }
  if (!hasDefault) {
    loop.enter(() => process.emit("beforeExit", exitCodeOf() ?? 0));
    const next = whatNext();
    if (next !== IDLE) return next;
  }
  complete();
  return WAIT;
}

let isEvaluated = false;

const driver = {
  __proto__: null,

  /** Takes over what the run was started with. */
  start(start) {
    config = start;
    startProcess(start);
    startFiles(start);
    setNetwork(start.hasNetwork);
    loop.startClock();
    seedMathRandom();
  },

  /** Exports of a built-in module; undefined if there is none of that name. */
  builtin(id) {
    const name = StringPrototypeSlice(id, 5);
    return ObjectHasOwn(builtins, name) ? builtins[name]() : undefined;
  },

  /** A module of the host: each function is a call. */
  hostModule(specifier, names) {
    const exports = { __proto__: null };
    for (let index = 0; index < names.length; index++) exports[names[index]] = hostFunction(specifier, names[index]);
    return exports;
  },

  /** What `import.meta` has besides its URL. */
  importMeta(meta, url, isMain) {
    meta.main = isMain;
    meta.resolve = function resolve(specifier) {
      const name = `${specifier}`;
      const { URL } = globalThis;
      if (RegExpPrototypeExec(/^(?:\.{0,2}\/|file:)/, name) !== null) return new URL(name, url).href;
      const bare = StringPrototypeStartsWith(name, "node:") ? StringPrototypeSlice(name, 5) : name;
      if (ObjectHasOwn(builtins, bare)) return `node:${bare}`;
      return name;
    };
  },

  /** The module is evaluated; `promise` says when all of it has run. */
  begin(promise, namespace) {
    loop.enter(() => {
      PromisePrototypeThen(
        promise,
        () => {
          isEvaluated = true;
          hasDefault = ObjectHasOwn(namespace, "default");
          if (!hasDefault) return;
          PromisePrototypeThen(runDefault(namespace), undefined, (error) => fail(error));
        },
        (error) => {
          isEvaluated = true;
          uncaught(error, false);
        },
      );
      // A module is evaluated in a microtask in Node: those that it left come before its ticks.
      runMicrotasks();
    });
    loop.processTimers();
    loop.processImmediate();
    return whatNext();
  },

  turn(kind, token, ok, value) {
    if (kind === NOTHING_LEFT) return finish();
    if (kind === ANSWER) {
      answer(token, ok, value);
    } else {
      loop.processTimers();
    }
    if (kind !== ANSWER || !hasCalls()) loop.processImmediate();
    return whatNext();
  },
};

function hostFunction(specifier, name) {
  const { [name]: made } = {
    [name](...args) {
      return new Promise((resolve, reject) => {
        const bytes = encode(args, { place: "args", bytesMax: config.callBytesMax });
        call(HOST, specifier, [name, bytes], (ok, answer) => {
          try {
            if (ok) resolve(decode(answer));
            else reject(decodeError(answer));
          } catch (error) {
            reject(error);
          }
        });
      });
    },
  };
  return made;
}

function seedMathRandom() {
  const words = new Uint32Array(256);
  const bytes = new Uint8Array(words.buffer);
  let next = words.length;
  const { random: seeded } = {
    random() {
      if (next >= words.length) {
        random(bytes);
        next = 0;
      }
      const high = words[next] >>> 5;
      const low = words[next + 1] >>> 6;
      next += 2;
      return (high * 67108864 + low) / 9007199254740992;
    },
  };
  ObjectDefineProperty(globalThis.Math, "random", {
    __proto__: null,
    configurable: true,
    enumerable: false,
    value: seeded,
    writable: true,
  });
}

prepareProcess((code) => {
  if (isOver) return;
  isOver = true;
  done(EXITED, "", code);
});
installGlobals();
loop.setUncaught(uncaught);

globalThis.__carrel_boot = (natives) => {
  boot(natives);
  natives.core.setCallbacks({ prepareStackTrace, rejection: loop.promiseReject });
  return driver;
};
