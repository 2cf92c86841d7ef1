const recurse = () => recurse();
try {
  recurse();
} catch (error) {
  console.log(error.name, error.message);
}
try {
  JSON.parse(`${"[".repeat(5)}`);
} catch (error) {
  console.log(error.name, error.message);
}
for (const text of ["{", '{"a":}', "[1,]", "nul", '"\n"', ""]) {
  try {
    JSON.parse(text);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
for (const call of [
  () => BigInt(1.5),
  () => "x".repeat(-1),
  () => new Array(-1),
  () => (1.5).toFixed(101),
  () => null[Symbol.iterator],
  () => decodeURIComponent("%"),
  () => new RegExp("("),
  () => Symbol() + "",
  () => 1n + 1,
  () => Object.defineProperty(Object.freeze({}), "x", {}),
  () => structuredClone.call(),
  () =>
    new class {
      #p;
      static t(o) {
        return o.#p;
      }
    }.constructor.t({}),
  () => {
    const c = 1;
    c = 2;
  },
  () => {
    x;
    let x;
  },
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.message);
  }
}
