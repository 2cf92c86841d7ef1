// Code that breaks everything that the prelude could use: what the prelude does afterwards is right all the same.

import { attacks, COMPLETED } from "../support/runs.mjs";

/**
 * What a run does in all its layers, in statements that use nothing that can be replaced: what is theirs, they have
 * from before.
 */
const workload = (pollution) => `
import fs from "node:fs";
import { appendFile, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { format } from "node:util";
import { createHash } from "node:crypto";
import { echo, refuse } from "ws:test";

const map = new Map([["k", [1, 2]]]);
const text = "é✓";
const bytes = new Uint8Array([1, 2, 3]);
const shown = { a: [1, "two", { b: null }], m: map, d: new Date(0), r: /x/g, s: new Set([1]), e: 1n };
const eight = async () => { await sleep(1); return 8 };
const Thrown = Error;
const bad = () => { throw new Thrown("polluted") };
const poison = (target, except) => {
  const keys = Reflect.ownKeys(target);
  const descriptorOf = Object.getOwnPropertyDescriptor, define = Object.defineProperty;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const descriptor = descriptorOf(target, key);
    if (!descriptor.configurable && !descriptor.writable) continue;
    let isKept = key === "constructor" || key === "prototype";
    for (let j = 0; j < except.length; j++) if (except[j] === key) isKept = true;
    if (isKept) continue;
    if (descriptor.get && descriptor.configurable) define(target, key, { get: bad, set: bad, configurable: true });
    else if (typeof descriptor.value === "function") define(target, key, { value: bad, configurable: descriptor.configurable, writable: true });
  }
};

${pollution}

fs.writeFileSync("a.txt", text);
const sync = fs.readFileSync("a.txt", "utf8");
await writeFile("b.txt", bytes);
await appendFile("b.txt", "more");
const later = await readFile("b.txt", "latin1");
const { size } = await stat("b.txt");
const names = await readdir(".");
let code;
try { fs.readFileSync("missing") } catch (error) { code = error.code }
let refused;
try { await refuse() } catch (error) { refused = error.message }
await sleep(1);
const back = await echo({ map, bytes, text, nested: { list: [1, [2]] } });
const path = join("x", "..", "y");
const formatted = format("%s %d %j", "a", 1, { b: 2 });
const hash = createHash("sha256").update("x").digest("hex");
console.log("%s is %d", "text", 42, shown);
console.error("to stderr");
process.stdout.write("written\\n");
await null;
setTimeout(() => console.log("from a timer"), 1);
await sleep(5);
export default () => ({ sync, later, size, first: names[0], second: names[1], code, refused, path, formatted, hash,
  text: back.text, byte: back.bytes[2], nested: back.nested.list[1][0], promise: eight() });
`;

const right = {
  value: {
    sync: "é✓",
    later: "\u0001\u0002\u0003more",
    size: 7,
    first: "a.txt",
    second: "b.txt",
    code: "ENOENT",
    refused: "refused",
    path: "y",
    formatted: 'a 1 {"b":2}',
    hash: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    text: "é✓",
    byte: 3,
    nested: 2,
    promise: 8,
  },
  stdout: `text is 42 {
  a: [ 1, 'two', { b: null } ],
  m: Map(1) { 'k' => [ 1, 2 ] },
  d: 1970-01-01T00:00:00.000Z,
  r: /x/g,
  s: Set(1) { 1 },
  e: 1n
}
written
from a timer
`,
  stderr: "to stderr\n",
};

/** All of an object's own functions and accessors throw, but those that are named. */
const all = (target, ...except) => `poison(${target}, ${JSON.stringify(except)});`;
/** \`Object.prototype\` has a property that throws when it is used. */
const trap = (...names) =>
  names
    .map(
      (name) =>
        `Object.defineProperty(Object.prototype, ${JSON.stringify(name)}, { get: bad, set: bad, configurable: true });`,
    )
    .join("\n");
/** \`Object.prototype\` has a property that lies. */
const lie = (name, value) => `Object.prototype[${JSON.stringify(name)}] = ${value};`;

attacks(
  "pollution of",
  [
    ["nothing", ""],
    ["Array.prototype[Symbol.iterator] that lies", "Array.prototype[Symbol.iterator] = function* () { yield 'lie' };"],
    ["the prototype of iterators", all("Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))")],
    ["the prototype of array iterators", all("Object.getPrototypeOf([][Symbol.iterator]())")],
    ["the prototype of generators", all("Object.getPrototypeOf(function* () {}.prototype)")],
    ["the prototype of async generators", all("Object.getPrototypeOf(async function* () {}.prototype)")],
    ["Array", all("Array")],
    [
      "Array[Symbol.species]",
      "Object.defineProperty(Array, Symbol.species, { get: bad }); class A extends Array {} Object.defineProperty(Array.prototype, 'constructor', { get: bad });",
    ],
    ["String.prototype", all("String.prototype")],
    [
      "String.prototype that lies",
      "for (const key of ['slice', 'split', 'replace', 'startsWith', 'indexOf', 'charCodeAt', 'trim', 'toString']) String.prototype[key] = () => 'lie';",
    ],
    ["String", all("String")],
    [
      "RegExp.prototype.exec that lies",
      "RegExp.prototype.exec = () => null; RegExp.prototype[Symbol.replace] = () => 'lie';",
    ],
    ["WeakMap.prototype", all("WeakMap.prototype")],
    [
      "WeakSet.prototype and WeakRef.prototype",
      `${all("WeakSet.prototype")} ${all("WeakRef.prototype")} ${all("FinalizationRegistry.prototype")}`,
    ],
    ["Promise.prototype", all("Promise.prototype")],
    ["Promise.prototype.then that lies", "Promise.prototype.then = (f) => f('lie');"],
    ["Function.prototype", all("Function.prototype")],
    [
      "Function.prototype.call and apply that lie",
      "Function.prototype.call = () => 'lie'; Function.prototype.apply = () => 'lie'; Function.prototype.bind = () => () => 'lie';",
    ],
    ["Object", all("Object")],
    ["Object.prototype", all("Object.prototype", "__proto__")],
    ["Object.prototype.__proto__", "Object.defineProperty(Object.prototype, '__proto__', { get: bad, set: bad });"],
    ["a value of descriptors", trap("value")],
    ["options that lie", `${lie("flag", "'a'")} ${lie("recursive", "true")}`],
    ["names of iterators", trap("next", "return", "done", "throw")],
    ["names of errors", trap("code", "errno", "syscall", "path", "dest", "cause", "stack", "info")],
    ["names of arrays", trap("length", "index", "input", "groups", "raw")],
    ["toJSON of values", "String.prototype.toJSON = Number.prototype.toJSON = BigInt.prototype.toJSON = () => 'lie';"],
    [
      "texts of objects",
      "Object.prototype.toString = Object.prototype.valueOf = Object.prototype.toLocaleString = bad;",
    ],
    ["Symbol", all("Symbol")],
    ["Symbol.prototype", all("Symbol.prototype")],
    ["Reflect", all("Reflect")],
    ["JSON", all("JSON")],
    ["Math", all("Math")],
    ["Number", `${all("Number")} ${all("Number.prototype")}`],
    ["BigInt", `${all("BigInt")} ${all("BigInt.prototype")}`],
    ["Boolean.prototype", all("Boolean.prototype")],
    ["Date", `${all("Date")} ${all("Date.prototype")}`],
    ["Error", `${all("Error")} ${all("Error.prototype")}`],
    ["Error.prepareStackTrace", "Error.prepareStackTrace = bad; Error.stackTraceLimit = 0;"],
    [
      "errors of kinds",
      `${all("TypeError.prototype")} ${all("RangeError.prototype")} ${all("AggregateError.prototype")} globalThis.TypeError = globalThis.RangeError = globalThis.Error = bad;`,
    ],
    ["ArrayBuffer", `${all("ArrayBuffer")} ${all("ArrayBuffer.prototype")}`],
    [
      "Uint8Array[Symbol.species]",
      "Object.defineProperty(Object.getPrototypeOf(Uint8Array), Symbol.species, { get: bad });",
    ],
    ["DataView.prototype", all("DataView.prototype")],
    ["Atomics", all("Atomics")],
    ["Proxy and WebAssembly", `${all("Proxy")} ${all("WebAssembly")} globalThis.Proxy = bad;`],
    ["Intl", `${all("Intl.Collator.prototype")} ${all("Intl")}`],
    [
      "globals",
      "for (const name of ['Array', 'Object', 'Map', 'Set', 'Promise', 'Uint8Array', 'ArrayBuffer', 'JSON', 'Reflect', 'Symbol', 'String', 'Number', 'RegExp', 'Function', 'BigInt', 'TextEncoder', 'TextDecoder', 'AbortController', 'EventTarget', 'queueMicrotask', 'URL']) globalThis[name] = bad;",
    ],
    [
      "functions of globalThis",
      "globalThis.setImmediate = globalThis.clearTimeout = globalThis.setInterval = globalThis.structuredClone = globalThis.queueMicrotask = bad;",
    ],
    ["console of V8", "delete console.profile; console._stdout = undefined;"],
    ["encoders", `${all("TextEncoder.prototype")} ${all("TextDecoder.prototype")}`],
    [
      "EventTarget and AbortSignal",
      `${all("EventTarget.prototype")} ${all("AbortSignal.prototype")} ${all("AbortController.prototype")}`,
    ],
    [
      "all prototypes frozen",
      "for (const name of Reflect.ownKeys(globalThis)) { const value = typeof name === 'string' && /^[A-Z]/.test(name) ? globalThis[name] : undefined; if (typeof value === 'function' && value.prototype) Object.freeze(value.prototype); } Object.freeze(Object); Object.freeze(Reflect);",
    ],
  ].map(([name, pollution]) => [name, workload(pollution), COMPLETED, right]),
);

// Node's library itself uses what is broken here, and does in Node, too: the code gets what it has made of it, and
// nobody else does.
attacks(
  "pollution that Node does not stand either, of",
  [
    ["Array.prototype", all("Array.prototype")],
    ["Array.prototype.push that lies", "Array.prototype.push = function () { return 0 };"],
    [
      "indexes of Array.prototype",
      "for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { get: bad, set: bad, configurable: true });",
    ],
    [
      "indexes of Object.prototype",
      "for (let i = 0; i < 20; i++) Object.defineProperty(Object.prototype, i, { get: bad, set: bad, configurable: true });",
    ],
    ["RegExp.prototype", all("RegExp.prototype")],
    ["Map.prototype", all("Map.prototype")],
    ["Set.prototype", all("Set.prototype")],
    ["Promise", all("Promise")],
    ["Promise[Symbol.species]", "Object.defineProperty(Promise, Symbol.species, { get: bad });"],
    ["names of descriptors", trap("get", "set", "writable", "configurable", "enumerable")],
    [
      "names of options",
      trap(
        "encoding",
        "flag",
        "mode",
        "signal",
        "recursive",
        "flush",
        "withFileTypes",
        "bigint",
        "start",
        "end",
        "highWaterMark",
        "depth",
        "colors",
        "ref",
      ),
    ],
    [
      "names of calls",
      trap(
        "id",
        "ok",
        "token",
        "kind",
        "resolve",
        "reject",
        "settle",
        "promise",
        "callback",
        "answer",
        "fill",
        "domain",
        "_idleNext",
        "_onTimeout",
      ),
    ],
    [
      "typed arrays",
      `${all("Object.getPrototypeOf(Uint8Array)")} ${all("Object.getPrototypeOf(Uint8Array.prototype)")} ${all("Uint8Array.prototype")} ${all("Float64Array.prototype")}`,
    ],
    [
      "process",
      "process.nextTick = process.emitWarning = process.cwd = process.exit = process.emit = process.on = process.hrtime = bad;",
    ],
    ["Buffer", `poison(Buffer, []); globalThis.Buffer = bad;`],
  ].map(([name, pollution]) => [name, workload(pollution), ({ reason }) => reason === undefined || reason === "error"]),
);
