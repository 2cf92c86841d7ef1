process.on("uncaughtException", (error, origin) => console.log("caught", error.message, origin));
setTimeout(() => {
  throw new Error("one");
}, 1);
setTimeout(() => console.log("after one"), 1);
setImmediate(() => {
  throw new Error("immediate");
});
setImmediate(() => console.log("after immediate"));
process.nextTick(() => {
  throw new Error("tick");
});
queueMicrotask(() => {
  throw new Error("microtask");
});
queueMicrotask(() => console.log("after microtask"));
setTimeout(() => Promise.reject(new Error("rejected")), 5);
setTimeout(() => console.log("last"), 10);
