// Code that takes all memory, in every way there is: the run ends, with a reason, and nothing else does.

import { attacks, COMPLETED, ERROR, MEMORY, MIB } from "../support/runs.mjs";

/** Repeats a statement for ever, in a module. */
const forever = (statement, before = "") => `${before}\nfor (;;) { ${statement} }`;
/** The same, but every error is caught, so that only the run's own end ends it. */
const stubborn = (statement, before = "") => `${before}\nfor (;;) { try { ${statement} } catch {} }`;
const keep = "const kept = [];";

// Little, so that it is over soon.
const small = { limits: { maxMemoryBytes: 32 * MIB } };

/** The least module with a memory that grows and is exported as "m", of 1 page, up to 65,536. */
const WASM = `const bytes = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 5, 6, 1, 1, 1, 128, 128, 4, 7, 5, 1, 1, 109, 2, 0);
const module = new WebAssembly.Module(bytes);`;

attacks(
  "memory: the heap",
  [
    ["arrays of numbers", forever("kept.push(new Array(1e5).fill(1.5))", keep), MEMORY],
    ["an array that grows", forever("kept.push(kept.length)", keep), MEMORY],
    ["arrays in arrays", "let nested = []; for (;;) nested = [nested, nested, [nested]];", MEMORY],
    ["objects", forever("kept.push({ a: {}, b: {}, c: [] })", keep), MEMORY],
    ["properties", forever("object[`p${i++}`] = i", "const object = {}; let i = 0;"), MEMORY],
    ["sparse arrays", forever("array[i += 1e3] = {}", "const array = []; let i = 0;"), MEMORY],
    ["strings that differ", forever("kept.push(`${i++}`.padEnd(1e4, i))", `${keep} let i = 0;`), MEMORY],
    [
      "a string that is flattened",
      forever('text += "x".repeat(1e6); text.at(-1); JSON.parse(JSON.stringify(text))', 'let text = "";'),
      MEMORY,
    ],
    [
      "concatenation",
      stubborn("text += text; kept.push(text.toUpperCase())", `${keep} let text = "é".repeat(1e5);`),
      MEMORY,
    ],
    ["joins", stubborn("kept.push(new Array(1e5).fill('ab').join('-'))", keep), MEMORY],
    ["split", stubborn("kept.push(text.split(''))", `${keep} const text = "abcdefgh".repeat(1e5);`), MEMORY],
    [
      "replacements that multiply",
      stubborn("kept.push(text.replace(/a/g, text))", `${keep} const text = "a".repeat(5000);`),
      MEMORY,
    ],
    ["maps", forever("map.set({}, {})", "const map = new Map();"), MEMORY],
    ["sets", forever("set.add(i++ + 0.5)", "const set = new Set(); let i = 0;"), MEMORY],
    [
      "weak maps whose keys live",
      forever("const key = {}; kept.push(key); map.set(key, [1, 2, 3])", `${keep} const map = new WeakMap();`),
      MEMORY,
    ],
    ["symbols", forever("kept.push(Symbol.for(`s${i++}`))", `${keep} let i = 0;`), MEMORY],
    ["closures", forever("kept.push(((a) => () => [a, kept])(i++))", `${keep} let i = 0;`), MEMORY],
    ["functions from text", forever("kept.push(new Function(`return ${i++}`))", `${keep} let i = 0;`), MEMORY],
    ["classes", forever("kept.push(class { static x = []; y() {} })", keep), MEMORY],
    [
      "regular expressions",
      stubborn("kept.push(new RegExp(`${i++}(a|b)+`)); kept.at(-1).test('ab')", `${keep} let i = 0;`),
      MEMORY,
    ],
    ["big integers", stubborn("kept.push(1n << 10_000_000n)", keep), MEMORY],
    [
      "a big integer that is squared",
      stubborn("kept.push(n * n)", `${keep} const n = (1n << 4_000_000n) - 1n;`),
      MEMORY,
    ],
    [
      "errors with long stacks",
      stubborn(
        "Error.stackTraceLimit = 1e5; kept.push((function f(n) { return n ? f(n - 1) : new Error() })(1000).stack)",
        keep,
      ),
      MEMORY,
    ],
    ["promises", forever("kept.push(new Promise(() => {}).then(() => {}))", keep), MEMORY],
    ["generators", forever("const g = (function* () { yield [] })(); g.next(); kept.push(g)", keep), MEMORY],
    ["proxies", "let p = {}; for (;;) p = new Proxy(p, { get() { return p } });", MEMORY],
    ["spread of an iterator without end", "export default () => [...(function* () { for (;;) yield {} })()]", MEMORY],
    ["Array.from a lying length", stubborn("kept.push(Array.from({ length: 1e7 }))", keep), MEMORY],
    [
      "structured clones",
      forever("kept.push(structuredClone(list))", `${keep} const list = Array.from({ length: 1e4 }, () => ({}));`),
      MEMORY,
    ],
    [
      "JSON.parse of a deep text",
      "const text = '['.repeat(5e6); for (;;) try { JSON.parse(text); } catch {}",
      MEMORY,
      { limits: {} },
    ],
    ["JSON of itself", stubborn("kept.push(JSON.parse(JSON.stringify(kept)), {})", keep), MEMORY],
    ["dates and formats", stubborn('kept.push(new Intl.DateTimeFormat("de", { dateStyle: "full" }))', keep), MEMORY],
    [
      "in a promise's callback",
      "const kept = []; export default async () => { await null; for (;;) kept.push([1, 2, 3]) }",
      MEMORY,
    ],
    [
      "in a timer",
      "const kept = []; setTimeout(() => { for (;;) kept.push([1, 2, 3]) }); export default () => new Promise(() => {})",
      MEMORY,
    ],
    ["in a comparison of sort", "const kept = []; [3, 2, 1].sort(() => { for (;;) kept.push([1, 2, 3]) })", MEMORY],
    [
      "in a getter of the result",
      "export default () => ({ get x() { const kept = []; for (;;) kept.push([1]) } })",
      MEMORY,
    ],
    [
      "in a finalizer that is written to keep it going",
      "const kept = []; try { for (;;) kept.push([1, 2, 3]) } finally { for (;;) kept.push([4]) }",
      MEMORY,
    ],
    [
      "in a handler of uncaught errors",
      'process.on("uncaughtException", () => { for (;;) kept.push([1]) }); const kept = []; throw 1',
      MEMORY,
    ],
    ["listeners", forever('process.on("exit", () => [i++])', "let i = 0; process.setMaxListeners(0);"), MEMORY],
  ],
  small,
);

attacks(
  "memory: buffers",
  [
    ["array buffers", forever("kept.push(new ArrayBuffer(1e6))", keep), MEMORY],
    ["array buffers, stubbornly", stubborn("kept.push(new ArrayBuffer(1e6))", keep), MEMORY],
    ["many small ones", stubborn("kept.push(new Uint8Array(100))", keep), MEMORY],
    ["Buffer.alloc", stubborn("kept.push(Buffer.alloc(1e6, 1))", keep), MEMORY],
    ["Buffer.allocUnsafe", stubborn("kept.push(Buffer.allocUnsafe(5000))", keep), MEMORY],
    ["Buffer.from texts", stubborn('kept.push(Buffer.from("é".repeat(1e6)))', keep), MEMORY],
    ["Buffer.concat", stubborn("all = Buffer.concat([all, all])", "let all = Buffer.alloc(1e6, 1);"), MEMORY],
    ["typed arrays of floats", stubborn("kept.push(new Float64Array(1e5).fill(1))", keep), MEMORY],
    ["shared buffers", stubborn("kept.push(new SharedArrayBuffer(1e6))", keep), MEMORY],
    [
      "resizable buffers",
      stubborn("kept.push(new ArrayBuffer(1e6, { maxByteLength: 1e7 })); kept.at(-1).resize(1e7)", keep),
      MEMORY,
    ],
    [
      "one that is resized",
      stubborn(
        "buffer.resize(buffer.byteLength + 1e6)",
        "const buffer = new ArrayBuffer(0, { maxByteLength: 2 ** 30 });",
      ),
      MEMORY,
    ],
    ["transfers", stubborn("kept.push(new ArrayBuffer(10).transfer(1e6))", keep), MEMORY],
    ["blobs", stubborn("kept.push(new Blob([new Uint8Array(1e6)]))", keep), MEMORY],
    ["encoded texts", stubborn('kept.push(new TextEncoder().encode("é".repeat(1e6)))', keep), MEMORY],
    [
      "random bytes",
      `import { randomBytes } from "node:crypto"; ${stubborn("kept.push(randomBytes(1e6))", keep)}`,
      MEMORY,
    ],
    [
      "what is decompressed",
      `import { deflateSync, inflateSync } from "node:zlib"; const bomb = deflateSync(Buffer.alloc(4e6)); ${stubborn("kept.push(inflateSync(bomb))", keep)}`,
      MEMORY,
    ],
    [
      "structured clones of buffers",
      stubborn("kept.push(structuredClone(bytes))", `${keep} const bytes = new Uint8Array(1e6);`),
      MEMORY,
    ],
    [
      "queues of messages",
      stubborn(
        "port1.postMessage(bytes)",
        "const { port1, port2 } = new MessageChannel(); const bytes = new Uint8Array(1e6);",
      ),
      MEMORY,
    ],
    [
      "streams that nobody reads",
      stubborn(
        "controller.enqueue(new Uint8Array(1e6))",
        "let controller; new ReadableStream({ start(c) { controller = c } });",
      ),
      MEMORY,
    ],
    [
      "a file that is read again and again",
      `import { readFileSync } from "node:fs"; ${stubborn('kept.push(readFileSync("big"))', keep)}`,
      MEMORY,
      { files: { "/workspace/big": new Uint8Array(4e6) } },
    ],
    [
      "texts of files",
      `import { readFileSync } from "node:fs"; ${stubborn('kept.push(readFileSync("big", "latin1"))', keep)}`,
      MEMORY,
      { files: { "/workspace/big": new Uint8Array(4e6).fill(200) } },
    ],
    [
      "calls that wait with their arguments",
      'import { never } from "ws:test"; for (;;) never(new Uint8Array(1e6));',
      MEMORY,
    ],
    [
      "answers",
      'import { echo } from "ws:test"; const kept = []; for (;;) kept.push(await echo(new Uint8Array(1e6)));',
      MEMORY,
    ],
  ],
  small,
);

attacks(
  "memory: WebAssembly",
  [
    [
      "one memory that grows",
      `${WASM} const { m } = new WebAssembly.Instance(module).exports; ${stubborn("m.grow(16); new Uint8Array(m.buffer).fill(1)")}`,
      MEMORY,
    ],
    [
      "a memory that is only set apart",
      `${WASM} const { m } = new WebAssembly.Instance(module).exports; try { for (;;) m.grow(16) } catch {} ${forever("kept.push({})", keep)}`,
      MEMORY,
    ],
    [
      "many instances",
      `${WASM} ${stubborn("const { m } = new WebAssembly.Instance(module).exports; m.grow(15); new Uint8Array(m.buffer).fill(1); kept.push(m)", keep)}`,
      MEMORY,
    ],
    ["many memories", stubborn("kept.push(new WebAssembly.Memory({ initial: 16, maximum: 65536 }))", keep), MEMORY],
    ["tables", stubborn('kept.push(new WebAssembly.Table({ element: "externref", initial: 1e5 }, {}))', keep), MEMORY],
    [
      "many modules",
      stubborn("kept.push(new WebAssembly.Instance(new WebAssembly.Module(bytes)))", `${WASM} ${keep}`),
      MEMORY,
    ],
  ],
  small,
);

// One request that is too large is an error that code can handle, as in Node.
const once = (expression) =>
  `let name; try { ${expression} } catch (error) { name = error.name } export default () => name ?? "nothing"`;
attacks("memory: too much at once is refused", [
  ["a buffer", once("new ArrayBuffer(2 ** 40)"), COMPLETED, { value: "RangeError" }],
  ["a typed array", once("new Uint8Array(2 ** 32)"), COMPLETED, { value: "RangeError" }],
  ["a Buffer", once("Buffer.alloc(2 ** 33)"), COMPLETED, { value: "RangeError" }],
  ["an uninitialized Buffer", once("Buffer.allocUnsafe(2 ** 33)"), COMPLETED, { value: "RangeError" }],
  ["a shared buffer", once("new SharedArrayBuffer(2 ** 40)"), COMPLETED, { value: "RangeError" }],
  ["a repeated text", once('"x".repeat(2 ** 30)'), COMPLETED, { value: "RangeError" }],
  ["an array", once("new Array(2 ** 32)"), COMPLETED, { value: "RangeError" }],
  ["a big integer", once("1n << (1n << 31n)"), COMPLETED, { value: "RangeError" }],
  [
    "a WebAssembly memory",
    once("new WebAssembly.Memory({ initial: 70000 })"),
    COMPLETED,
    { value: (name) => name === "TypeError" || name === "RangeError" },
  ],
  [
    "a text of a file's length",
    'import fs from "node:fs"; fs.truncateSync("/workspace/f", 2 ** 40); export default () => 1',
    ERROR,
    { files: { "/workspace/f": "" }, stderr: /E(INVAL|FBIG|LIMIT|NOSPC)/ },
  ],
]);
