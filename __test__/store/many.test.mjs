// A thousand workspaces in one process: threads and file descriptors are bounded, and each works.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderFor } from "../support/ending.mjs";
import { startProcess, waitFor } from "../support/process.mjs";

const COUNT = 1_000;
// Two for each of 64 idle connections and their shared memory, those of calls under way, and Node's.
const DESCRIPTORS_MAX = 400;
// The addon's are ten; the rest are Node's.
const THREADS_MAX = 40;
// A default `ulimit -n`.
const DESCRIPTORS_ALLOWED = 1_024;

const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;
const threads = (pid) => readdirSync(`/proc/${pid}/task`).length;

/** Opens all, uses each, and tells the largest numbers of descriptors and threads on the way. */
async function openAndUse({ Workspace, state }, folder, count) {
  const { readdirSync } = await import("node:fs");
  const most = { descriptors: 0, threads: 0 };
  const look = () => {
    most.descriptors = Math.max(most.descriptors, readdirSync("/proc/self/fd").length);
    most.threads = Math.max(most.threads, readdirSync("/proc/self/task").length);
  };
  const all = [];
  const durations = [];
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    all.push(new Workspace({ storage: { path: `${folder}/${index}.db`, durability: "normal" } }));
    durations.push(performance.now() - start);
    if (index % 20 === 0) look();
  }
  state.all = all;
  look();
  for (let round = 0; round < 2; round++) {
    for (let first = 0; first < count; first += 100) {
      await Promise.all(
        all.slice(first, first + 100).map(async ({ fs }, index) => {
          await fs.writeFile(`/workspace/${round}`, `${first + index} ${round}`);
          await fs.mkdir(`/workspace/d${round}`);
        }),
      );
      look();
    }
  }
  for (const [index, { fs }] of all.entries()) {
    for (const round of [0, 1]) {
      const text = await fs.readFile(`/workspace/${round}`, "utf8");
      if (text !== `${index} ${round}`) throw new Error(`workspace ${index} has "${text}"`);
    }
    if (index % 50 === 0) look();
  }
  durations.sort((a, b) => a - b);
  return { most, median: durations[count / 2] };
}

for (const kind of ["new", "existing"]) {
  test(`${COUNT} ${kind} workspaces cost a bounded number of threads and descriptors`, async (t) => {
    const folder = folderFor(t);
    const start = () =>
      // A shell sets the limit that most programs live under.
      startProcess(t, {
        fork: {
          execPath: "/bin/sh",
          execArgv: ["-c", `ulimit -n ${DESCRIPTORS_ALLOWED} && exec "$0" "$@"`, process.execPath],
        },
      });
    if (kind === "existing") {
      const maker = await start();
      await maker.run(
        async ({ Workspace }, folder, count) => {
          for (let index = 0; index < count; index++) {
            const workspace = new Workspace({ storage: { path: `${folder}/${index}.db`, durability: "off" } });
            await workspace.fs.writeFile("/workspace/old", "");
            await workspace.close();
          }
        },
        folder,
        COUNT,
      );
      await maker.kill();
    }

    const other = await start();
    const { most, median } = await other.run(openAndUse, folder, COUNT);
    t.diagnostic(`${most.descriptors} descriptors, ${most.threads} threads, opening ${median.toFixed(2)} ms`);
    assert.ok(most.descriptors < DESCRIPTORS_MAX, `${most.descriptors} descriptors`);
    assert.ok(most.threads < THREADS_MAX, `${most.threads} threads`);

    // Idle, they cost less; closed, nothing.
    await waitFor("idle connections are closed", () => descriptors(other.pid) < 250);
    await waitFor("idle threads end", () => threads(other.pid) < 25);
    const before = await other.run(async ({ state }) => {
      await Promise.all(state.all.map((workspace) => workspace.close()));
    });
    assert.equal(before, undefined);
    await waitFor("all descriptors are closed", () => descriptors(other.pid) < 40);
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith(".db")),
      [],
      "no WAL remains",
    );
    await other.kill();
  });
}

test("1,000 workspaces hear of changes through one watcher", async (t) => {
  const folder = folderFor(t);
  const other = await startProcess(t);
  const counts = await other.run(
    async ({ Workspace, state }, folder, count) => {
      const { readdirSync } = await import("node:fs");
      state.watches = [];
      for (let index = 0; index < count; index++) {
        const workspace = new Workspace({ storage: { path: `${folder}/${index}.db`, durability: "off" } });
        const watch = workspace.fs.watch("/workspace");
        state.watches.push({ workspace, watch });
        const event = watch.next();
        await workspace.fs.writeFile("/workspace/f", "");
        if ((await event).value.path !== "/workspace/f") throw new Error("another event");
      }
      return { descriptors: readdirSync("/proc/self/fd").length, threads: readdirSync("/proc/self/task").length };
    },
    folder,
    COUNT,
  );
  assert.ok(counts.descriptors < DESCRIPTORS_MAX, `${counts.descriptors} descriptors`);
  assert.ok(counts.threads < THREADS_MAX, `${counts.threads} threads`);
  // Each hears what another process does to its own file.
  const third = await startProcess(t);
  for (const index of [0, 1, 499, 999]) {
    await third.run(
      async ({ Workspace }, path) => {
        const workspace = new Workspace({ storage: path });
        await workspace.fs.writeFile("/workspace/g", "");
        await workspace.close();
      },
      join(folder, `${index}.db`),
    );
    const path = await other.run(
      async ({ state }, index) => (await state.watches[index].watch.next()).value.path,
      index,
    );
    assert.equal(path, "/workspace/g");
  }
  await other.kill();
  await third.kill();
});
