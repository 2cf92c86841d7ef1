// Code that never ends, in every way there is: its time ends it, wherever it is just then, and nothing else ends.

import { attacks, COMPLETED, CPU, ERROR, KILLED, MEMORY, MIB, TIMEOUT } from "../support/runs.mjs";

/** Each of them goes on for ever. */
const LOOPS = [
  ["a loop", "for (;;);"],
  ["a loop that catches everything", "for (;;) { try { for (;;) throw 1 } catch {} finally { continue } }"],
  ["a loop in a finally", "try { throw 1 } finally { for (;;); }"],
  ["microtasks", "const again = () => Promise.resolve().then(again); again();"],
  ["queueMicrotask", "const again = () => queueMicrotask(again); again();"],
  ["await in a loop", "for (;;) await null;"],
  ["thenables", "const t = { then(f) { f(t) } }; await t;"],
  ["nextTick", "const again = () => process.nextTick(again); again();"],
  ["setImmediate", "const again = () => setImmediate(again); again();"],
  ["a timer without delay", "const again = () => setTimeout(again, 0); again();"],
  ["an interval", "setInterval(() => {}, 0);"],
  ["a generator", "for (const _ of (function* () { for (;;) yield 1 })());"],
  ["an async generator", "for await (const _ of (async function* () { for (;;) yield 1 })());"],
  ["a regular expression", '/^(a+)+$/.test("a".repeat(40) + "b");'],
  [
    "a regular expression with references",
    '/^(.*?)\\1*?\\1*?\\1*?\\1*?\\1*?\\1*?\\1*?\\1*?\\1*?x$/.test("ab".repeat(500));',
  ],
  ["a replacement with a slow pattern", '("a".repeat(40) + "b").replace(/(?:a|a)*c/g, "");'],
  ["split with a slow pattern", '("a".repeat(40) + "b").split(/(?:a|aa)+$/);'],
  ["a comparison of sort", "for (;;) Array.from({ length: 1e5 }, (_, i) => i).sort(() => Math.random() - 0.5);"],
  ["a comparison of sort that never returns", "[2, 1].sort(() => { for (;;); });"],
  ["sort without a comparison", "const list = Array.from({ length: 1e6 }, Math.random); for (;;) list.slice().sort();"],
  ["JSON.parse of large texts", 'const text = `[${"1,".repeat(2e6)}1]`; for (;;) JSON.parse(text);'],
  ["a reviver", 'JSON.parse("[1]", () => { for (;;); });'],
  [
    "JSON.stringify of large objects",
    "const list = Array.from({ length: 1e6 }, (_, i) => i); for (;;) JSON.stringify(list);",
  ],
  ["toJSON", "JSON.stringify({ toJSON() { for (;;); } });"],
  ["a replacer", "JSON.stringify({ a: 1 }, () => { for (;;); });"],
  ["a getter", "const o = { get x() { for (;;); } }; o.x;"],
  ["a setter", "const o = { set x(v) { for (;;); } }; o.x = 1;"],
  ["a proxy", "new Proxy({}, { ownKeys() { for (;;); } }); Object.keys(new Proxy({}, { ownKeys() { for (;;); } }));"],
  ["toString", "`${{ toString() { for (;;); } }}`;"],
  ["Symbol.toPrimitive", "+{ [Symbol.toPrimitive]() { for (;;); } };"],
  ["Symbol.iterator", "[...{ [Symbol.iterator]: () => ({ next() { for (;;); } }) }];"],
  ["an empty array that is long", "Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1);"],
  ["forEach of an array that is long", "Array.prototype.forEach.call({ length: Number.MAX_SAFE_INTEGER }, () => {});"],
  ["a big integer's text", "for (;;) ((1n << 2_000_000n) - 1n).toString();"],
  ["a power of big integers", "for (;;) 7n ** 2_000_000n % 3n;"],
  ["Atomics.wait", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);"],
  ["Atomics.waitAsync", "await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value;", "unsettled"],
  ["eval", 'eval("for (;;);");'],
  ["a function from text", 'new Function("for (;;);")();'],
  [
    "WebAssembly",
    "new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 3, 64, 12, 0, 11, 11))).exports.f();",
  ],
  [
    "an event that emits itself",
    'const t = new EventTarget(); t.addEventListener("x", () => setImmediate(() => t.dispatchEvent(new Event("x")))); t.dispatchEvent(new Event("x"));',
  ],
  [
    "messages",
    "const { port1, port2 } = new MessageChannel(); port1.onmessage = () => port1.postMessage(1); port2.onmessage = () => port2.postMessage(1); port1.postMessage(1);",
  ],
  ["streams", "const s = new ReadableStream({ pull(c) { c.enqueue(1) } }); for await (const _ of s);"],
  ["inspect", 'import { inspect } from "node:util"; inspect({ [inspect.custom]() { for (;;); } });'],
  ["calls of files", 'import { statSync } from "node:fs"; for (;;) { try { statSync("/workspace") } catch {} }'],
  [
    "async calls of files",
    'import { stat } from "node:fs/promises"; for (;;) await stat("/workspace").catch(() => {});',
  ],
  ["calls of the host", 'import { twice } from "ws:test"; for (;;) await twice(1).catch(() => {});'],
  ["a host's answer that never comes", 'import { never } from "ws:test"; await never();'],
  ["console.log", 'for (;;) console.log("x");'],
  ["the exit handler", 'process.on("exit", () => { for (;;); }); process.exit(0);'],
  [
    "a handler of rejections",
    'process.on("unhandledRejection", () => { Promise.reject(1) }); Promise.reject(1); export default () => new Promise(() => {});',
  ],
  ["hashes", 'import { pbkdf2Sync } from "node:crypto"; for (;;) pbkdf2Sync("a", "b", 100_000, 32, "sha256");'],
  [
    "compression",
    'import { deflateSync } from "node:zlib"; const bytes = Buffer.alloc(4e6, "abc"); for (;;) deflateSync(bytes);',
  ],
  ["sorting by a language", "const c = new Intl.Collator('de'); for (;;) c.compare('ä'.repeat(1e5), 'a'.repeat(1e5));"],
  ["encodings", 'const text = "é".repeat(1e6); const e = new TextEncoder(); for (;;) e.encode(text);'],
  ["structured clones", "const list = Array.from({ length: 1e5 }, (_, i) => ({ i })); for (;;) structuredClone(list);"],
];

const timed = ([name, source, kind]) => [
  name,
  source,
  kind === "unsettled" ? ERROR : TIMEOUT,
  { options: { timeoutMs: 400 } },
];
attacks("timeoutMs ends", LOOPS.map(timed));

/** Where the CPU is busy all the time: by itself, or by what the host answers at once. */
const WAITING = new Set([
  "Atomics.wait",
  "Atomics.waitAsync",
  "a host's answer that never comes",
  "a timer without delay",
  "an interval",
]);
const BUSY = [
  "a loop",
  "microtasks",
  "setImmediate",
  "a regular expression",
  "a comparison of sort",
  "sort without a comparison",
  "JSON.parse of large texts",
  "JSON.stringify of large objects",
  "a big integer's text",
  "WebAssembly",
  "hashes",
  "the exit handler",
  "calls of files",
];
attacks(
  "maxCpuMs ends",
  LOOPS.filter(([name]) => BUSY.includes(name) && !WAITING.has(name)).map(([name, source]) => [name, source, CPU]),
  { limits: { maxCpuMs: 300 } },
);

const kill = { meanwhile: (handle) => handle.kill() };
attacks(
  "kill() ends",
  LOOPS.filter(([, , kind]) => kind === undefined)
    .filter((_, index) => index % 4 === 0)
    .map(([name, source]) => [name, source, KILLED, kill]),
);

const fill = "const kept = []; for (;;) kept.push([1, 2, 3]);";
attacks(
  "maxMemoryBytes ends",
  [
    ["a replacement of a regular expression", `"x".repeat(9).replace(/x/g, () => { ${fill} })`, MEMORY],
    [
      "a regular expression that finds much",
      'const text = "a".repeat(1e6); const kept = []; for (;;) kept.push(text.match(/a/g));',
      MEMORY,
    ],
    ["JSON.parse", 'const text = `[${"[{}],".repeat(5e6)}1]`; JSON.parse(text);', MEMORY],
    ["a reviver", `JSON.parse("[1]", () => { ${fill} })`, MEMORY],
    ["a comparison of sort", `[2, 1].sort(() => { ${fill} })`, MEMORY],
    [
      "sort of much",
      "const list = Array.from({ length: 3e6 }, (_, i) => `${i}`); list.sort(); const kept = []; for (;;) kept.push(list.slice().sort());",
      MEMORY,
    ],
    [
      "microtasks",
      "const kept = []; const again = () => { kept.push(new Array(1000).fill(0)); Promise.resolve().then(again) }; again();",
      MEMORY,
    ],
    [
      "nextTick",
      "const kept = []; const again = () => { kept.push(new Array(1000).fill(0)); process.nextTick(again) }; again();",
      MEMORY,
    ],
    [
      "timers",
      "const kept = []; setInterval(() => { for (let i = 0; i < 1000; i++) kept.push(new Array(100).fill(0)) }, 0);",
      MEMORY,
    ],
  ],
  { limits: { maxMemoryBytes: 64 * MIB } },
);

const deep = (call) =>
  `let name; try { ${call} } catch (error) { name = error.name } export default () => name ?? "nothing"`;
attacks("recursion", [
  ["of functions", deep("(function f() { f() })()"), COMPLETED, { value: "RangeError" }],
  [
    "that nobody catches",
    "(function f() { f() })()",
    ERROR,
    { stderr: /RangeError: Maximum call stack size exceeded/ },
  ],
  ["of catching functions", deep("(function f() { try { f() } finally { f } })()"), COMPLETED, { value: "RangeError" }],
  [
    "of async functions",
    "const f = async () => { await f() }; let name; await f().catch((error) => { name = error.name }); export default () => name",
    COMPLETED,
    { value: "RangeError" },
  ],
  ["of getters", deep("const o = { get x() { return this.x } }; o.x"), COMPLETED, { value: "RangeError" }],
  ["of toString", deep("const o = { toString() { return `${this}` } }; `${o}`"), COMPLETED, { value: "RangeError" }],
  [
    "of proxies",
    deep("let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x"),
    COMPLETED,
    { value: "RangeError" },
  ],
  [
    "of prototypes",
    deep("let p = {}; for (let i = 0; i < 1e5; i++) p = Object.create(p); p.x"),
    COMPLETED,
    { value: "nothing" },
  ],
  [
    "of a proxy that is its own prototype",
    deep("const p = new Proxy({}, {}); Object.setPrototypeOf(p, Object.create(p)); p.x"),
    COMPLETED,
    { value: (name) => ["RangeError", "TypeError"].includes(name) },
  ],
  [
    "of bound functions",
    deep("let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()"),
    COMPLETED,
    { value: (outcome) => ["RangeError", "nothing"].includes(outcome) },
  ],
  [
    "of JSON.stringify",
    deep("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)"),
    COMPLETED,
    { value: (outcome) => ["RangeError", "nothing"].includes(outcome) },
  ],
  [
    "of toJSON",
    deep("const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)"),
    COMPLETED,
    { value: "RangeError" },
  ],
  [
    "of JSON.parse",
    deep('JSON.parse("[".repeat(1e6) + "]".repeat(1e6))'),
    COMPLETED,
    { value: (name) => ["nothing", "RangeError"].includes(name) },
  ],
  [
    "of structuredClone",
    deep("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; structuredClone(o)"),
    COMPLETED,
    { value: (name) => typeof name === "string" },
  ],
  [
    "of inspect",
    `import { inspect } from "node:util"; ${deep("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; inspect(o, { depth: Infinity })")}`,
    COMPLETED,
    { value: "nothing" },
  ],
  [
    "of isDeepStrictEqual",
    `import { isDeepStrictEqual } from "node:util"; ${deep("const make = () => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o }; isDeepStrictEqual(make(), make())")}`,
    COMPLETED,
    { value: "RangeError" },
  ],
  [
    "of parentheses",
    deep('eval("(".repeat(1e5) + ")".repeat(1e5))'),
    COMPLETED,
    { value: (name) => ["RangeError", "SyntaxError"].includes(name) },
  ],
  [
    "of regular expressions",
    deep('new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("x")'),
    COMPLETED,
    { value: (name) => ["RangeError", "SyntaxError"].includes(name) },
  ],
  [
    "of flat",
    deep("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)"),
    COMPLETED,
    { value: "RangeError" },
  ],
  [
    "of concatenations that are flattened",
    deep('let s = ""; for (let i = 0; i < 1e6; i++) s = `${i % 2 ? "a" : ""}${s}b`; s.charCodeAt(5)'),
    COMPLETED,
    { value: "nothing" },
  ],
  ["of a thenable", deep("const t = { then(f) { t.then(f) } }; await t"), COMPLETED, { value: "RangeError" }],
  [
    "of events",
    'process.setMaxListeners(0); const { EventEmitter } = process.getBuiltinModule("events"); const e = new EventEmitter(); e.on("x", () => e.emit("x")); let name; try { e.emit("x") } catch (error) { name = error.name } export default () => name',
    COMPLETED,
    { value: "RangeError" },
  ],
  ["of the source", `export default ${"[".repeat(2e5)}${"]".repeat(2e5)}`, undefined, { refused: "RangeError" }],
  [
    "of causes",
    "let e = new Error('0'); for (let i = 1; i < 1e4; i++) e = new Error(`${i}`, { cause: e }); throw e;",
    ERROR,
    { stderr: /Error: 9999/ },
  ],
]);
