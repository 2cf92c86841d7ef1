import { inspect } from "node:util";

let state = 8;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
class Sample {
  constructor(value) {
    this.value = value;
  }
}
const make = (depth) => {
  const inner = () => make(depth - 1);
  const leaves = [
    () => next(1000) - 500,
    () => "text ".repeat(next(9)),
    () => null,
    () => undefined,
    () => next(2) === 0,
    () => BigInt(next(99)),
    () => Symbol("s"),
    () => new Date(next(1e9)),
    () => /r/g,
    () => () => {},
    () => new Uint8Array(next(4)),
    () => -0,
    () => "q'\"`\n",
  ];
  const nodes = [
    () => Array.from({ length: next(8) }, inner),
    () =>
      Object.fromEntries(
        Array.from({ length: next(7) }, (_, index) => [["key", "a b", "x-y", "1", "ü"][index % 5] + index, inner()]),
      ),
    () => new Map(Array.from({ length: next(4) }, () => [inner(), inner()])),
    () => new Set(Array.from({ length: next(4) }, inner)),
    () => new Sample(inner()),
    () => Object.assign(Object.create(null), { inner: inner() }),
    () => Object.assign(Array.from({ length: next(4) }), { extra: inner() }),
    () => new Map([[1, inner()]]).entries(),
    () => new Set([inner()]).values(),
    () => new Proxy({ inner: inner() }, {}),
    () => Promise.resolve(inner()),
    () => Object.assign(() => {}, { prop: inner() }),
    () => new WeakSet([{}]),
  ];
  return depth === 0 || next(4) === 0 ? leaves[next(leaves.length)]() : nodes[next(nodes.length)]();
};
for (let round = 0; round < 120; round++) {
  const value = make(4);
  console.log(
    inspect(value, {
      depth: next(6),
      compact: [true, false, 1, 3][next(4)],
      breakLength: [40, 80, 128][next(3)],
      sorted: next(2) === 0,
      showHidden: next(4) === 0,
      showProxy: next(3) === 0,
      maxArrayLength: [2, 100][next(2)],
    }),
  );
}
