// What runs in a worker thread of `worker.mjs`: it waits for the text of a module, runs it, and says what
// it returned.

import { join } from "node:path";
import { workerData as directory, parentPort } from "node:worker_threads";

/** Calls of the host module that wait for their answers. */
const calls = new Map();
let last = 0;

globalThis.add = (...value) =>
  new Promise((resolve) => {
    calls.set(++last, resolve);
    parentPort.postMessage({ call: last, value });
  });

parentPort.on("message", async ({ text, input, answer, value, isOver }) => {
  if (isOver) return parentPort.close();
  if (answer !== undefined) {
    calls.get(answer)(value);
    calls.delete(answer);
    return;
  }
  const { default: main } = await import(`data:text/javascript,${encodeURIComponent(inDirectory(text))}`);
  parentPort.postMessage({ isDone: true, value: await main(input) });
});
parentPort.postMessage({ isReady: true });

/** A worker has no directory of its own, and no host modules. */
function inDirectory(text) {
  return text
    .replace(/"(small\.txt|large\.bin)"/g, (_, file) => JSON.stringify(join(directory, file)))
    .replace(`import { add } from "ws:app";`, "");
}
