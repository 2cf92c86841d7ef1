// A worker thread with operations of every kind in flight, until it is terminated.

import { parentPort, workerData } from "node:worker_threads";
import { Workspace } from "carrel";

const { path, durability, number } = workerData;
const workspace = new Workspace({ storage: { path, durability } });
const { fs } = workspace;
const mine = `/workspace/worker${number}`;

async function* slowly(pieces, bytes) {
  for (let index = 0; index < pieces; index++) {
    yield new Uint8Array(bytes).fill(index);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const kinds = [
  async (round) => fs.writeFile(`${mine}/small`, `small ${round} `.repeat(50)),
  async () => fs.appendFile(`${mine}/grows`, "a line\n"),
  async () => fs.readFile("/workspace/common", "utf8"),
  async () => {
    for await (const _ of await fs.readFile("/workspace/large"));
  },
  async () => {
    // Never read to its end, never cancelled.
    const reader = (await fs.readFile("/workspace/large")).getReader();
    await reader.read();
  },
  async () => fs.writeFile(`${mine}/streamed`, slowly(12, 100_000)),
  async (round) =>
    workspace.transaction(async (tx) => {
      await tx.writeFile(`${mine}/one`, String(round));
      await new Promise((resolve) => setTimeout(resolve, round % 3));
      await tx.writeFile(`${mine}/two`, String(round));
    }),
  async () => fs.find("/workspace"),
  async () => fs.grep("line", "/workspace"),
  async (round) => (round % 10 === 0 ? workspace.check() : fs.statfs()),
  async (round) => (round % 20 === 0 ? workspace.compact() : fs.stat(mine)),
  async () => {
    const watch = fs.watch("/workspace", { recursive: true });
    await watch.next();
    await watch.return();
  },
];

await fs.mkdir(mine, { recursive: true });
for (const kind of kinds) {
  (async () => {
    for (let round = 0; ; round++) {
      await kind(round);
      // Whatever is settled on this thread leaves it to others now and then.
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
}
parentPort.postMessage("at work");
