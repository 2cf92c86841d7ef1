// What the core asks of JavaScript, and what it is answered: over a core that is made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../../dist/runtime/connection.js";
import { configuredModules, connectModules } from "../../dist/runtime/modules.js";
import { decode, decodeError, encode } from "../../dist/runtime/values.js";

/** A connection with a module, and how to ask it. */
async function connect(module, options) {
  const answers = new Map();
  let upcall;
  const native = {
    runtime(configJson, given) {
      upcall = given;
      return {
        config: JSON.parse(configJson),
        answer(_run, call, isOk, bytes, json) {
          assert.ok(!answers.has(call), "answered twice");
          answers.set(call, { isOk, bytes, json });
          answers.get(`wait ${call}`)?.();
        },
        exec: async () => "run",
        close: async () => {},
      };
    },
  };
  const modules = await connectModules(configuredModules({ "ws:m": module }), {});
  const connection = new Connection({ native, config: {}, root: "/workspace", access: "read", modules, ...options });
  let calls = 0;
  const begin = (fields, bytes = null) => {
    calls += 1;
    upcall(JSON.stringify({ run: "run", call: calls, ...fields }), bytes);
    return calls;
  };
  const answer = async (call) => {
    if (!answers.has(call)) await new Promise((resolve) => answers.set(`wait ${call}`, resolve));
    return answers.get(call);
  };
  const host = (name, args) => begin({ kind: "host", module: "ws:m", function: name, deadline: 5 }, encode(args));
  return { connection, begin, answer, host, call: (name, ...args) => answer(host(name, args)), answers };
}

/** A name that makes of an object what `await` waits for. */
const THEN = "then";

/** The error of an answer. */
async function failure(answer) {
  const { isOk, bytes } = await answer;
  assert.equal(isOk, false);
  return decodeError(bytes);
}

test("a function gets one list of arguments and the context, on its module", async () => {
  let seen;
  const module = {
    f(args, context) {
      seen = { self: this, args, context };
      return new Map([[1, undefined]]);
    },
  };
  const { call } = await connect(module);
  const { isOk, bytes } = await call("f", 1, { a: 2n });
  assert.deepEqual([isOk, decode(bytes)], [true, new Map([[1, undefined]])]);
  assert.equal(seen.self, module);
  assert.deepEqual(seen.args, [1, { a: 2n }]);
  const { signal, deadline, access, callId } = seen.context;
  assert.deepEqual([signal.aborted, deadline, access, callId], [false, 5, "read", "run:1"]);
});

for (const [what, f, name, message, code] of [
  [
    "throws",
    () => {
      throw Object.assign(new RangeError("far"), { code: "E1" });
    },
    "RangeError",
    "far",
    "E1",
  ],
  ["rejects", async () => Promise.reject(new TypeError("later")), "TypeError", "later", undefined],
  [
    "throws a text",
    () => {
      throw "just so";
    },
    "Error",
    "just so",
    undefined,
  ],
  [
    "throws nothing",
    () => {
      throw undefined;
    },
    "Error",
    "undefined",
    undefined,
  ],
  [
    "throws a hostile object",
    () => {
      throw new Proxy(
        {},
        {
          get() {
            throw 1;
          },
        },
      );
    },
    "Error",
    "[object Object]",
    undefined,
  ],
  [
    "gives a function",
    () => () => {},
    "TypeError",
    "the result of f is a function, which cannot be passed on",
    "ERR_DATA_CLONE",
  ],
  [
    "gives a getter that throws",
    () => ({
      get a() {
        throw new Error("no");
      },
    }),
    "Error",
    "no",
    undefined,
  ],
  [
    "gives a thenable that throws",
    () =>
      Object.fromEntries([
        [
          THEN,
          () => {
            throw new Error("never");
          },
        ],
      ]),
    "Error",
    "never",
    undefined,
  ],
]) {
  test(`a function that ${what}`, async (t) => {
    const seen = [];
    const see = (reason) => seen.push(reason);
    process.on("unhandledRejection", see);
    t.after(() => process.off("unhandledRejection", see));
    const { call } = await connect({ f });
    const error = await failure(call("f"));
    assert.deepEqual([error.name, error.code], [name, code]);
    if (what !== "throws a hostile object") assert.equal(error.message, message);
    await new Promise(setImmediate);
    assert.deepEqual(seen, []);
  });
}

test("arguments that are no value, and functions that are not there, fail the call alone", async () => {
  const { begin, answer, call } = await connect({ f: () => 1 });
  const garbage = begin({ kind: "host", module: "ws:m", function: "f", deadline: 5 }, new Uint8Array([1, 99]));
  assert.equal((await failure(answer(garbage))).code, "EPROTO");
  for (const name of ["g", "toString", "constructor", "__proto__"]) {
    assert.equal((await failure(call(name))).code, "ENOSYS", name);
  }
  const elsewhere = begin({ kind: "host", module: "ws:n", function: "f", deadline: 5 }, encode([]));
  assert.equal((await failure(answer(elsewhere))).code, "ENOSYS");
});

test("a result that is too large is an error that names the limit", async () => {
  const { call } = await connect({ f: () => "x".repeat(1000) }, { callBytesMax: 100 });
  assert.equal((await failure(call("f"))).code, "ELIMIT");
});

test("a call that nobody waits for has its signal aborted; others do not", async () => {
  const signals = [];
  const { begin, host, answer, connection } = await connect({
    f: (_, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason.name)));
    },
  });
  const [one, two] = [host("f", []), host("f", [])];
  begin({ kind: "cancel", call: one });
  assert.equal(decode((await answer(one)).bytes), "AbortError");
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  await connection.close();
  assert.equal(decode((await answer(two)).bytes), "WorkspaceError");
});

test("the calls of a run at one time have a bound of values together, and give them back", async () => {
  let release;
  const { host, answer, call, begin } = await connect({
    wait: () =>
      new Promise((resolve) => {
        release = resolve;
      }),
    f: ([list]) => list.length,
  });
  const many = new Array(600_000).fill(null);
  const waiting = host("wait", [many]);
  assert.equal((await failure(call("f", many))).code, "ELIMIT");
  const elsewhere = begin({ kind: "host", run: "other", module: "ws:m", function: "f", deadline: 5 }, encode([many]));
  assert.equal(decode((await answer(elsewhere)).bytes), 600_000);
  release();
  await answer(waiting);
  assert.equal(decode((await call("f", many)).bytes), 600_000);
});

test("interrupt() says what it needs", async () => {
  const { call } = await connect({ f: (_, { interrupt }) => interrupt({ a: 1 }) });
  const error = await failure(call("f"));
  assert.equal(error.code, "EINVAL");
  assert.match(error.message, /no runs that can be resumed/);
});

test("types are stripped, and what cannot be is a SyntaxError with its place", async () => {
  const { begin, answer } = await connect({ f: () => 1 });
  const strip = (source) => answer(begin({ kind: "strip", path: "/workspace/a.ts" }, Buffer.from(source)));
  assert.deepEqual(await strip("let a: number = 1;"), { isOk: true, bytes: null, json: '"let a         = 1;"' });
  const { isOk, json } = await strip("enum A {}");
  assert.equal(isOk, false);
  assert.match(json, /^\["SyntaxError",null,"TypeScript enum .*\/workspace\/a\.ts:1:1\)","\/workspace\/a\.ts"\]$/);
});

test("what waits for a run is told of its end, also when that came first", async () => {
  const { connection, begin } = await connect({ f: () => 1 });
  const told = [];
  await connection.exec({}, "", null, (id) => () => told.push(id));
  begin({ kind: "end" });
  assert.deepEqual(told, ["run"]);
  begin({ kind: "end" });
  await connection.exec({}, "", null, (id) => () => told.push(`${id} again`));
  assert.deepEqual(told, ["run", "run again"]);
});

test("without a network a step of a request fails", async () => {
  const { begin, answer } = await connect({ f: () => 1 });
  const { isOk } = await answer(
    begin({ kind: "fetch", step: "request", args: [1, "GET", "https://a.example/", [], false] }),
  );
  assert.equal(isOk, false);
});

// Modules -----------------------------------------------------------------------------------------

const f = () => 1;

for (const [modules, code] of [
  [{ "ws:a": { f } }, undefined],
  [{ "ws:a.b-c_1": { delete: f, $x: f } }, undefined],
  [{ "ws:a": () => ({ f }) }, undefined],
  [{ lib: "export default 1" }, undefined],
  [{ path: "export default 1" }, undefined],
  [{ "ws:a": "text" }, "EINVAL"],
  [{ lib: { f } }, "EINVAL"],
  [{ lib: () => ({ f }) }, "EINVAL"],
  [{ "ws:": { f } }, "EINVAL"],
  [{ "ws:-a": { f } }, "EINVAL"],
  [{ "ws:a/b": { f } }, "EINVAL"],
  [{ "ws:a": {} }, "EINVAL"],
  [{ "ws:a": null }, "ERR_INVALID_ARG_TYPE"],
  [{ "ws:a": [f] }, "ERR_INVALID_ARG_TYPE"],
  [{ "ws:a": { f: 1 } }, "ERR_INVALID_ARG_TYPE"],
  [{ "ws:a": { default: f } }, "EINVAL"],
  [{ "ws:a": Object.fromEntries([[THEN, f]]) }, "EINVAL"],
  [{ "ws:a": { "a-b": f } }, "EINVAL"],
  [{ "ws:a": { é: f } }, "EINVAL"],
  [{ "node:fs": "text" }, "EINVAL"],
  [{ fs: "text" }, "EINVAL"],
  [{ "a/b": "text" }, "EINVAL"],
  [{ "..": "text" }, "EINVAL"],
  [{ "": "text" }, "EINVAL"],
  [[], "ERR_INVALID_ARG_TYPE"],
  ["text", "ERR_INVALID_ARG_TYPE"],
]) {
  const shown = JSON.stringify(modules, (_, value) => (typeof value === "function" ? `${value}` : value));
  test(`modules ${shown} are ${code ? `refused with ${code}` : "accepted"}`, () => {
    if (code) assert.throws(() => configuredModules(modules), { code });
    else configuredModules(modules);
  });
}

test("factories are called with the host, and awaited; one without functions is left out", async () => {
  const host = { runtime: {} };
  const given = [];
  const configured = configuredModules({
    "ws:one": async (of) => {
      given.push(of);
      return { f };
    },
    "ws:none": () => ({}),
    "ws:two": { g: f },
  });
  const { exports } = await connectModules(configured, host);
  assert.deepEqual(given, [host]);
  assert.deepEqual(exports, [
    { specifier: "ws:one", exports: ["f"] },
    { specifier: "ws:two", exports: ["g"] },
  ]);
});

for (const [what, factory] of [
  [
    "throws",
    () => {
      throw Object.assign(new Error("no"), { code: "EINVAL" });
    },
  ],
  ["makes a bad name", () => ({ "a b": f })],
]) {
  test(`a factory that ${what} fails the connection`, async () => {
    await assert.rejects(connectModules(configuredModules({ "ws:a": factory }), {}), { code: "EINVAL" });
  });
}
