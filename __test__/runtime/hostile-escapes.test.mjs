// Code that looks for a way out: to the host's objects, to the executable's functions, to another process.

import { hostname, userInfo } from "node:os";
import { attacks, COMPLETED, ERROR, exited, KILLED } from "../support/runs.mjs";

/** Code that catches what a way out throws, and gives its name or code. */
const tried = (expression, before = "") =>
  `${before}\nlet out; try { out = await (${expression}) } catch (error) { out = error.code ?? error.name } export default () => out === undefined ? "undefined" : typeof out === "function" || (typeof out === "object" && out !== null) ? typeof out : out`;
const UNDEFINED = { value: "undefined" };

/** Modules of Node that have a process, a network, or an engine behind them. */
const REFUSED =
  "child_process cluster dgram dns http http2 https inspector module net repl sqlite tls trace_events tty v8 vm wasi worker_threads".split(
    " ",
  );

attacks("names that would lead out:", [
  ...[
    "__carrel_boot",
    "natives",
    "internalBinding",
    "primordials",
    "require",
    "module",
    "exports",
    "__filename",
    "__dirname",
    "Deno",
    "Bun",
    "WebSocket",
    "Worker",
  ].map((name) => [name, tried(`typeof ${name}`), COMPLETED, UNDEFINED]),
  [
    "globals of the prelude",
    "export default () => Reflect.ownKeys(globalThis).filter((key) => /carrel|native|boot|prelude|snapshot/i.test(String(key)))",
    COMPLETED,
    { value: [] },
  ],
  ["process.binding", tried("process.binding('fs')"), COMPLETED, { value: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" }],
  [
    "process.dlopen",
    tried("process.dlopen({ exports: {} }, '/lib/libc.so.6')"),
    COMPLETED,
    { value: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" },
  ],
  ["process._linkedBinding", tried("process._linkedBinding?.('fs')"), COMPLETED, UNDEFINED],
  ["process.mainModule", tried("process.mainModule"), COMPLETED, UNDEFINED],
  ["process.env", "export default () => Object.keys(process.env)", COMPLETED, { value: [] }],
  [
    "process.execPath and argv",
    "export default () => [process.argv.length, process.execArgv.length]",
    COMPLETED,
    { value: [2, 0] },
  ],
  [
    "process.kill",
    tried("process.kill(process.ppid, 'SIGKILL')"),
    COMPLETED,
    { value: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" },
  ],
  [
    "process.kill of itself",
    tried("process.kill(process.pid, 'SIGKILL')"),
    COMPLETED,
    { value: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" },
  ],
  ["process.abort", tried("process.abort()"), COMPLETED, { value: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" }],
  ["process.chdir", tried("process.chdir('/')"), COMPLETED, { value: (code) => typeof code === "string" }],
  ...[
    "_debugProcess",
    "_startProfilerIdleNotifier",
    "_rawDebug",
    "setuid",
    "setgid",
    "initgroups",
    "setSourceMapsEnabled",
    "loadEnvFile",
    "report",
    "channel",
    "send",
    "getActiveResourcesInfo",
    "_getActiveHandles",
  ].map((name) => [
    `process.${name}`,
    tried(
      `typeof process.${name} === "function" ? (() => { throw Object.assign(new Error(), { code: "callable" }) })() : undefined`,
    ),
    COMPLETED,
    { value: (found) => found === "undefined" || found === "callable" },
  ]),
  [
    "the host's names",
    'import os from "node:os"; const out = JSON.stringify([os.hostname(), os.userInfo(), os.homedir(), os.networkInterfaces(), os.tmpdir()]); export default () => out',
    COMPLETED,
    {
      value: (text) =>
        !text.includes(JSON.stringify(hostname())) && !text.includes(`"homedir":"${userInfo().homedir}"`),
    },
  ],
  ...REFUSED.map((name) => [
    `import of ${name}`,
    tried(`import("node:${name}")`),
    COMPLETED,
    { value: (code) => /^ERR_/.test(code) },
  ]),
  ...REFUSED.map((name) => [
    `getBuiltinModule of ${name}`,
    tried(`process.getBuiltinModule("${name}")`),
    COMPLETED,
    UNDEFINED,
  ]),
]);

attacks("imports that would lead out:", [
  ...[
    "/etc/passwd",
    "file:///etc/passwd",
    "../../../../etc/passwd",
    "/proc/self/environ",
    "data:text/javascript,export default 1",
    "http://127.0.0.1/x.js",
    "https://example.com/x.js",
    "blob:nodedata:1",
    "node:internal/util",
    "internal/util",
    "carrel",
    "carrel:library",
    "ws:missing",
    "file://host/x.js",
    "./%2e%2e/%2e%2e/etc/passwd",
    "\\\\server\\share",
    "C:\\windows",
    "./a%2fb.mjs",
    "constructor",
    "__proto__",
    "node:__proto__",
    "node:constructor",
    "",
  ].map((specifier) => [
    `${JSON.stringify(specifier)}`,
    tried(`import(${JSON.stringify(specifier)}).then(() => "loaded")`),
    COMPLETED,
    { value: (code) => code !== "loaded" && typeof code === "string" },
  ]),
  [
    "a specifier that is an object",
    tried("import({ toString() { return 'node:vm' } }).then(() => 'loaded')"),
    COMPLETED,
    { value: (code) => code !== "loaded" },
  ],
  [
    "a specifier that throws",
    tried("import({ toString() { throw new RangeError() } })"),
    COMPLETED,
    { value: "RangeError" },
  ],
  [
    "attributes that lie",
    tried("import('./x.json', { with: { type: 'wasm' } })"),
    COMPLETED,
    { value: (code) => typeof code === "string", files: { "/workspace/x.json": "{}" } },
  ],
  ["from eval", tried("(0, eval)('import(\"node:vm\")')"), COMPLETED, { value: (code) => /^ERR_|Error/.test(code) }],
  [
    "from new Function",
    tried("new Function('return import(\"node:vm\")')()"),
    COMPLETED,
    { value: (code) => /^ERR_|Error/.test(code) },
  ],
  [
    "from AsyncFunction",
    tried("(async () => {}).constructor('return import(\"node:vm\")')()"),
    COMPLETED,
    { value: (code) => /^ERR_|Error/.test(code) },
  ],
  [
    "from GeneratorFunction",
    tried("(function* () {}).constructor('yield import(\"node:vm\")')().next().value"),
    COMPLETED,
    { value: (code) => /^ERR_|Error/.test(code) },
  ],
  [
    "import.meta",
    "export default () => Object.keys(import.meta).sort()",
    COMPLETED,
    { value: (keys) => keys.every((key) => ["dirname", "filename", "main", "resolve", "url"].includes(key)) },
  ],
  [
    "import.meta of where it is",
    "export default () => [import.meta.dirname, import.meta.url]",
    COMPLETED,
    { value: ([dirname, url]) => dirname === "/workspace" && url.startsWith("file:///workspace/") },
  ],
  [
    "import.meta.resolve",
    tried("import.meta.resolve?.('node:vm')"),
    COMPLETED,
    { value: (value) => typeof value === "string" },
  ],
]);

/** Names of the executable's functions that no code of Node's has. */
const NATIVE = ["callSync", "setCallbacks", "errorSource", "enqueueMicrotask", "runMicrotasks", "getContinuationData"];

attacks("stacks and constructors:", [
  [
    "call sites do not show the prelude",
    `
    Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFileName(), typeof site.getThis(), typeof site.getFunction(), site.getEvalOrigin()]);
    import { twice } from "ws:test"; import fs from "node:fs";
    const seen = [];
    setTimeout(() => seen.push(...new Error().stack), 0);
    process.nextTick(() => seen.push(...new Error().stack));
    queueMicrotask(() => seen.push(...new Error().stack));
    await twice(1); seen.push(...new Error().stack);
    fs.readdirSync({ toString() { seen.push(...new Error().stack); return "." } }.toString());
    [1].map(() => seen.push(...new Error().stack));
    JSON.stringify({ toJSON() { seen.push(...new Error().stack) } });
    console.log("%s", { toString() { seen.push(...new Error().stack); return "" } });
    await new Promise((done) => setTimeout(done, 5));
    export default () => seen.filter(([name, self, f]) => (name !== null && name !== undefined && !name.startsWith("file:///workspace/")) || self !== "undefined" || f !== "undefined");`,
    COMPLETED,
    { value: [] },
  ],
  [
    "errors of the prelude do not show call sites",
    `
    Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFileName());
    import fs from "node:fs"; const seen = [];
    for (const act of [() => fs.readFileSync(1e9), () => new URL("x"), () => Buffer.alloc(-1), () => structuredClone(() => {}), () => atob("ä"), () => new AbortController().signal.throwIfAborted.call(1)]) { try { act() } catch (error) { seen.push(...[error.stack].flat()) } }
    export default () => seen.filter((name) => typeof name === "string" && name.startsWith("node:"));`,
    COMPLETED,
    { value: [] },
  ],
  [
    "functions from text see nothing of their callers",
    `
    const sloppy = new Function("seen", "const { caller } = arguments.callee; seen.push(String(caller), typeof this)");
    const seen = []; const f = new Function("f", "seen", "return function () { f(seen) }")(sloppy, seen);
    setTimeout(f, 0); process.nextTick(f); queueMicrotask(f); [1].forEach(f); new EventTarget().dispatchEvent(new Event("x"));
    const { EventEmitter } = await import("node:events"); new EventEmitter().on("x", f).emit("x");
    await new Promise((done) => setTimeout(done, 5));
    export default () => seen.filter((text) => /native|internal|primordials/.test(text) && !/\\[native code\\]/.test(text));`,
    COMPLETED,
    { value: [] },
  ],
  [
    "constructors of what the host gave",
    `
    import { echo, refuse } from "ws:test";
    const back = await echo({ list: [], map: new Map(), bytes: new Uint8Array(1), date: new Date(0) });
    const error = await refuse().catch((error) => error);
    export default () => [back, back.list, back.map, back.bytes, back.date, error, echo, echo(1), error.constructor].map((value) => value.constructor.constructor("return globalThis")() === globalThis && value instanceof Object);`,
    COMPLETED,
    { value: Array(9).fill(true) },
  ],
  [
    "errors of the host have no stack of the host",
    `
    import { refuse } from "ws:test"; import fs from "node:fs";
    const errors = [await refuse().catch((error) => error)]; try { fs.readFileSync("no") } catch (error) { errors.push(error) }
    await import("./no.mjs").catch((error) => errors.push(error));
    export default () => errors.map((error) => error.stack).filter((stack) => /__test__|node_modules|\\/work\\/|\\.rs|node:|dist\\//.test(stack));`,
    COMPLETED,
    { value: [] },
  ],
  [
    "what uncaught errors print has no path of the host",
    "import { refuse } from 'ws:test'; await refuse()",
    ERROR,
    { stderr: (text) => text.includes("refused") && !/__test__|\.mjs|dist\/|node:/.test(text) },
  ],
  [
    "the functions of the executable cannot be found",
    `
    import * as fs from "node:fs";
    // What some getters give is a promise that rejects.
    process.on("unhandledRejection", () => {});
    const names = new Set(${JSON.stringify(NATIVE)});
    const seen = new Set(), queue = [globalThis, process, fs, (await import("node:crypto")), (await import("node:zlib")), (await import("node:timers")), (await import("node:util")), (await import("ws:test")), import.meta], found = [];
    const push = (value) => { if ((typeof value === "object" && value !== null) || typeof value === "function") if (!seen.has(value)) { seen.add(value); queue.push(value) } };
    while (queue.length > 0) {
      const value = queue.pop();
      if (typeof value === "function" && names.has(value.name)) found.push(value.name);
      push(Object.getPrototypeOf(value));
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
        for (const part of [descriptor?.value, descriptor?.get, descriptor?.set]) push(part);
        if (descriptor?.get) { try { push(Reflect.get(value, key)) } catch {} }
      }
    }
    export default () => [found, seen.size > 2000];`,
    COMPLETED,
    { value: [[], true] },
  ],
  [
    "rejections show nothing of the prelude",
    "process.on('unhandledRejection', (reason, promise) => { globalThis.seen = [reason.stack, Object.keys(promise)] }); import { readFile } from 'node:fs/promises'; readFile('no'); export default async () => { await new Promise((done) => setTimeout(done, 20)); return globalThis.seen }",
    COMPLETED,
    { value: ([stack, keys]) => !/node:/.test(stack) && keys.length === 0 },
  ],
  [
    "async hooks show no resource of the prelude",
    "import { executionAsyncResource, createHook } from 'node:async_hooks'; let out; try { const seen = []; createHook({ init(_, type, __, resource) { seen.push(type) } }).enable(); await import('node:fs/promises').then((fs) => fs.readdir('.')); out = seen.length >= 0 } catch (error) { out = true } export default () => out",
    COMPLETED,
    { value: true },
  ],
  [
    "with and eval see only globals",
    tried("new Function('with (globalThis) { return typeof callSync + typeof driver + typeof config }')()"),
    COMPLETED,
    { value: "undefinedundefinedundefined" },
  ],
  [
    "a WebAssembly import is a function of the code",
    tried(
      "new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)), globalThis) instanceof WebAssembly.Instance",
    ),
    COMPLETED,
    { value: true },
  ],
]);

attacks("process.exit:", [
  ["at the top", "process.exit(3)", exited(3)],
  ["with 0", "process.exit(0)", exited(0)],
  ["without a code", "process.exit()", exited(0)],
  ["with exitCode set", "process.exitCode = 4; process.exit()", exited(4)],
  ["with a code that is no number", "process.exit('x')", ERROR],
  ["with a code that is large", "process.exit(256 + 7)", exited(7)],
  [
    "in an imported module",
    'import "./exit.mjs"; export default () => 1',
    exited(5),
    { files: { "/workspace/exit.mjs": "process.exit(5)" } },
  ],
  [
    "in a module that is imported later",
    'await import("./exit.mjs"); export default () => 1',
    exited(5),
    { files: { "/workspace/exit.mjs": "process.exit(5)" } },
  ],
  ["in the default function", "export default () => process.exit(6)", exited(6)],
  ["in an async function", "export default async () => { await null; process.exit(6) }", exited(6)],
  ["in a timer", "setTimeout(() => process.exit(7), 1); export default () => new Promise(() => {})", exited(7)],
  ["in an immediate", "setImmediate(() => process.exit(7)); export default () => new Promise(() => {})", exited(7)],
  ["in a microtask", "queueMicrotask(() => process.exit(8)); export default () => new Promise(() => {})", exited(8)],
  ["in nextTick", "process.nextTick(() => process.exit(8)); export default () => new Promise(() => {})", exited(8)],
  ["in a getter of the result", "export default () => ({ get x() { process.exit(9) } })", exited(9)],
  ["in a then of the result", "export default () => ({ then() { process.exit(9) } })", exited(9)],
  [
    "in toString of an error",
    "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { process.exit(9) } }); throw e",
    (end) => [9, 1].includes(end.exitCode),
  ],
  ["in a comparison of sort", "[2, 1].sort(() => process.exit(10))", exited(10)],
  ["in a reviver", 'JSON.parse("[1]", () => process.exit(10))', exited(10)],
  ["in a finally", "try { process.exit(11) } finally { process.exit(12) }", exited(11)],
  [
    "in a loop that catches everything",
    "for (;;) { try { process.exit(11) } catch {} finally { continue } }",
    exited(11),
  ],
  ["in a listener of exit", "process.on('exit', () => process.exit(13)); process.exit(12)", exited(13)],
  [
    "in a listener of uncaught errors",
    "process.on('uncaughtException', () => process.exit(14)); throw new Error('m')",
    exited(14),
  ],
  [
    "in a listener of rejections",
    "process.on('unhandledRejection', () => process.exit(14)); Promise.reject(1); export default () => new Promise(() => {})",
    exited(14),
  ],
  ["in beforeExit", "process.on('beforeExit', () => process.exit(15))", exited(15)],
  [
    "in a host call's answer",
    'import { twice } from "ws:test"; twice(1).then(() => process.exit(16)); export default () => new Promise(() => {})',
    exited(16),
  ],
  [
    "in a callback of a file",
    'import fs from "node:fs"; fs.stat(".", () => process.exit(16)); export default () => new Promise(() => {})',
    exited(16),
  ],
  [
    "in an argument of a host call",
    'import { echo } from "ws:test"; await echo({ get x() { process.exit(17) } })',
    exited(17),
  ],
  ["in a replacer of stringify", "JSON.stringify({ a: 1 }, () => process.exit(18))", exited(18)],
  [
    "in inspect",
    "import { inspect } from 'node:util'; console.log({ [inspect.custom]() { process.exit(18) } })",
    exited(18),
  ],
  ["in prepareStackTrace", "Error.prepareStackTrace = () => process.exit(19); new Error('m').stack", exited(19)],
  [
    "in a generator's return",
    "for (const x of (function* () { try { yield 1 } finally { process.exit(20) } })()) break;",
    exited(20),
  ],
  ["in a static block", "class A { static { process.exit(21) } }", exited(21)],
  [
    "in a finalizer",
    "export default () => { let n = 0; new FinalizationRegistry(() => process.exit(22)).register({}, 1); return n }",
    (end) => [0, 22].includes(end.exitCode),
  ],
  [
    "twice",
    "process.on('exit', () => { console.log('once') }); process.exit(23); process.exit(24)",
    exited(23),
    { stdout: "once\n" },
  ],
  ["with output before it", 'process.stdout.write("all of it"); process.exit(25)', exited(25), { stdout: "all of it" }],
  [
    "with calls under way",
    'import { never } from "ws:test"; import { writeFile } from "node:fs/promises"; never(); writeFile("f", "x"); process.exit(26)',
    exited(26),
  ],
  [
    "with promises that go on",
    "const again = () => Promise.resolve().then(again); again(); process.exit(27)",
    exited(27),
  ],
  ["through reallyExit", "process.reallyExit(28)", exited(28)],
  ["of a code that was set to an object", "process.exitCode = {};", ERROR],
  [
    "by exitCode alone",
    "process.exitCode = 29; export default () => 1",
    { status: "completed", exitCode: 29, reason: undefined },
  ],
]);

attacks("kill:", [
  ["of a run that loops", "for (;;);", KILLED, { meanwhile: (handle) => handle.kill("SIGKILL") }],
  [
    "twice at once",
    "for (;;);",
    KILLED,
    { meanwhile: (handle) => Promise.all([handle.kill(), handle.kill("SIGTERM")]) },
  ],
  [
    "of a run that listens to signals",
    "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'exit']) process.on(name, () => { for (;;); }); export default () => new Promise((done) => setTimeout(done, 1e6))",
    KILLED,
    { meanwhile: (handle) => handle.kill("SIGTERM") },
  ],
  [
    "of a run with calls under way",
    'import { never } from "ws:test"; export default () => Promise.all([never(), never(), never()])',
    KILLED,
    { meanwhile: (handle) => handle.kill() },
  ],
  [
    "of a run that writes",
    'import fs from "node:fs"; for (;;) fs.writeFileSync("f", "x".repeat(1e5))',
    KILLED,
    { meanwhile: (handle) => handle.kill() },
  ],
  ["of a run that prints", 'for (;;) console.log("x".repeat(1e4))', KILLED, { meanwhile: (handle) => handle.kill() }],
  [
    "of its process from outside",
    "for (;;);",
    { status: "failed", exitCode: 1, reason: "crashed" },
    {
      meanwhile: async (handle, workspace) => {
        const { runs } = await workspace.runtime.stats();
        process.kill(runs.find(({ id }) => id === handle.id).pid, "SIGKILL");
      },
    },
  ],
]);
