process.nextTick((...args) => console.log(args), 1, 2);
await null;
process.nextTick(() => console.log("tick after await"));
Promise.resolve().then(() => console.log("micro after await"));
console.log("await done");
