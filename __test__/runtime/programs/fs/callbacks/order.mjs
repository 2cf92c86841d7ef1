import fs from "node:fs";

fs.writeFileSync("f", "x");
setImmediate(() => console.log("immediate"));
setTimeout(() => console.log("timeout"), 700);
fs.readFile("f", () => {
  console.log("read");
  setTimeout(() => console.log("timeout in read"), 0);
  setImmediate(() => console.log("immediate in read"));
  process.nextTick(() => console.log("tick in read"));
  Promise.resolve().then(() => console.log("microtask in read"));
});
process.nextTick(() => console.log("tick"));
Promise.resolve().then(() => console.log("microtask"));
queueMicrotask(() => console.log("queued"));
console.log("sync");
