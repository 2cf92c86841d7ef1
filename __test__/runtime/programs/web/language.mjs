console.log(
  Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")),
  [3, 1, 2].toSorted(),
  new Set([1, 2]).union(new Set([3])),
  Array.fromAsync.length,
  Promise.withResolvers().promise,
  Promise.try(() => 5),
  Iterator.from([1, 2])
    .map((x) => x * 2)
    .toArray(),
  RegExp.escape("a.b"),
  Error.isError(new Error("x")),
  "\ud800".isWellFormed(),
  Atomics.waitAsync.length,
  Symbol.dispose,
  JSON.rawJSON("1"),
  structuredClone.name,
);
label: for (const x of [1, 2]) for (const y of [1, 2]) if (y === 2) continue label;
{
  using resource = { [Symbol.dispose]: () => console.log("disposed") };
  await using later = { [Symbol.asyncDispose]: async () => console.log("async disposed") };
}
const weak = new WeakRef({});
console.log(
  typeof weak.deref(),
  new FinalizationRegistry(() => {}),
  /(?<year>\d+)/v.exec("in 2024").groups.year,
  `${1n ** 100n}`,
  0.1 + 0.2,
  [..."🎉é"].length,
  new Date(2024, 0, 31, 12).toISOString(),
);
