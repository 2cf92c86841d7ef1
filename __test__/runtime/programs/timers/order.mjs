setTimeout(() => console.log("t900"), 900);
setTimeout(() => console.log("t300"), 300);
setTimeout(() => console.log("t1a"), 1);
setTimeout(() => console.log("t1b"), 1);
setTimeout((a, b) => console.log("args", a, b), 600, "x", 2);
setImmediate(() => {
  console.log("i1");
  setImmediate(() => console.log("i3"));
  process.nextTick(() => console.log("tick in i1"));
});
setImmediate(() => console.log("i2"));
process.nextTick(() => {
  console.log("tick");
  process.nextTick(() => console.log("tick 2"));
  Promise.resolve().then(() => console.log("micro in tick"));
});
queueMicrotask(() => {
  console.log("micro");
  process.nextTick(() => console.log("tick in micro"));
  queueMicrotask(() => console.log("micro 2"));
});
const until = performance.now() + 3;
while (performance.now() < until);
console.log("sync");
