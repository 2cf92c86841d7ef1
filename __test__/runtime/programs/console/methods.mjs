console.log();
console.info("info");
console.debug("debug");
console.warn("warn");
console.error("error %d", 5);
console.dir({ a: { b: { c: { d: {} } } } }, { depth: 0 });
console.dir({ a: { b: { c: { d: {} } } } }, { depth: null });
console.dirxml({ x: 1 }, [2]);
console.group("group", 1);
console.log("inside\ntwo lines");
console.group();
console.warn("deeper");
console.groupEnd();
console.groupCollapsed("collapsed");
console.log({ long: "x".repeat(50), other: "y".repeat(30) });
console.groupEnd();
console.groupEnd();
console.groupEnd();
console.log("out");
console.count();
console.count();
console.count("label");
console.countReset();
console.count();
console.countReset("unknown");
console.assert(true, "not shown");
console.assert(false, "shown %s", "x");
console.assert(false);
console.assert(0, { a: 1 });
console.trace("trace %s", "here");
console.log(
  typeof console.time,
  console[Symbol.toStringTag],
  Object.keys(console)
    .filter((key) => key !== "createTask")
    .join(" "),
);
const { log } = console;
log("unbound");
