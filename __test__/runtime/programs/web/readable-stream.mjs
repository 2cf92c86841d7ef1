const stream = new ReadableStream({
  start(controller) {
    console.log("start", controller.desiredSize);
    controller.enqueue("a");
  },
  pull(controller) {
    this.count = (this.count ?? 0) + 1;
    console.log("pull", this.count, controller.desiredSize);
    if (this.count === 3) controller.close();
    else controller.enqueue(`p${this.count}`);
  },
  cancel(reason) {
    console.log("cancel", reason);
  },
});
const reader = stream.getReader();
console.log(
  stream.locked,
  await reader.read(),
  await reader.read(),
  await reader.read(),
  await reader.read(),
  await reader.closed,
);
reader.releaseLock();
console.log(stream);
const cancelled = new ReadableStream({ cancel: (reason) => console.log("cancelled", reason) });
await cancelled.cancel("why");
const [left, right] = new ReadableStream({ start: (c) => (c.enqueue(1), c.enqueue(2), c.close()) }).tee();
console.log(await Array.fromAsync(left), await Array.fromAsync(right));
console.log(await Array.fromAsync(ReadableStream.from(["f", "g"])));
const failing = new ReadableStream({ start: (c) => c.error(new Error("broken")) });
await failing
  .getReader()
  .read()
  .catch((error) => console.log(error.message));
const bytes = new ReadableStream({
  type: "bytes",
  pull(controller) {
    const view = controller.byobRequest.view;
    view[0] = 7;
    controller.byobRequest.respond(1);
  },
});
console.log(await bytes.getReader({ mode: "byob" }).read(new Uint8Array(4)));
for (const call of [
  () => new ReadableStream({ type: "x" }),
  () => stream.getReader({ mode: "x" }),
  () => new ReadableStream({ pull: 5 }),
  () => new ReadableStreamDefaultReader(5),
  () => (stream.getReader(), stream.getReader()),
  () => new CountQueuingStrategy(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
