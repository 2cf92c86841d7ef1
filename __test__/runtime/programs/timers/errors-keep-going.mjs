process.on("uncaughtException", (error, origin) => console.log("caught", error.message, origin));
setTimeout(() => {
  throw new Error("one");
}, 400);
setTimeout(() => console.log("after one"), 400);
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
setTimeout(() => Promise.reject(new Error("rejected")), 700);
setTimeout(() => console.log("last"), 1000);
