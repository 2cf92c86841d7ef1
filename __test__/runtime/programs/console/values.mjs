console.log(
  1,
  -0,
  1.5,
  NaN,
  10n,
  "text",
  true,
  null,
  undefined,
  Symbol("s"),
  () => {},
  function named() {},
  class A {},
  class B extends Array {},
  async () => {},
  function* gen() {},
  async function* agen() {},
);
console.log(
  [1, "two", [3, [4, [5, [6]]]]],
  { a: { b: { c: { d: 1 } } } },
  [],
  {},
  [[]],
  [{}],
  [undefined, null],
  [, 1, , ,],
  { "quoted-key": 1, 5: 2, [Symbol("k")]: 3 },
);
console.log(
  new Map([
    ["a", 1],
    [{ k: 1 }, new Map()],
  ]),
  new Set([1, "x", [2]]),
  new WeakMap(),
  new WeakSet(),
  new Map().entries(),
  new Set([1]).values(),
  [1][Symbol.iterator](),
  "ab"[Symbol.iterator](),
  "a1".matchAll(/\d/g),
);
console.log(
  new Date(0),
  new Date(NaN),
  /re/gi,
  new Error("e").message,
  new String("boxed"),
  new Number(-0),
  new Boolean(false),
  Object(Symbol("b")),
  Object(5n),
);
console.log(
  new Uint8Array(3),
  new Float64Array([1.5, -0]),
  new BigInt64Array([1n]),
  new ArrayBuffer(4),
  new DataView(new ArrayBuffer(2)),
  new SharedArrayBuffer(1),
  Buffer.from("hi"),
);
console.log(
  Promise.resolve(5),
  Promise.reject(new Error("no")).catch(() => {}),
  new Promise(() => {}),
  new Proxy({ a: 1 }, {}),
  new Proxy(() => {}, {}),
  globalThis === global,
  Math,
  JSON,
  Reflect,
  Atomics,
  Intl,
);
console.log(
  Object.create(null),
  Object.create({ inherited: 1 }),
  Object.create(class X {}.prototype),
  new (class Foo {
    x = 1;
    #y = 2;
    get z() {
      return 3;
    }
  })(),
  new (class extends Map {})(),
  new (class Named extends Set {})([1]),
  [].constructor,
  Object.freeze({ f: 1 }),
);
console.log(
  {
    get a() {
      return 1;
    },
    set a(v) {},
    get b() {
      return 2;
    },
    set c(v) {},
  },
  { f() {}, g: () => {}, h: class {} },
  (function () {
    return arguments;
  })(1, 2),
  import.meta.url.length > 5,
);
console.log(
  "%s is %d years and %i, %f, %j %o %O %% %c styled",
  "Bob",
  "42",
  42.9,
  "1.5",
  { a: 1 },
  [1],
  { b: 2 },
  "css",
  "extra",
  { x: 1 },
);
