// Code that floods the host: with calls, output, imports, events. The host serves it within its limits, and others too.

import { attacks, COMPLETED, ERROR, MEMORY, MIB, TIMEOUT } from "../support/runs.mjs";

const files = Object.fromEntries(
  Array.from({ length: 3000 }, (_, index) => [`/workspace/m/${index}.mjs`, `export default ${index};`]),
);
/** Files that import one another, each the next. */
const chain = Object.fromEntries(
  Array.from({ length: 500 }, (_, index) => [
    `/workspace/chain/${index}.mjs`,
    index === 499 ? "export default 499;" : `export { default } from "./${index + 1}.mjs";`,
  ]),
);
/** Files that import the two next ones each: 2^40 ways through 40 files. */
const lattice = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `/workspace/lattice/${index}.mjs`,
    `${[1, 2].map((step) => (index + step < 40 ? `import "./${index + step}.mjs";` : "")).join("")} export default ${index};`,
  ]),
);

attacks("a flood of calls", [
  [
    "of files at once",
    'import { stat } from "node:fs/promises"; const all = Array.from({ length: 20_000 }, () => stat(".")); export default async () => (await Promise.all(all)).length',
    COMPLETED,
    { value: 20_000 },
  ],
  [
    "of files one after the other",
    'import { statSync } from "node:fs"; export default () => { for (let i = 0; i < 20_000; i++) statSync("."); return "done" }',
    COMPLETED,
    { value: "done" },
  ],
  [
    "that nobody waits for",
    'import { stat } from "node:fs/promises"; for (let i = 0; i < 20_000; i++) stat("."); export default () => "done"',
    COMPLETED,
    { value: "done" },
  ],
  [
    "of the host at once",
    'import { twice } from "ws:test"; const all = Array.from({ length: 5000 }, (_, i) => twice(i)); export default async () => (await Promise.all(all)).at(-1)',
    COMPLETED,
    { value: 9998 },
  ],
  [
    "that the host never answers",
    'import { never } from "ws:test"; for (let i = 0; i < 20_000; i++) never().catch(() => {}); export default () => "done"',
    COMPLETED,
    { value: "done" },
  ],
  [
    "more than are allowed",
    'import { statSync } from "node:fs"; let code; try { for (;;) statSync(".") } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: "ELIMIT", limits: { maxCapabilityCalls: 1000 } },
  ],
  [
    "with more bytes than are allowed",
    'import { echo } from "ws:test"; let code; try { for (;;) await echo("x".repeat(1e5)) } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: "ELIMIT", limits: { maxCapabilityRequestBytes: MIB } },
  ],
  [
    "with larger answers than are allowed",
    'import { readFileSync } from "node:fs"; let code; try { for (;;) readFileSync("big") } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    {
      value: "ELIMIT",
      limits: { maxCapabilityResponseBytes: 4 * MIB },
      files: { "/workspace/big": new Uint8Array(MIB) },
    },
  ],
  [
    "one larger than is allowed",
    'import { echo } from "ws:test"; let code; try { await echo("x".repeat(2e6)) } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: "ELIMIT", limits: { maxCapabilityBytes: MIB } },
  ],
  [
    "of open files",
    'import { openSync } from "node:fs"; let code; try { for (;;) openSync("f", "w") } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: (code) => code === "EMFILE" || code === "ELIMIT" },
  ],
  [
    "of file handles that nobody closes",
    'import { open } from "node:fs/promises"; let code; try { for (;;) await open("f", "w") } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: (code) => code === "EMFILE" || code === "ELIMIT" },
  ],
  [
    "of writes",
    'import { appendFile } from "node:fs/promises"; await Promise.all(Array.from({ length: 500 }, () => appendFile("f", "x".repeat(1000)))); export default () => "done"',
    COMPLETED,
    { value: "done" },
  ],
  [
    "of files that are made",
    'import { writeFileSync, readdirSync } from "node:fs"; for (let i = 0; i < 2000; i++) writeFileSync(`f${i}`, ""); export default () => readdirSync(".").filter((name) => name[0] === "f").length',
    COMPLETED,
    { value: (count) => count >= 2000 },
  ],
  [
    "of requests without a network",
    'let failed = 0; for (let i = 0; i < 2000; i++) await fetch("http://127.0.0.1/").catch(() => { failed += 1 }); export default () => failed',
    COMPLETED,
    { value: 2000 },
  ],
  [
    "of directories in directories",
    'import { mkdirSync } from "node:fs"; let code, path = "d"; try { for (;;) { mkdirSync(path); path += "/d" } } catch (error) { code = error.code } export default () => code',
    COMPLETED,
    { value: (code) => typeof code === "string", options: { timeoutMs: 20_000 } },
  ],
]);

attacks("a flood of output", [
  [
    "in lines",
    "for (let i = 0; i < 100_000; i++) console.log(i);",
    COMPLETED,
    { stdout: (text) => text.endsWith("99999\n") },
  ],
  [
    "in one write",
    'process.stdout.write("x".repeat(64 << 20));',
    COMPLETED,
    { limits: { maxMemoryBytes: 512 * MIB }, stdout: (text) => text.includes("truncated") || text.length > 0 },
  ],
  [
    "without end",
    'const line = "x".repeat(1e5); for (;;) console.log(line);',
    TIMEOUT,
    { options: { timeoutMs: 2000 } },
  ],
  [
    "on both streams",
    "for (let i = 0; i < 20_000; i++) { console.log(i); console.error(i) }",
    COMPLETED,
    { stdout: (text) => text.endsWith("19999\n"), stderr: (text) => text.endsWith("19999\n") },
  ],
  ["of empty writes", 'for (let i = 0; i < 100_000; i++) process.stdout.write("");', COMPLETED, { stdout: "" }],
  [
    "of bytes that are no text",
    "process.stdout.write(new Uint8Array(1e6).fill(255));",
    COMPLETED,
    { stdout: (text) => text.includes("\ufffd") },
  ],
  [
    "of one line",
    'for (let i = 0; i < 50_000; i++) process.stdout.write("0123456789");',
    COMPLETED,
    { stdout: (text) => text.endsWith("0123456789") },
  ],
  [
    "of one inspected object",
    "console.log(Array.from({ length: 1e5 }, (_, i) => ({ i })));",
    COMPLETED,
    { stdout: /more items/ },
  ],
  [
    "at the end",
    'process.on("exit", () => { for (let i = 0; i < 20_000; i++) console.log(i) });',
    COMPLETED,
    { stdout: (text) => text.endsWith("19999\n") },
  ],
]);

attacks("a flood of imports", [
  [
    "of files",
    "let sum = 0; for (let i = 0; i < 3000; i++) sum += (await import(`./m/${i}.mjs`)).default; export default () => sum",
    COMPLETED,
    { files, value: 4498500 },
  ],
  [
    "of files at once",
    "export default async () => (await Promise.all(Array.from({ length: 3000 }, (_, i) => import(`./m/${i}.mjs`)))).length",
    COMPLETED,
    { files, value: 3000 },
  ],
  [
    "of one file under many names",
    "let sum = 0; for (let i = 0; i < 3000; i++) sum += (await import(`./m/1.mjs?${i}`)).default; export default () => sum",
    COMPLETED,
    { files: { "/workspace/m/1.mjs": "export default 1;" }, value: 3000 },
  ],
  [
    "of files that are not there",
    "let failed = 0; for (let i = 0; i < 3000; i++) await import(`./no/${i}.mjs`).catch(() => { failed += 1 }); export default () => failed",
    COMPLETED,
    { value: 3000 },
  ],
  [
    "that nobody waits for",
    "for (let i = 0; i < 3000; i++) import(`./m/${i}.mjs`); export default () => 'done'",
    COMPLETED,
    { files, value: "done" },
  ],
  [
    "in a chain",
    'import last from "./chain/0.mjs"; export default () => last',
    COMPLETED,
    { files: chain, value: 499 },
  ],
  [
    "in a lattice",
    'import first from "./lattice/0.mjs"; export default () => first',
    COMPLETED,
    { files: lattice, value: 0 },
  ],
  [
    "of itself",
    'let depth = 0; export const go = () => import(`./self.mjs?${++depth}`); export default async () => (await import("./self.mjs")).default',
    COMPLETED,
    {
      files: {
        "/workspace/self.mjs":
          'export * from "./self.mjs"; import * as self from "./self.mjs"; export default typeof self;',
      },
      value: "object",
    },
  ],
  [
    "in the source itself",
    `${Array.from({ length: 3000 }, (_, i) => `import a${i} from "./m/${i}.mjs";`).join("")}export default () => a2999`,
    COMPLETED,
    { files, value: 2999 },
  ],
  [
    "of a very large file",
    'import text from "./big.json"; export default () => text.length',
    COMPLETED,
    { files: { "/workspace/big.json": JSON.stringify("x".repeat(8 * MIB)) }, value: 8 * MIB },
  ],
  [
    "that make one another",
    'import { writeFileSync } from "node:fs"; let i = 0; const make = () => { writeFileSync(`g${i}.mjs`, `export default ${i}`); return import(`./g${i++}.mjs`) }; let last; while (i < 300) last = (await make()).default; export default () => last',
    COMPLETED,
    { value: 299 },
  ],
]);

attacks("a flood of events", [
  [
    "timers",
    "let fired = 0; for (let i = 0; i < 100_000; i++) setTimeout(() => { fired += 1 }, i % 10); export default () => new Promise((done) => setTimeout(() => done(fired), 200))",
    COMPLETED,
    { value: 100_000 },
  ],
  [
    "timers far away",
    "for (let i = 0; i < 100_000; i++) setTimeout(() => {}, 1e9 + i); export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "timers that are taken back",
    "for (let i = 0; i < 200_000; i++) clearTimeout(setTimeout(() => {}, i)); export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "intervals that make intervals",
    "const more = () => { setInterval(more, 0); setInterval(more, 0) }; more();",
    (end) => ["timeout", "memory"].includes(end.reason),
    { options: { timeoutMs: 2000 }, limits: { maxMemoryBytes: 64 * MIB } },
  ],
  [
    "immediates",
    "let fired = 0; for (let i = 0; i < 100_000; i++) setImmediate(() => { fired += 1 }); export default () => new Promise((done) => setImmediate(() => done(fired)))",
    COMPLETED,
    { value: 100_000 },
  ],
  [
    "microtasks",
    "let fired = 0; for (let i = 0; i < 300_000; i++) queueMicrotask(() => { fired += 1 }); export default () => fired",
    COMPLETED,
    { value: 300_000 },
  ],
  [
    "ticks",
    "let fired = 0; for (let i = 0; i < 300_000; i++) process.nextTick(() => { fired += 1 }); await new Promise(setImmediate); export default () => fired",
    COMPLETED,
    { value: 300_000 },
  ],
  [
    "rejections that nobody handles",
    "for (let i = 0; i < 50_000; i++) Promise.reject(new Error(`${i}`));",
    ERROR,
    { stderr: /^Error: 0\n/ },
  ],
  [
    "rejections that are handled late",
    "const all = Array.from({ length: 50_000 }, () => Promise.reject(1)); for (const one of all) one.catch(() => {}); export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "rejections that are listened to",
    "process.on('unhandledRejection', () => {}); for (let i = 0; i < 50_000; i++) Promise.reject(1); export default () => new Promise((done) => setTimeout(done, 50, 'done'))",
    COMPLETED,
    { value: "done" },
  ],
  [
    "messages",
    "const { port1, port2 } = new MessageChannel(); let got = 0; const all = new Promise((done) => { port2.onmessage = () => { got += 1; if (got === 20_000) done(got) } }); for (let i = 0; i < 20_000; i++) port1.postMessage(i); export default () => all",
    COMPLETED,
    { value: 20_000 },
  ],
  [
    "warnings",
    "for (let i = 0; i < 2000; i++) process.emitWarning(`${i}`); export default () => new Promise((done) => setTimeout(done, 20, 'done'))",
    COMPLETED,
    { value: "done", stderr: /Warning: 1999/ },
  ],
  [
    "aborts",
    "for (let i = 0; i < 50_000; i++) { const c = new AbortController(); c.signal.addEventListener('abort', () => {}); c.abort() } export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "timeouts of signals",
    "for (let i = 0; i < 20_000; i++) AbortSignal.timeout(1e6); export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "finalizers",
    "const registry = new FinalizationRegistry(() => {}); for (let i = 0; i < 300_000; i++) registry.register({}, i); export default () => 'done'",
    (end) => end.reason === undefined || end.reason === "memory",
  ],
  [
    "async contexts",
    "const { AsyncLocalStorage } = process.getBuiltinModule('async_hooks'); const s = new AsyncLocalStorage(); for (let i = 0; i < 50_000; i++) s.run(i, () => Promise.resolve().then(() => s.getStore())); export default () => 'done'",
    COMPLETED,
    { value: "done" },
  ],
  [
    "events that memory does not hold",
    "const kept = []; setInterval(() => { for (let i = 0; i < 10_000; i++) setTimeout(() => {}, 1e6) }, 0);",
    MEMORY,
    { limits: { maxMemoryBytes: 64 * MIB } },
  ],
]);
