const timer = setTimeout(() => {}, 1000);
console.log(
  timer.constructor.name,
  typeof timer[Symbol.toPrimitive](),
  timer.hasRef(),
  timer.unref() === timer,
  timer.hasRef(),
  timer.ref().hasRef(),
  timer.refresh() === timer,
  timer.close() === timer,
);
clearTimeout(timer);
const immediate = setImmediate(() => console.log("not shown"));
console.log(immediate.constructor.name, immediate.hasRef(), clearImmediate(immediate));
const byNumber = setTimeout(() => console.log("not shown"), 1);
clearTimeout(+byNumber);
const byText = setTimeout(() => console.log("not shown"), 1);
clearTimeout(`${+byText}`);
clearTimeout(undefined);
clearTimeout({});
setTimeout(() => console.log("unref is not waited for"), 500).unref();
{
  using disposed = setTimeout(() => console.log("not shown"), 1);
}
let count = 0;
const interval = setInterval(
  (step) => {
    count += step;
    if (count === 6) {
      clearInterval(interval);
      console.log("done", count);
    }
  },
  1,
  2,
);
for (const call of [
  () => setTimeout("code"),
  () => setInterval(),
  () => setImmediate(5),
  () => queueMicrotask(null),
  () => process.nextTick("x"),
  () => timer.refresh.call({}),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
for (const delay of [-1, NaN, Infinity, 2 ** 31, "5"]) clearTimeout(setTimeout(() => {}, delay));
