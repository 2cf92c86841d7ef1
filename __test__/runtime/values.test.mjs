// Values as bytes, against structuredClone and against bytes that nobody made; and strict JSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { decode, decodeError, encode, encodeError, toJsonText, VALUES_MAX } from "../../dist/runtime/values.js";

const SEED = 20_261_130;

const through = (value) => decode(encode(value));

/** The error that `work` throws, as `name code: message`. */
function thrown(work) {
  try {
    work();
  } catch (error) {
    return `${error.name} ${error.code}: ${error.message}`;
  }
  return assert.fail("nothing was thrown");
}

/** Any value that crosses, made of parts that may be shared and contain each other. */
const scalar = fc.oneof(
  fc.constantFrom(undefined, null, true, false, Number.NaN, -0, Infinity, -Infinity, 2 ** 31, -(2 ** 31), 2 ** 53),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
);
const leaf = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.date({ noInvalidDate: false }),
  fc.uint8Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
  fc.int16Array().map(({ buffer }) => buffer),
  fc.uint8Array({ minLength: 2 }).map(({ buffer }) => new DataView(buffer, 0)),
  fc.constantFrom(/a\/b/giu, /(?<n>.)\n/s),
);
const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "then", "0", ""));
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, tie("array"), tie("object"), tie("map"), tie("set")),
  array: fc.array(tie("value"), { maxLength: 6 }),
  object: fc.array(fc.tuple(key, tie("value")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  map: fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
  set: fc.array(tie("value"), { maxLength: 5 }).map((items) => new Set(items)),
})).value;

test("what crosses is what structuredClone makes", () => {
  fc.assert(
    fc.property(value, (original) => {
      assert.deepStrictEqual(through(original), structuredClone(original));
    }),
    { seed: SEED, numRuns: 3000 },
  );
});

test("shared parts stay shared, and cycles close", () => {
  fc.assert(
    fc.property(value, value, (one, two) => {
      const root = { one, list: [one, two, one], map: new Map([[one, two]]) };
      root.self = root;
      root.list.push(root.list, root.map);
      const clone = through(root);
      assert.equal(clone.self, clone);
      assert.equal(clone.list[3], clone.list);
      assert.equal(clone.list[4], clone.map);
      assert.ok(Object.is(clone.list[0], clone.one));
      assert.ok(Object.is(clone.list[2], clone.one));
      assert.ok(Object.is([...clone.map.keys()][0], clone.one));
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test("holes become undefined, a Buffer a Uint8Array, a view only what it shows", () => {
  // biome-ignore lint/suspicious/noSparseArray: the hole is what this is about.
  assert.deepStrictEqual(through([1, , 2]), [1, undefined, 2]);
  const bytes = through(Buffer.from("abc").subarray(1));
  assert.equal(Object.getPrototypeOf(bytes), Uint8Array.prototype);
  assert.deepStrictEqual([bytes, bytes.buffer.byteLength], [new Uint8Array([98, 99]), 2]);
});

test("an object without prototype crosses as a plain one; an own __proto__ stays data", () => {
  const original = Object.assign(Object.create(null), { a: 1 });
  Object.defineProperty(original, "__proto__", { value: { polluted: true }, enumerable: true });
  const clone = through(original);
  assert.equal(Object.getPrototypeOf(clone), Object.prototype);
  assert.deepStrictEqual(Object.keys(clone), ["a", "__proto__"]);
  assert.equal(clone.polluted, undefined);
});

test("values of another realm cross", () => {
  const foreign = runInContext(
    "({ list: [1], map: new Map([[1, 2]]), date: new Date(5), bytes: new Uint8Array([1]), error: new TypeError('no') })",
    createContext({}),
  );
  const { error, ...rest } = through(foreign);
  assert.deepStrictEqual(rest, { list: [1], map: new Map([[1, 2]]), date: new Date(5), bytes: new Uint8Array([1]) });
  assert.ok(error instanceof TypeError);
});

test("depth has no bound of its own", () => {
  let deep = [];
  for (let depth = 0; depth < 100_000; depth += 1) deep = depth % 2 ? [deep] : { deep };
  let clone = through(deep);
  for (let depth = 99_999; depth >= 0; depth -= 1) clone = depth % 2 ? clone[0] : clone.deep;
  assert.deepStrictEqual(clone, []);
});

class Foo {}

for (const [original, want] of [
  [[{ a: { b() {} } }], "args[0].a.b is a function, which cannot be passed on"],
  [[1, Symbol("s")], "args[1] is a symbol, which cannot be passed on"],
  [{ "a b": new WeakMap() }, 'args["a b"] is an instance of WeakMap, which cannot be passed on'],
  [new Map([[1, Promise.resolve()]]), "args<value 0> is an instance of Promise, which cannot be passed on"],
  [new Map([[new Foo(), 1]]), "args<key 0> is an instance of Foo, which cannot be passed on"],
  [new Set([1, new Foo()]), "args<item 1> is an instance of Foo, which cannot be passed on"],
  [new Proxy(new Map(), {}), "args is an instance of Map, which cannot be passed on"],
  [new (class {})(), "args is an object of a class, which cannot be passed on"],
  [Object.create({ inherited: { a() {} } }), undefined],
  [new String("boxed"), "args is an instance of String, which cannot be passed on"],
]) {
  test(`refused by place: ${want ?? "an object over a plain one is not of a class that is known"}`, () => {
    if (want === undefined)
      return assert.match(
        thrown(() => encode(original)),
        /ERR_DATA_CLONE/,
      );
    assert.equal(
      thrown(() => encode(original, { place: "args" })),
      `TypeError ERR_DATA_CLONE: ${want}`,
    );
  });
}

test("the place of something deep leaves out the middle", () => {
  let deep = { f() {} };
  for (let depth = 0; depth < 100_000; depth += 1) deep = { a: deep };
  const message = thrown(() => encode(deep));
  assert.ok(message.length < 300, message);
  assert.match(message, /value\.a\.a.*… \(\d+ more\) ….*\.f is a function/);
});

test("limits are named", () => {
  assert.match(
    thrown(() => encode("x".repeat(1000), { bytesMax: 100 })),
    /^RangeError ELIMIT: .*100 bytes/,
  );
  assert.match(
    thrown(() => encode(new Uint8Array(1000), { bytesMax: 100 })),
    /^RangeError ELIMIT/,
  );
  const sparse = [];
  sparse.length = 2 ** 32 - 1;
  assert.match(
    thrown(() => encode(sparse)),
    new RegExp(`^RangeError ELIMIT: .*${VALUES_MAX} values`),
  );
});

test("a getter runs once; what it throws comes out, and so does what a proxy throws", () => {
  let runs = 0;
  const clone = through({
    get a() {
      runs += 1;
      return runs;
    },
  });
  assert.deepStrictEqual([clone, runs], [{ a: 1 }, 1]);
  for (const trap of ["getPrototypeOf", "ownKeys", "get", "getOwnPropertyDescriptor"]) {
    const hostile = new Proxy(
      { a: 1 },
      {
        [trap]() {
          throw new Error(trap);
        },
      },
    );
    assert.equal(
      thrown(() => encode({ hostile })),
      `Error undefined: ${trap}`,
    );
  }
});

// Errors ------------------------------------------------------------------------------------------

test("an error keeps what can cross, and never its stack", () => {
  const error = new RangeError("too far", { cause: new Error("why") });
  Object.assign(error, { code: "EFAR", data: { list: [1n] }, bad: { deep: { f() {} } }, stack: "/home/secret" });
  error.again = error.data;
  error.self = error;
  const clone = decodeError(encodeError(error));
  assert.ok(clone instanceof RangeError);
  assert.equal(clone.message, "too far");
  assert.equal(clone.cause.message, "why");
  assert.deepStrictEqual(Object.keys(clone), ["code", "data", "again", "self"]);
  assert.deepStrictEqual(clone.data, { list: [1n] });
  assert.equal(clone.again, clone.data);
  assert.equal(clone.self, clone);
  assert.ok(!clone.stack.includes("secret"));
});

for (const [what, value, name, message, code] of [
  [
    "a class of its own",
    new (class MyError extends Error {
      name = "MyError";
      code = "E1";
    })("m"),
    "MyError",
    "m",
    "E1",
  ],
  ["an abort", new DOMException("gone", "AbortError"), "AbortError", "gone", undefined],
  ["a text", "just so", "Error", "just so", undefined],
  ["nothing", undefined, "Error", "undefined", undefined],
  ["a symbol", Symbol("s"), "Error", "Symbol(s)", undefined],
  ["an object with a message", { message: "m", code: "C", path: "/p" }, "Error", "m", "C"],
  ["an object that cannot be text", Object.create(null), "Error", "an object of a class", undefined],
  [
    "an error with a hostile message",
    Object.defineProperty(new Error(), "message", {
      get() {
        throw 1;
      },
    }),
    "Error",
    "",
    undefined,
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        get() {
          throw 1;
        },
        getPrototypeOf() {
          throw 1;
        },
      },
    ),
    "Error",
    "an object of a class",
    undefined,
  ],
  ["too much", Object.assign(new Error("m"), { code: "C", data: new Uint8Array(17 * 1024 * 1024) }), "Error", "m", "C"],
]) {
  test(`thrown: ${what}`, () => {
    const clone = decodeError(encodeError(value));
    assert.deepStrictEqual([clone.name, clone.message, clone.code], [name, message, code]);
    assert.ok(clone instanceof Error);
  });
}

test("an error of the core comes as its name, code and message", () => {
  const error = decodeError(["Error", "ETIMEDOUT", "ETIMEDOUT: too long"]);
  assert.deepStrictEqual([error.name, error.code, error.message], ["Error", "ETIMEDOUT", "ETIMEDOUT: too long"]);
  assert.throws(() => decodeError(encode("text")), { code: "EPROTO" });
});

test("an AggregateError keeps its errors", () => {
  const clone = decodeError(encodeError(new AggregateError([new TypeError("a"), 1], "m")));
  assert.deepStrictEqual([clone.name, clone.errors[0].message, clone.errors[1]], ["AggregateError", "a", 1]);
});

test("a chain of 10,000 causes crosses", () => {
  let error = new Error("last");
  for (let depth = 0; depth < 10_000; depth += 1) error = new Error("m", { cause: error });
  let clone = decodeError(encodeError(error));
  while (clone.cause) clone = clone.cause;
  assert.equal(clone.message, "last");
});

// Bytes that are no value -------------------------------------------------------------------------

/** Decoding ends, with a value or with an error that says that it is none. */
function decodes(bytes) {
  try {
    decode(bytes);
  } catch (error) {
    assert.ok(["EPROTO", "ELIMIT"].includes(error.code), error.stack);
  }
}

test("any bytes decode to something or to an error", () => {
  const seed = { seed: SEED, numRuns: 20_000 };
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }).map((tail) => new Uint8Array([1, ...tail])),
      decodes,
    ),
    seed,
  );
});

test("an encoding with bytes changed, cut or added decodes to something or to an error", () => {
  const change = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(value, fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(), (original, changes, cut) => {
      const bytes = encode(original);
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      decodes(bytes);
      decodes(bytes.subarray(0, cut % bytes.length));
      assert.throws(() => decode(new Uint8Array([...encode(original), 0])), { code: "EPROTO" });
    }),
    { seed: SEED, numRuns: 3000 },
  );
});

test("a length that is not there takes no memory", () => {
  for (const kind of [8, 9, 10, 11, 12, 13, 18]) {
    assert.throws(() => decode(new Uint8Array([1, kind, 0xff, 0xff, 0xff, 0xff, 0x0f])), { code: "EPROTO" });
  }
});

test("more values than may be are refused", () => {
  const list = new Uint8Array(VALUES_MAX + 20);
  // A list of many nothings, one more than may be.
  const count = [];
  for (let rest = VALUES_MAX + 1; ; rest = Math.floor(rest / 128)) {
    count.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) break;
  }
  list.set([1, 10, ...count]);
  assert.throws(() => decode(list.subarray(0, 2 + count.length + VALUES_MAX + 1)), { code: "ELIMIT" });
});

test("decoding takes from a budget", () => {
  const budget = { left: 10 };
  decode(encode([1, { a: 1, b: new Map([[1, 2]]) }]), budget);
  assert.equal(budget.left, 4);
  assert.throws(() => decode(encode([1, 2, 3, 4, 5]), budget), { code: "ELIMIT" });
});

// Code that changes prototypes --------------------------------------------------------------------

test("what code does to prototypes later changes nothing", async () => {
  const { readFile } = await import("node:fs/promises");
  const source = await readFile(new URL("../../dist/runtime/values.js", import.meta.url), "utf8");
  const script = source.replaceAll(/^export /gm, "");
  const result = runInContext(
    `${script};
    const original = { list: [1, "a€"], map: new Map([[{ k: 1 }, new Set([2])]]), date: new Date(7), bytes: new Uint8Array([1, 2]), big: 12n, error: Object.assign(new TypeError("t"), { code: "C" }) };
    const evil = () => { throw new Error("replaced"); };
    const targets = [Array, Map, Set, Date, RegExp, String, BigInt, Uint8Array, Object.getPrototypeOf(Uint8Array), DataView, ArrayBuffer, Function, Error]
      .flatMap(({ prototype }) => Reflect.ownKeys(prototype).map((name) => ({ prototype, name, found: Object.getOwnPropertyDescriptor(prototype, name) })))
      .filter(({ name, found }) => name !== "constructor" && found.configurable && (found.get || typeof found.value === "function"));
    for (let at = 0; at < targets.length; at += 1) {
      const { prototype, name, found } = targets[at];
      defineProperty(prototype, name, found.get ? { get: evil } : { value: evil });
    }
    Object.defineProperty(Object.prototype, "code", { get: evil, set: evil, configurable: true });
    Object.defineProperty(Array.prototype, "0", { set: evil, get: evil, configurable: true });
    const bytes = encode(original, { place: "x" });
    const text = toJsonText({ a: [1, "b"] }, "x");
    let refusal;
    try { encode([() => {}], { place: "x" }); } catch (error) { refusal = error.message; }
    delete Array.prototype[0];
    delete Object.prototype.code;
    ({ bytes, text, refusal, decoded: decode(bytes) })`,
    createContext({}),
  );
  assert.equal(result.text, '{"a":[1,"b"]}');
  assert.equal(result.refusal, "x[0] is a function, which cannot be passed on");
  const { error, ...rest } = decode(Uint8Array.from({ ...result.bytes, length: Object.keys(result.bytes).length }));
  assert.deepStrictEqual(rest, {
    list: [1, "a€"],
    map: new Map([[{ k: 1 }, new Set([2])]]),
    date: new Date(7),
    bytes: new Uint8Array([1, 2]),
    big: 12n,
  });
  assert.equal(error.code, "C");
  assert.deepStrictEqual(Object.keys(result.decoded), ["list", "map", "date", "bytes", "big", "error"]);
});

// JSON --------------------------------------------------------------------------------------------

test("what is JSON is written as JSON.stringify writes it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (original) => {
      const plain = JSON.parse(JSON.stringify(original));
      assert.equal(toJsonText(plain, "input"), JSON.stringify(plain));
    }),
    { seed: SEED, numRuns: 2000 },
  );
});

test("nothing is null, and fields without value are left out", () => {
  assert.equal(toJsonText(undefined, "result"), "null");
  assert.ok(Object.is(JSON.parse(toJsonText({ a: [-0] }, "result")).a[0], -0));
  assert.equal(toJsonText({ a: undefined, b: [{ c: undefined }] }, "result"), '{"b":[{}]}');
});

const cycle = { list: [] };
cycle.list.push(cycle);

for (const [original, want] of [
  [Number.NaN, "input is NaN"],
  [{ a: [Infinity] }, "input.a[0] is Infinity"],
  [[undefined], "input[0] is undefined"],
  [{ a: 1n }, "input.a is a bigint"],
  [{ a: { b: new Date(0) } }, "input.a.b is an instance of Date"],
  [[new Map()], "input[0] is an instance of Map"],
  [{ a: new Uint8Array(1) }, "input.a is an instance of Uint8Array"],
  [{ toJSON() {} }, "input.toJSON is a function"],
  [[Symbol("s")], "input[0] is a symbol"],
  [Promise.resolve(1), "input is an instance of Promise"],
  [new Foo(), "input is an instance of Foo"],
  [cycle, "input.list[0] is a reference to what contains it"],
]) {
  test(`no JSON: ${want}`, () => {
    assert.equal(
      thrown(() => toJsonText(original, "input")),
      `TypeError ERR_DATA_CLONE: ${want}, which is no JSON`,
    );
  });
}

test("a part may be there twice, depth has no bound, and too much is an error with its limit", () => {
  const part = { a: 1 };
  assert.equal(toJsonText([part, part], "input"), '[{"a":1},{"a":1}]');
  let deep = [];
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  assert.equal(toJsonText(deep, "input").length, 200_002);
  let wide = [1, 1];
  for (let depth = 0; depth < 60; depth += 1) wide = [wide, wide];
  assert.match(
    thrown(() => toJsonText(wide, "result", { unitsMax: 10_000, limit: "maxResultBytes" })),
    /^RangeError ELIMIT: ELIMIT: result has more than the 10000 characters of maxResultBytes/,
  );
});
