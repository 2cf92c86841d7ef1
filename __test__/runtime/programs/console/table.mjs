console.table([
  { a: 1, b: "x" },
  { a: 2, c: true },
]);
console.table([
  [1, 2],
  [3, 4],
]);
console.table({ row1: { x: 1 }, row2: { y: 2 } });
console.table(["a", "b"]);
console.table([{ a: 1, b: 2 }], ["b"]);
console.table(
  new Map([
    ["k", 1],
    ["l", { m: 2 }],
  ]),
);
console.table(new Set([1, "two"]));
console.table(5);
console.table("text");
console.table([]);
console.table([{ wide: "日本語", emoji: "🎉" }, { wide: "ascii" }]);
console.table([1.5, -0, null, undefined, Symbol("s"), () => {}, { nested: { deep: 1 } }]);
console.group();
console.table([[1]]);
console.groupEnd();
console.table([{ a: 1 }], []);
console.table(null);
