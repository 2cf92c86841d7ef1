// Results, errors and arguments that lie: each ends as a value, or as an error with a name.

import { attacks, COMPLETED, ERROR, exited, LIMIT, MEMORY, MIB, TIMEOUT } from "../support/runs.mjs";

const result = (expression, before = "") => `${before}\nexport default async () => (${expression});`;
const short = { options: { timeoutMs: 400 } };
const DEEP = "let deep = {}; for (let i = 0; i < 100_000; i++) deep = { deep };";

attacks("a result", [
  [
    "with a getter that throws",
    result('{ get x() { throw new Error("caught you") } }'),
    ERROR,
    { stderr: /caught you/ },
  ],
  [
    "with a getter that lies",
    result("{ get x() { n += 1; return n } }", "let n = 0;"),
    COMPLETED,
    { value: ({ x }) => typeof x === "number" },
  ],
  [
    "with a getter that adds properties",
    result("o", "const o = { get x() { for (let i = 0; i < 1000; i++) o[`p${Math.random()}`] = 1; return 1 } };"),
    COMPLETED,
    { value: ({ x }) => x === 1 },
  ],
  ["with a getter that never returns", result("{ get x() { for (;;); } }"), TIMEOUT, short],
  ["with a getter that exits", result("{ get x() { process.exit(9) } }"), exited(9)],
  ["of a proxy", result("new Proxy({ a: 1 }, {})"), COMPLETED, { value: { a: 1 } }],
  [
    "of a proxy whose keys never end",
    result(
      "new Proxy({}, { ownKeys: () => Array.from({ length: 1e5 }, () => `k${n++}`), getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: make() }) })",
      "let n = 0; const make = () => new Proxy({}, { ownKeys: () => [`k${n++}`], getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: make() }) });",
    ),
    (end) => ["limit", "error", "memory", "timeout"].includes(end.reason),
    { options: { timeoutMs: 5000 } },
  ],
  [
    "of a proxy that throws",
    result("new Proxy({}, { get() { throw new TypeError('no') }, ownKeys() { throw new TypeError('no') } })"),
    ERROR,
    { stderr: /TypeError: no/ },
  ],
  [
    "of a proxy that is revoked",
    result("revoked.proxy", "const revoked = Proxy.revocable({}, {}); revoked.revoke();"),
    ERROR,
    { stderr: /TypeError/ },
  ],
  [
    "of a proxy of an array without length",
    result("new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 32 - 1 : t[k] })"),
    (end) => end.status === "failed",
    { ...short },
  ],
  [
    "of an array that is long and empty",
    result("new Array(2 ** 32 - 1)"),
    (end) => ["limit", "error", "memory"].includes(end.reason),
  ],
  [
    "with toJSON without end",
    result("{ toJSON() { return { toJSON: this.toJSON } } }"),
    (end) => end.status !== "cancelled",
  ],
  [
    "with toJSON that gives itself",
    result("o", "const o = { toJSON() { return o } };"),
    (end) => end.status !== "cancelled",
  ],
  ["with toJSON that throws nothing", result("{ toJSON() { throw undefined } }"), (end) => end.status !== "cancelled"],
  [
    "that is in itself",
    result("o", "const o = { a: [] }; o.a.push(o);"),
    ERROR,
    { stderr: /result\.a\[0\]|cycl|circular/i },
  ],
  [
    "100,000 deep",
    result("deep", DEEP),
    (end) => ["error", "limit"].includes(end.reason) || end.status === "completed",
    { stderr: (text) => text === "" || /result/.test(text) },
  ],
  [
    "of a list 100,000 deep",
    result("deep", "let deep = []; for (let i = 0; i < 100_000; i++) deep = [deep];"),
    (end) => ["error", "limit"].includes(end.reason) || end.status === "completed",
  ],
  [
    "of 64 MiB",
    result('"x".repeat(64 << 20)'),
    (end) => ["limit", "error"].includes(end.reason),
    { stderr: /maxResultBytes/ },
  ],
  [
    "of 64 MiB that becomes longer",
    result('"\\u0000".repeat(12 << 20)'),
    (end) => ["limit", "error"].includes(end.reason),
    { stderr: /maxResultBytes/ },
  ],
  ["that is longer in bytes than in characters", result('"é".repeat(12 << 20)'), LIMIT, { stderr: /maxResultBytes/ }],
  [
    "of many parts that are too long together",
    result("Array(2000).fill('x'.repeat(10_000))"),
    LIMIT,
    { stderr: /maxResultBytes/ },
  ],
  ["of 15 MiB", result('"x".repeat(15 << 20)'), COMPLETED, { value: (text) => text.length === 15 << 20 }],
  ["of half a character", result('"a\\ud800b"'), COMPLETED, { value: (text) => text.length === 3 }],
  ["of a function", result("() => 1"), ERROR, { stderr: /result/ }],
  ["of a symbol", result("Symbol('x')"), ERROR, { stderr: /result/ }],
  ["of a big integer", result("1n"), ERROR, { stderr: /result/ }],
  ["of NaN", result("NaN"), ERROR, { stderr: /result/ }],
  ["of a Date", result("new Date(0)"), ERROR, { stderr: /result/ }],
  ["of the global object", result("globalThis"), ERROR, { stderr: /result/ }],
  ["of process", result("process"), ERROR, { stderr: /result/ }],
  [
    "of the module itself",
    result("import('./self.mjs')"),
    (end) => end.status !== "cancelled",
    { files: { "/workspace/self.mjs": "export const a = 1;" } },
  ],
  ["of a promise that never settles", result("new Promise(() => {})"), ERROR, { stderr: /never settles/ }],
  ["with a promise that never settles", result("{ a: [new Promise(() => {})] }"), ERROR, { stderr: /never settles/ }],
  [
    "with a promise that a timer settles",
    result("{ a: new Promise((done) => setTimeout(done, 5, 7)) }"),
    COMPLETED,
    { value: { a: 7 } },
  ],
  [
    "with a promise that rejects",
    result("{ a: Promise.reject(new RangeError('inside')) }"),
    ERROR,
    { stderr: /RangeError: inside/ },
  ],
  [
    "with a promise in a frozen object",
    result("Object.freeze({ a: Promise.resolve(1) })"),
    ERROR,
    { stderr: /result\.a is a promise inside a frozen object/ },
  ],
  ["of a frozen promise", result("Object.freeze(Promise.resolve(5))"), COMPLETED, { value: 5 }],
  [
    "of a promise whose then lies",
    result("promise", "const promise = Promise.resolve(1); promise.then = (f) => f('lie');"),
    COMPLETED,
    { value: (value) => value === "lie" || value === 1 },
  ],
  ["of a thenable that never settles", result("{ then() {} }"), ERROR, { stderr: /never settles/ }],
  ["of a thenable that settles twice", result("{ then(f, r) { f(1); f(2); r(3); throw 4 } }"), COMPLETED, { value: 1 }],
  ["of thenables without end", result("t", "const t = { then(f) { f(t) } };"), TIMEOUT, short],
  [
    "of a then that throws when it is read",
    result("{ get then() { throw new Error('read') } }"),
    ERROR,
    { stderr: /Error: read/ },
  ],
  [
    "of promises in promises",
    result(
      "p",
      "let p = Promise.resolve(3); for (let i = 0; i < 1000; i++) p = Promise.resolve({ p }).then((o) => o.p);",
    ),
    COMPLETED,
    { value: 3 },
  ],
  [
    "with the name __proto__",
    result('JSON.parse(\'{"__proto__":{"polluted":1},"constructor":2}\')'),
    COMPLETED,
    { value: (value) => Object.hasOwn(value, "__proto__") && !("polluted" in {}) },
  ],
  [
    "of a default export that is a getter's trap",
    "const o = { get f() { return () => 8 } }; export default o.f;",
    COMPLETED,
    { value: 8 },
  ],
  ["of a class", "export default class { constructor() { this.x = 1 } }", ERROR, { stderr: /TypeError/ }],
  [
    "of a proxy as default export",
    "export default new Proxy(() => 1, { apply() { throw new Error('applied') } });",
    ERROR,
    { stderr: /applied/ },
  ],
  [
    "that changes while promises settle",
    result(
      "o",
      "const o = {}; o.a = new Promise((done) => setImmediate(() => { o.b = Promise.resolve(2); done(1) }));",
    ),
    COMPLETED,
    { value: { a: 1, b: 2 } },
  ],
  [
    "with promises without end",
    result("o", "const make = () => Promise.resolve().then(() => ({ next: make() })); const o = { next: make() };"),
    (end) => ["timeout", "memory", "error", "limit"].includes(end.reason),
    { options: { timeoutMs: 3000 } },
  ],
]);

attacks("an error", [
  ["that is undefined", "throw undefined", ERROR],
  ["that is null", "throw null", ERROR],
  ["that is a symbol", "throw Symbol('x')", ERROR, { stderr: /Symbol\(x\)/ }],
  ["that is a function", "throw () => {}", ERROR],
  [
    "that is a proxy",
    "throw new Proxy(new Error('inner'), { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })",
    ERROR,
  ],
  [
    "whose stack is a getter that throws",
    "const e = new Error('m'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
    ERROR,
  ],
  ["whose stack is no text", "const e = new Error('m'); e.stack = { toString() { throw 1 } }; throw e", ERROR],
  ["whose stack is very long", "const e = new Error('m'); e.stack = 'x'.repeat(32 << 20); throw e", ERROR],
  ["whose message is very long", "throw new Error('x'.repeat(32 << 20))", ERROR, { stderr: /x{1000}/ }],
  [
    "whose name is an object",
    "const e = new Error('m'); e.name = { toString() { for (;;); } }; throw e",
    (end) => ["error", "timeout"].includes(end.reason),
    short,
  ],
  [
    "whose message never comes",
    "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
    (end) => ["error", "timeout"].includes(end.reason),
    short,
  ],
  [
    "that inspects itself",
    "const { inspect } = process.getBuiltinModule('util'); const e = new Error('m'); e[inspect.custom] = () => { throw new Error('n') }; throw e",
    ERROR,
  ],
  [
    "that inspects itself for ever",
    "const { inspect } = process.getBuiltinModule('util'); const e = new Error('m'); e[inspect.custom] = () => { for (;;); }; throw e",
    ERROR,
  ],
  ["that is its own cause", "const e = new Error('m'); e.cause = e; throw e", ERROR, { stderr: /Error: m/ }],
  [
    "of many errors",
    "throw new AggregateError(Array.from({ length: 1e4 }, (_, i) => new Error(`${i}`)), 'all')",
    ERROR,
    { stderr: /AggregateError.*all/ },
  ],
  [
    "that has many fields",
    "throw Object.assign(new Error('m'), Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`f${i}`, 'x'.repeat(100)])))",
    ERROR,
  ],
  [
    "in a rejection that nobody handles",
    "Promise.reject(new Error('loose')); export default () => new Promise((done) => setTimeout(done, 50))",
    ERROR,
    { stderr: /Error: loose/ },
  ],
  [
    "in a timer",
    "setTimeout(() => { throw new Error('late') }); export default () => new Promise((done) => setTimeout(done, 1000))",
    ERROR,
    { stderr: /Error: late/ },
  ],
  ["in a handler of exit", "process.on('exit', () => { throw new Error('in exit') })", ERROR, { stderr: /in exit/ }],
  [
    "in a handler of exit, after another one",
    "process.on('exit', () => { throw new Error('second') }); throw new Error('first')",
    ERROR,
    { stderr: /first/ },
  ],
  [
    "in a handler of uncaught errors",
    "process.on('uncaughtException', () => { throw new Error('second') }); throw new Error('first')",
    (end) => end.reason === "error",
    { stderr: /second|first/ },
  ],
  [
    "in prepareStackTrace",
    "Error.prepareStackTrace = () => { throw new Error('prepared') }; throw new Error('m')",
    ERROR,
  ],
  [
    "with a stack limit that lies",
    "Object.defineProperty(Error, 'stackTraceLimit', { get() { throw 1 } }); throw new Error('m')",
    ERROR,
  ],
  [
    "with an endless stack limit",
    "Error.stackTraceLimit = Infinity; (function f(n) { if (n === 0) throw new Error('m'); f(n - 1) })(5000)",
    ERROR,
    { stderr: /Error: m/ },
  ],
]);

const echoed = (expression, before = "") => `import { echo } from "ws:test"; ${before}
let name; try { await echo(${expression}) } catch (error) { name = error.name } export default () => name ?? "nothing"`;
const named = (name) => typeof name === "string";
attacks("an argument of a host call", [
  [
    "with a getter that throws",
    echoed('{ get x() { throw new RangeError("x") } }'),
    COMPLETED,
    { value: "RangeError" },
  ],
  ["with a getter that never returns", echoed("{ get x() { for (;;); } }"), TIMEOUT, short],
  ["of a proxy", echoed("new Proxy({}, { ownKeys() { throw new RangeError('keys') } })"), COMPLETED, { value: named }],
  ["in itself", echoed("o", "const o = {}; o.o = o;"), COMPLETED, { value: "nothing" }],
  ["100,000 deep", echoed("deep", DEEP), COMPLETED, { value: named }],
  [
    "of a list 100,000 deep",
    echoed("deep", "let deep = []; for (let i = 0; i < 100_000; i++) deep = [deep];"),
    COMPLETED,
    { value: named },
  ],
  [
    "of a map 100,000 deep",
    echoed("deep", "let deep = new Map(); for (let i = 0; i < 100_000; i++) deep = new Map([[deep, 1]]);"),
    COMPLETED,
    { value: named },
  ],
  ["of 64 MiB", echoed('"x".repeat(64 << 20)'), COMPLETED, { value: (name) => named(name) && name !== "nothing" }],
  [
    "of 64 MiB in bytes",
    echoed("new Uint8Array(64 << 20)"),
    COMPLETED,
    { value: (name) => named(name) && name !== "nothing" },
  ],
  ["of a function", echoed("() => 1"), COMPLETED, { value: (name) => name !== "nothing" }],
  ["of a symbol", echoed("Symbol()"), COMPLETED, { value: (name) => name !== "nothing" }],
  [
    "of a detached buffer",
    echoed("bytes", "const bytes = new Uint8Array(8); structuredClone(bytes, { transfer: [bytes.buffer] });"),
    COMPLETED,
    { value: named },
  ],
  [
    "that changes while it is read",
    echoed(
      "o",
      "const list = Array.from({ length: 1000 }, (_, i) => i); const o = { get a() { list.length = 0; return 1 }, list, get b() { list.push(...'x'.repeat(1e4)); return 2 } };",
    ),
    COMPLETED,
    { value: named },
  ],
  [
    "of a resizable buffer that shrinks",
    echoed(
      "{ bytes, get x() { buffer.resize(0); return 1 } }",
      "const buffer = new ArrayBuffer(100, { maxByteLength: 1000 }); const bytes = new Uint8Array(buffer);",
    ),
    COMPLETED,
    { value: named },
  ],
  ["of shared memory", echoed("new Uint8Array(new SharedArrayBuffer(16))"), COMPLETED, { value: named }],
  [
    "of a map that grows while it is read",
    echoed("map", "const map = new Map(); map.set({ get x() { map.set({}, 1); return 1 } }, 1);"),
    COMPLETED,
    { value: named },
  ],
  [
    "with the name __proto__",
    `import { echo } from "ws:test"; const back = await echo(JSON.parse('{"__proto__":{"a":1}}')); export default () => [Object.hasOwn(back, "__proto__"), "a" in {}, "a" in back]`,
    COMPLETED,
    { value: [true, false, false] },
  ],
]);

// What the host itself makes of them is text or bytes: arguments of file calls that are something else are errors.
const file = (call) =>
  `import fs from "node:fs"; let name; try { ${call} } catch (error) { name = error.code ?? error.name } export default () => name ?? "nothing"`;
attacks("an argument of a file call", [
  [
    "that is an object",
    file("fs.readFileSync({ toString: () => '/workspace/a' })"),
    COMPLETED,
    { value: "ERR_INVALID_ARG_TYPE" },
  ],
  ["that has a NUL", file("fs.readFileSync('a\\0b')"), COMPLETED, { value: "ERR_INVALID_ARG_VALUE" }],
  [
    "that is very long",
    file("fs.readFileSync('a/'.repeat(1e6))"),
    COMPLETED,
    { value: (code) => code === "ENAMETOOLONG" || code === "ENOENT" || code === "ELIMIT" },
  ],
  [
    "that leads out",
    file("fs.readFileSync('../../../../etc/passwd')"),
    COMPLETED,
    { value: (code) => code === "EACCES" || code === "ENOENT" },
  ],
  ["that is half a character", file("fs.readFileSync('\\ud800')"), COMPLETED, { value: named }],
  ["that is no descriptor", file("fs.readSync(2 ** 31, new Uint8Array(1))"), COMPLETED, { value: named }],
  ["that was never opened", file("fs.readSync(77, new Uint8Array(1))"), COMPLETED, { value: "EBADF" }],
  [
    "of 64 MiB",
    file("fs.writeFileSync('f', 'x'.repeat(64 << 20))"),
    COMPLETED,
    { value: named, limits: { maxMemoryBytes: 512 * MIB } },
  ],
  ["at a place far out", file("fs.writeSync(fs.openSync('f', 'w'), 'x', 2 ** 52)"), COMPLETED, { value: named }],
  [
    "of a buffer that shrinks",
    file(
      "const b = new ArrayBuffer(100, { maxByteLength: 100 }); const u = new Uint8Array(b); fs.promises.writeFile('f', u); b.resize(0)",
    ),
    COMPLETED,
    { value: "nothing" },
  ],
  [
    "of all memory",
    'import fs from "node:fs"; const kept = []; for (;;) kept.push(fs.promises.writeFile("f", new Uint8Array(4e6)));',
    MEMORY,
    { limits: { maxMemoryBytes: 64 * MIB } },
  ],
]);
