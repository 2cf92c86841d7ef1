import stream, {
  addAbortSignal,
  compose,
  finished,
  PassThrough,
  pipeline,
  Readable,
  Transform,
  Writable,
} from "node:stream";
import { finished as finishedPromise, pipeline as pipelinePromise } from "node:stream/promises";

const sink = () => {
  const chunks = [];
  const writable = new Writable({ write: (chunk, _encoding, callback) => (chunks.push(String(chunk)), callback()) });
  return { chunks, writable };
};
const one = sink();
await pipelinePromise(
  Readable.from(["a", "b"]),
  async function* (source) {
    for await (const chunk of source) yield `${chunk}!`;
  },
  one.writable,
);
console.log(one.chunks);
console.log(
  await pipelinePromise(Readable.from(["x", "y"]), async (source) => {
    let text = "";
    for await (const chunk of source) text += chunk;
    return text;
  }),
);
await new Promise((resolve) =>
  pipeline(
    Readable.from(["z"]),
    new Transform({ transform: (c, e, callback) => callback(new Error("middle")) }),
    sink().writable,
    (error) => resolve(console.log("callback", error.message)),
  ),
);
await new Promise((resolve) =>
  finished(Readable.from(["f"]).resume(), (error) => resolve(console.log("finished", error))),
);
const premature = new Readable({ read() {} });
finished(premature, (error) => console.log(error.code, error.message));
premature.destroy();
const controller = new AbortController();
const aborted = addAbortSignal(controller.signal, new Readable({ read() {} }));
controller.abort();
await finishedPromise(aborted).catch((error) => console.log(error.name, error.code, error.message));
try {
  await pipelinePromise(Readable.from(["a"]), new PassThrough(), { signal: AbortSignal.abort() });
} catch (error) {
  console.log(error.name, error.code);
}
console.log(
  await compose(async function* (source) {
    for await (const chunk of source) yield String(chunk).repeat(2);
  }, new PassThrough())
    .end("ab")
    .toArray()
    .then(String),
);
const piped = sink();
const from = Readable.from(["p1", "p2"]);
from.pipe(piped.writable).on("finish", () => console.log(piped.chunks, from.readableEnded));
await finishedPromise(piped.writable);
console.log(
  Object.keys(stream).sort().join(" "),
  stream.getDefaultHighWaterMark(false),
  stream.getDefaultHighWaterMark(true),
);
