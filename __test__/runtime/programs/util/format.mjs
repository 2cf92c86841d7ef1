import { format, formatWithOptions } from "node:util";

console.log(
  format("%s %s", "a"),
  format("a", "b", { c: 1 }),
  format(1, 2, "3"),
  format("%s", null, undefined),
  format("%%s %s", 1),
  format("%i", "0x1f"),
  format("%d", 5n),
  format("%j", { toJSON: () => "j" }),
  format("%o", { f() {} }),
  format("%O", { a: { b: { c: { d: { e: 1 } } } } }),
);
const circular = {};
circular.me = circular;
console.log(
  format("%j", circular),
  format("%s", function foo() {}),
  format("%s", class Bar {}),
  format("%s", { a: [1] }),
  format("%s", new Date(0)),
  format("%s", Object.create(null)),
  format("%c%s", "css", "x"),
  format("%x", 1),
  format(),
);
console.log(
  formatWithOptions({ colors: true }, "%s %O", "a", { b: 1 }),
  formatWithOptions({ compact: false }, { a: 1 }),
);
