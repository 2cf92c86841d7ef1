import { Readable } from "node:stream";

const log =
  (name) =>
  (...args) =>
    console.log(name, ...args.map((arg) => (arg instanceof Error ? arg.message : arg)));
const readable = new Readable({
  highWaterMark: 4,
  read(size) {
    this.count = (this.count ?? 0) + 1;
    this.push(this.count > 3 ? null : `chunk${this.count}`);
  },
});
readable.setEncoding("utf8");
for (const name of ["data", "end", "close", "error", "pause", "resume"]) readable.on(name, log(name));
await new Promise((resolve) => readable.on("close", resolve));
console.log(
  await Readable.from([1, 2, 3])
    .map((x) => x * 2)
    .filter((x) => x > 2)
    .toArray(),
);
console.log(
  await Readable.from("abc").toArray(),
  await Readable.from([1, 2, 3, 4])
    .take(3)
    .drop(1)
    .reduce((a, b) => a + b, 0),
  await Readable.from([[1], [2]])
    .flatMap((x) => x)
    .toArray(),
);
console.log(
  await Readable.from([1, 2]).some((x) => x > 1),
  await Readable.from([1, 2]).every((x) => x > 1),
  await Readable.from([1, 2]).find((x) => x > 1),
);
await Readable.from([1, 2, 3]).forEach((x) => console.log("each", x), { concurrency: 2 });
const objects = new Readable({ objectMode: true, read() {} });
objects.push({ a: 1 });
objects.push(null);
for await (const value of objects) console.log(value);
const failing = new Readable({
  read() {
    this.destroy(new Error("failed"));
  },
});
try {
  for await (const _ of failing);
} catch (error) {
  console.log(error.message, failing.destroyed, failing.errored?.message);
}
const after = new Readable({ read() {} });
after.push(null);
after.on("error", log("error"));
after.push("late");
console.log(
  Readable.from(["x"]).readableObjectMode,
  new Readable().readableHighWaterMark,
  new Readable({ objectMode: true }).readableHighWaterMark,
);
try {
  Readable.from(5);
} catch (error) {
  console.log(error.code, error.message);
}
new Readable().on("error", log("no _read")).read();
