// Worker threads that end with operations in flight: the process lives, no lock remains, and what
// was done is whole.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { chance, seed, uniqueBytes } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { openAt, startProcess, waitFor } from "../support/process.mjs";
import { bytesOf } from "../support/workspace.mjs";

const CYCLES = 200;
const AT_ONCE = 4;
const program = new URL("../support/worker-main.mjs", import.meta.url);

/** Starts a worker; resolves when it is at work. */
function startWorker(workerData) {
  const worker = new Worker(program, { workerData });
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve(worker));
    worker.once("error", reject);
  });
}

test(`${CYCLES} workers are terminated at work`, { timeout: 300_000 }, async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const path = join(folderFor(t), "workers.db");
  const workspace = openAt(t, { path, durability: "normal" });
  const { fs } = workspace;
  const large = uniqueBytes("large", 2_000_000);
  await fs.writeFile("/workspace/common", "a line that all of them read\n");
  await fs.writeFile("/workspace/large", large);

  const dice = chance(seed, "workers");
  const cycle = async (number) => {
    const worker = await startWorker({ path, number, durability: dice.pick(["full", "normal", "off"]) });
    await new Promise((resolve) => setTimeout(resolve, dice.below(30)));
    await worker.terminate();
    // A lock that remained would keep this waiting for ever.
    await fs.writeFile(`/workspace/after${number}`, "written");
    await workspace.transaction((tx) => tx.appendFile(`/workspace/after${number}`, " twice"));
  };
  for (let first = 0; first < CYCLES; first += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => cycle(first + index)));
    if (first % 40 === 0) assert.deepEqual((await workspace.check()).problems, []);
  }

  for (let number = 0; number < CYCLES; number++) {
    assert.equal(await fs.readFile(`/workspace/after${number}`, "utf8"), "written twice");
    const text = async (name) =>
      (await fs.exists(`/workspace/worker${number}/${name}`))
        ? fs.readFile(`/workspace/worker${number}/${name}`, "utf8")
        : undefined;
    assert.equal(await text("one"), await text("two"), "a transaction is whole");
    assert.match((await text("grows")) ?? "", /^(a line\n)*$/);
    const streamed = await text("streamed");
    assert.ok(streamed === undefined || streamed.length === 1_200_000, "a stream is whole");
  }
  assert.ok((await bytesOf(fs.readFile("/workspace/large"))).equals(large));
  assert.deepEqual((await workspace.check()).problems, []);

  // Another process gets the locks, and sees the same.
  const other = await startProcess(t, { storage: path });
  await other.run(async ({ workspace }) => {
    await workspace.fs.writeFile("/workspace/other", "other");
    await workspace.compact();
  });
  assert.deepEqual((await other.run(({ workspace }) => workspace.check())).problems, []);
  await other.end();
});

test("several workers use one file, several files, and memory, at once", async (t) => {
  const folder = folderFor(t);
  const count = 4;
  const each = 200;
  const source = `
    import { parentPort, workerData } from "node:worker_threads";
    const { address, folder, me, each } = workerData;
    const { Workspace } = await import(address);
    const shared = new Workspace({ storage: { path: folder + "/shared.db", durability: "normal" } });
    const own = new Workspace({ storage: { path: folder + "/own" + me + ".db", durability: "normal" } });
    const memory = new Workspace({ storage: ":memory:" });
    for (let index = 0; index < each; index++) {
      await shared.fs.appendFile("/workspace/log", me + " " + index + "\\n");
      await shared.transaction(async (fs) => {
        const before = (await fs.exists("/workspace/count")) ? Number(await fs.readFile("/workspace/count", "utf8")) : 0;
        await fs.writeFile("/workspace/count", String(before + 1));
      });
      await own.fs.writeFile("/workspace/f" + (index % 7), String(index));
      await memory.fs.writeFile("/workspace/f" + (index % 7), String(index));
    }
    const names = async (workspace) => (await workspace.fs.readdir("/workspace")).map(({ name }) => name).join();
    parentPort.postMessage([await names(own), await names(memory)]);
    await Promise.all([shared, own, memory].map((workspace) => workspace.close()));
  `;
  const address = import.meta.resolve("carrel");
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const ends = Array.from({ length: count }, (_, me) => {
    const worker = new Worker(url, { workerData: { address, folder, me, each } });
    return new Promise((resolve, reject) => {
      let told;
      worker.on("message", (message) => {
        told = message;
      });
      worker.on("error", reject);
      worker.on("exit", (code) => (code === 0 ? resolve(told) : reject(new Error(`exit ${code}`))));
    });
  });
  const seven = "f0,f1,f2,f3,f4,f5,f6";
  assert.deepEqual(
    await Promise.all(ends),
    Array.from({ length: count }, () => [seven, seven]),
  );

  const workspace = openAt(t, join(folder, "shared.db"));
  assert.equal(await workspace.fs.readFile("/workspace/count", "utf8"), String(count * each));
  const lines = (await workspace.fs.readFile("/workspace/log", "utf8")).split("\n");
  for (let me = 0; me < count; me++) {
    assert.deepEqual(
      lines.filter((line) => line.startsWith(`${me} `)),
      Array.from({ length: each }, (_, index) => `${me} ${index}`),
    );
  }
  assert.deepEqual((await workspace.check()).problems, []);
});

test("what a terminated worker held is collected, and its threads do not remain", async (t) => {
  const path = join(folderFor(t), "held.db");
  const workspace = openAt(t, { path, durability: "normal" });
  await workspace.fs.writeFile("/workspace/large", uniqueBytes("held", 3_000_000));
  await workspace.fs.writeFile("/workspace/common", "x");
  for (let number = 0; number < 8; number++) {
    const worker = await startWorker({ path, number, durability: "normal" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.terminate();
  }
  for (const name of await workspace.fs.readdir("/workspace")) {
    await workspace.fs.rm(`/workspace/${name.name}`, { recursive: true });
  }
  await waitFor("nothing is stored any more", async () => {
    await workspace.compact();
    return (await workspace.fs.statfs()).storedBytes === 0;
  });
  assert.deepEqual((await workspace.check()).problems, []);
});
