const log = [];
const writable = new WritableStream(
  {
    start: () => void log.push("start"),
    write: (chunk) => void log.push(chunk),
    close: () => void log.push("close"),
    abort: (reason) => void log.push(reason),
  },
  new CountQueuingStrategy({ highWaterMark: 2 }),
);
const writer = writable.getWriter();
console.log(writer.desiredSize, await writer.ready, writer.write(1) instanceof Promise, writer.desiredSize);
await writer.write(2);
await writer.close();
console.log(log, await writer.closed);
const transform = new TransformStream({
  transform: (chunk, controller) => controller.enqueue(chunk * 2),
  flush: (controller) => controller.enqueue("end"),
});
const from = new ReadableStream({ start: (c) => (c.enqueue(1), c.enqueue(2), c.close()) });
console.log(await Array.fromAsync(from.pipeThrough(transform)));
await new ReadableStream({ start: (c) => (c.enqueue("x"), c.close()) }).pipeTo(
  new WritableStream({ write: (chunk) => console.log("piped", chunk) }),
);
await new ReadableStream({ start: (c) => c.error("bad") })
  .pipeTo(new WritableStream({ abort: (reason) => console.log("abort", reason) }))
  .catch((error) => console.log("caught", error));
const encoded = ReadableStream.from(["ü", "€"]).pipeThrough(new TextEncoderStream());
console.log(await Array.fromAsync(encoded));
console.log(
  await Array.fromAsync(
    ReadableStream.from([new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac])]).pipeThrough(new TextDecoderStream()),
  ),
);
console.log(
  new TransformStream(),
  new WritableStream(),
  new ByteLengthQueuingStrategy({ highWaterMark: 3 }).size({ byteLength: 4 }),
);
const aborted = new WritableStream();
await aborted.abort("r");
await aborted
  .getWriter()
  .write("x")
  .catch((error) => console.log("write after abort", error));
