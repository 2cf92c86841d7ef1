import util, { inspect } from "node:util";

const value = {
  b: [1, 2, { c: { d: 1 } }],
  a: "text",
  m: new Map([["k", new Set([1])]]),
  f() {},
  [Symbol("s")]: 1,
  get g() {
    return 5;
  },
  set g(x) {},
};
for (const options of [
  { depth: 0 },
  { depth: Infinity },
  { compact: false },
  { compact: 1 },
  { compact: true },
  { breakLength: 20 },
  { sorted: true },
  { getters: true },
  { getters: "get" },
  { showHidden: true },
  { colors: true },
  { maxArrayLength: 1 },
  { maxStringLength: 2 },
  { numericSeparator: true },
  { customInspect: false },
]) {
  console.log(options, inspect(value, options));
}
console.log(
  inspect("str"),
  inspect([123456.789, 1000000], { numericSeparator: true }),
  inspect(new Proxy({ a: 1 }, { get: () => 2 }), { showProxy: true }),
  inspect(value, true, 0, true),
);
console.log(inspect.defaultOptions, inspect.custom, Object.keys(inspect.styles), inspect.colors.red);
console.log(
  inspect(new Map([[{ a: 1 }, "b"]]).entries()),
  inspect(
    new (class extends Array {
      constructor() {
        super(3);
      }
    })(),
  ),
  inspect(Object.create({}, { x: { value: 1, enumerable: false } }), { showHidden: true }),
);
console.log(
  util.inspect({ a: 1n, b: Symbol("x"), c: new Date(1e12), d: -0, e: [, , 1], f: new Array(5), g: "it's" }),
  util.inspect(new Array(3)),
  util.inspect(Object.assign([1, 2], { x: 1, "-1": 2 })),
);
