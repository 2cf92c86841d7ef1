const hostile = {
  get throws() {
    throw new Error("getter");
  },
  toString() {
    throw new Error("toString");
  },
  [Symbol.toStringTag]: "Tagged",
};
console.log(hostile);
console.log("%s", { toString: () => "custom string" }, `${{ toString: () => "x" }}`);
console.log({
  [Symbol.for("nodejs.util.inspect.custom")]: (depth, options, inspect) =>
    `custom ${depth} ${typeof options.stylize} ${typeof inspect}`,
});
console.log(
  { constructor: "fake", inspect: () => "not used" },
  { __proto__: { a: 1 } },
  { constructor: { name: "Liar" } },
);
class Secret {
  #hidden = 1;
  static stat = 2;
  get [Symbol.toStringTag]() {
    return "Tag";
  }
}
console.log(new Secret(), Secret, [new Secret()]);
console.log(
  new Proxy(
    {},
    {
      get() {
        throw new Error("trap");
      },
      ownKeys() {
        throw new Error("trap");
      },
    },
  ),
);
console.log("%s %s %s %s", Symbol("s"), 5n, -0, [1, [2, [3]]], "%d", "%i");
console.log("%d %d %i %f", "0x10", {}, "12.9px", "abc", "%", "100%", "%z");
console.log(
  Object.defineProperty({}, "hidden", { value: 1 }),
  Object.defineProperty([], "extra", { value: 1, enumerable: true }),
);
console.log(
  Object.setPrototypeOf([1], null),
  Object.setPrototypeOf(() => {}, null),
  Object.setPrototypeOf(new Map([[1, 2]]), null),
  Object.setPrototypeOf(new Error("np"), null) instanceof Object,
);
