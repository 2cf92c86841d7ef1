async function work() {
  await null;
  throw new Error("async failure");
}
await work();
