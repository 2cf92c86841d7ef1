// A bare worker thread for each run: no limits, no confinement, the host's files. What V8 and Node.js
// themselves take.

import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Worker } from "node:worker_threads";
import { source } from "../../lib/source.mjs";
import { inLanes } from "../lanes.mjs";
import { growthPerOne } from "../memory.mjs";
import { TRIVIAL, WAITING } from "../sources.mjs";

export const name = "worker_threads";
export const version = process.versions.node;

export function open({ directory, warm = true }) {
  /** A worker that was started ahead, as carrel's processes are. */
  let ready;
  const start = (options) =>
    new Worker(new URL("./worker-inside.mjs", import.meta.url), { env: {}, workerData: directory, ...options });
  const spare = async () => {
    const worker = start();
    await once(worker, "message");
    return worker;
  };
  const take = () => {
    const worker = ready ?? start();
    ready = undefined;
    return worker;
  };

  /** Runs a module in a worker; `begun` is called when its code runs. */
  const runIn = (worker, text, input) =>
    new Promise((resolve, reject) => {
      worker.on("error", reject);
      worker.on("message", ({ call, value, isDone }) => {
        // A host module: `add`.
        if (call !== undefined) worker.postMessage({ answer: call, value: value[0] + value[1] });
        if (isDone) resolve(value);
      });
      worker.postMessage({ text, input });
    });
  const run = async (text, input) => {
    const worker = take();
    try {
      return await runIn(worker, text, input);
    } finally {
      await worker.terminate();
    }
  };
  return {
    run,
    async isWarm() {
      if (warm) ready ??= await spare();
    },
    async runs(count, together) {
      const begin = performance.now();
      await inLanes(count, together, () => run(TRIVIAL, 1));
      return ((performance.now() - begin) * 1000) / count;
    },
    fill(files) {
      for (const [path, text] of files) writeFileSync(join(directory, path), text);
    },
    async fillLarge(path, bytes) {
      await mkdir(directory, { recursive: true });
      await pipeline(Readable.from(source(bytes, 1)), createWriteStream(join(directory, path)));
    },
    async print(text, input) {
      const worker = start({ stdout: true });
      let bytes = 0;
      worker.stdout.on("data", (piece) => {
        bytes += piece.length;
      });
      await runIn(worker, text, input);
      // The end of a worker comes after the last of its output.
      worker.postMessage({ isOver: true });
      await once(worker, "exit");
      return bytes;
    },
    idle(count) {
      return growthPerOne(count, async () => {
        const worker = await spare();
        worker.on("error", () => {});
        worker.postMessage({ text: WAITING });
        return () => worker.terminate();
      });
    },
    async close() {
      await ready?.terminate();
    },
  };
}
