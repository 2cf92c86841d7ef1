/**
 * The process that code sees: there is none behind it but its own run.
 */

import { late } from "./late.js";
import { primordials } from "./primordials.js";
import { builtins, process, require } from "./realm.js";

const {
  Error,
  MathFloor,
  NumberIsInteger,
  ObjectDefineProperty,
  ObjectHasOwn,
  String,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  TypedArrayPrototypeSlice,
} = primordials;

const output = late("core", "output");
const memory = late("core", "memory");
const monotonic = late("core", "monotonic");

let config;
let end;

/** What `process.exitCode` says; undefined while the code has not set it. */
let exitCode;

/** `process.exitCode`, as a number if it is set. */
export function exitCodeOf() {
  return exitCode;
}

export function setExitCode(code) {
  exitCode = code;
}

function toExitCode(value, name) {
  if (value === undefined || value === null) return undefined;
  const { validateInteger } = require("internal/validators");
  if (typeof value === "string" && value !== "" && NumberIsInteger(+value)) return +value & 255;
  validateInteger(value, name);
  return value & 255;
}

function refuse(name, instead) {
  const { [name]: refused } = {
    [name]() {
      const error = new Error(`process.${name}() is not available in an isolate${instead ? `: ${instead}` : ""}`);
      error.code = "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM";
      throw error;
    },
  };
  return refused;
}

function standardStream(stream, fd) {
  const { Writable } = require("stream");
  const writable = new Writable({
    decodeStrings: false,
    write(chunk, encoding, callback) {
      if (typeof chunk === "string" && encoding !== "utf8" && encoding !== "utf-8") {
        chunk = require("buffer").Buffer.from(chunk, encoding);
      }
      output(stream, chunk);
      callback();
    },
  });
  writable.fd = fd;
  writable.isTTY = undefined;
  writable._type = "pipe";
  // As in Node, the stream of a process cannot be ended by the code.
  writable.destroySoon = writable.destroy;
  writable._destroy = (error, callback) => callback(error);
  return writable;
}

function standardInput() {
  const { Readable } = require("stream");
  const { Buffer } = require("buffer");
  const bytes = config.stdin;
  let position = 0;
  const readable = new Readable({
    read(size) {
      if (position >= bytes.length) return this.push(null);
      const piece = TypedArrayPrototypeSlice(bytes, position, position + size);
      position += piece.length;
      this.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    },
  });
  readable.fd = 0;
  readable.isTTY = undefined;
  ObjectDefineProperty(readable, "text", {
    __proto__: null,
    configurable: true,
    enumerable: false,
    value: async function text() {
      return require("stream/consumers").text(readable);
    },
    writable: true,
  });
  return readable;
}

function lazy(name, make) {
  let value;
  ObjectDefineProperty(process, name, {
    __proto__: null,
    configurable: true,
    enumerable: true,
    get() {
      value ??= make();
      return value;
    },
  });
}

function hrtime(since) {
  const now = monotonic();
  let seconds = MathFloor(now / 1000);
  let nanoseconds = MathFloor((now % 1000) * 1e6);
  if (since !== undefined) {
    const { validateArray } = require("internal/validators");
    validateArray(since, "time");
    seconds -= since[0];
    nanoseconds -= since[1];
    if (nanoseconds < 0) {
      seconds -= 1;
      nanoseconds += 1e9;
    }
  }
  return [seconds, nanoseconds];
}
hrtime.bigint = () => primordials.BigInt(MathFloor(monotonic() * 1e6));

/** Fills the process object, before there is a run. `onEnd(code)` ends it. */
export function prepareProcess(onEnd) {
  end = onEnd;
  lazy("stdout", () => standardStream(1, 1));
  lazy("stderr", () => standardStream(2, 2));
  lazy("stdin", standardInput);
  ObjectDefineProperty(process, "exitCode", {
    __proto__: null,
    configurable: true,
    enumerable: true,
    get: () => exitCode,
    set(value) {
      exitCode = toExitCode(value, "code");
    },
  });
  process.exit = function exit(code) {
    if (code !== undefined) process.exitCode = code;
    emitExit(exitCode ?? 0);
    end(exitCode ?? 0);
  };
  process.reallyExit = process.exit;
  process.cwd = () => config.cwd;
  process.chdir = refuse("chdir", "paths are relative to the `cwd` that the run was started with");
  process.umask = (mask) => {
    if (mask !== undefined) refuse("umask", "it is always 0o022")();
    return 0o022;
  };
  process.hrtime = hrtime;
  process.uptime = () => monotonic() / 1000;
  process.memoryUsage = function memoryUsage() {
    const { 0: heapUsed, 1: heapTotal, 2: arrayBuffers } = memory();
    return { rss: heapTotal + arrayBuffers, heapTotal, heapUsed, external: arrayBuffers, arrayBuffers };
  };
  process.memoryUsage.rss = () => process.memoryUsage().rss;
  process.constrainedMemory = () => config.memoryBytesMax;
  process.availableMemory = () => config.memoryBytesMax - process.memoryUsage().rss;
  process.cpuUsage = () => ({ user: MathFloor(monotonic() * 1000), system: 0 });
  process.resourceUsage = refuse("resourceUsage");
  process.getuid = process.geteuid = process.getgid = process.getegid = () => 0;
  process.getgroups = () => [0];
  process.features = { __proto__: null, inspector: false, typescript: "strip" };
  process.config = { __proto__: null, target_defaults: {}, variables: {} };
  process.allowedNodeEnvironmentFlags = new primordials.SafeSet();
  process.kill = refuse("kill", "there is no process that it could reach");
  process.abort = refuse("abort", "use process.exit()");
  process.binding = refuse("binding");
  process.dlopen = refuse("dlopen");
  process.getBuiltinModule = (id) => {
    const { validateString } = require("internal/validators");
    validateString(id, "id");
    const name = StringPrototypeStartsWith(id, "node:") ? StringPrototypeSlice(id, 5) : id;
    return ObjectHasOwn(builtins, name) ? builtins[name]() : undefined;
  };
}

/** Connects the process object with its run. */
export function startProcess(start) {
  config = start;
  process.argv = ["/usr/bin/node", start.entryPath];
  process.argv0 = "node";
  const variables = {};
  for (let index = 0; index < start.env.length; index += 2) define(variables, start.env[index], start.env[index + 1]);
  // As in Node, every value of an environment is a string.
  process.env = new primordials.Proxy(variables, {
    __proto__: null,
    defineProperty: (target, name, descriptor) =>
      primordials.ReflectDefineProperty(target, name, { ...descriptor, value: String(descriptor.value) }),
    set(target, name, value) {
      if (typeof name === "symbol") throw new primordials.TypeError("Cannot convert a Symbol value to a string");
      define(target, name, `${value}`);
      return true;
    },
  });
}

function define(target, name, value) {
  ObjectDefineProperty(target, name, { __proto__: null, configurable: true, enumerable: true, value, writable: true });
}

let hasEmittedExit = false;

/** Tells the code that the run is over. */
export function emitExit(code) {
  if (hasEmittedExit) return;
  hasEmittedExit = true;
  process.emit("exit", code);
}
