import { types } from "node:util";

const values = {
  promise: Promise.resolve(),
  map: new Map(),
  set: new Set(),
  weakMap: new WeakMap(),
  weakSet: new WeakSet(),
  regExp: /x/,
  date: new Date(),
  error: new Error("x"),
  buffer: new ArrayBuffer(1),
  shared: new SharedArrayBuffer(1),
  view: new DataView(new ArrayBuffer(1)),
  u8: new Uint8Array(),
  f32: new Float32Array(),
  args: (function () {
    return arguments;
  })(),
  asyncFn: async () => {},
  gen: function* () {},
  genObject: (function* () {})(),
  boxed: Object(1),
  boxedSymbol: Object(Symbol()),
  boxedBig: Object(1n),
  proxy: new Proxy({}, {}),
  mapIter: new Map().keys(),
  setIter: new Set().keys(),
  namespace: await import("node:path"),
  plain: {},
  domError: new DOMException("x"),
  key: "text",
};
for (const [name, test] of Object.entries(types).sort()) {
  if (typeof test !== "function") continue;
  console.log(
    name,
    Object.keys(values)
      .filter((key) => {
        try {
          return test(values[key]);
        } catch {
          return false;
        }
      })
      .join(" "),
  );
}
