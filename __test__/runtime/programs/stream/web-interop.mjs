import { Duplex, Readable, Writable } from "node:stream";

const web = Readable.toWeb(Readable.from(["a", "b"]));
const values = [];
for await (const value of web) values.push(value);
console.log(values);
console.log(await Readable.fromWeb(new ReadableStream({ start: (c) => (c.enqueue("x"), c.close()) })).toArray());
const chunks = [];
const writable = Writable.toWeb(
  new Writable({ write: (chunk, _e, callback) => (chunks.push(String(chunk)), callback()) }),
);
const writer = writable.getWriter();
await writer.write("w");
await writer.close();
console.log(chunks);
const { readable, writable: side } = new TransformStream();
const duplex = Duplex.fromWeb({ readable, writable: side });
duplex.end("through");
console.log(String(await duplex.toArray()));
