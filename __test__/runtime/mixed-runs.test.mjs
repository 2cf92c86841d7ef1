// Two thousand runs that end in every way, up to eight at once: each ends as it should, and nothing of them is left.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { chance, seed } from "../support/chance.mjs";
import { canLook, childProcesses, dataBytes, openDescriptors } from "../support/processes.mjs";
import { COMPLETED, ERROR, endOf, KILLED, MEMORY, MIB, skip, TIMEOUT } from "../support/runs.mjs";

const RUNS = 2000;
const AT_ONCE = 8;
/** When memory is looked at first: by then everything that is kept has its full size. */
const SETTLED_AFTER = 500;
/** What the process may have more after the other 1,500 runs, which would be 11 KiB for each. */
const GROWTH_BYTES_MAX = 16 * MIB;

/** Each kind of run: how often it is chosen, what it does, and what is checked. */
const KINDS = {
  completes: {
    weight: 10,
    source: `import { twice } from "ws:test"; import { writeFile, readFile } from "node:fs/promises";
      export default async ({ name }) => {
        console.log("run", name);
        await writeFile(name, name);
        return [await readFile(name, "utf8"), await twice(name.length)];
      };`,
    check(result, name) {
      assert.deepEqual(endOf(result), COMPLETED, result.stderr);
      assert.deepEqual([result.value, result.stdout], [[name, name.length * 2], `run ${name}\n`]);
    },
  },
  throws: {
    weight: 3,
    source: 'console.log("before"); throw new RangeError("on purpose")',
    check(result) {
      assert.deepEqual(endOf(result), ERROR);
      assert.match(result.stderr, /^RangeError: on purpose\n/);
    },
  },
  exits: {
    weight: 2,
    source: "setTimeout(() => process.exit(3), 1); export default () => new Promise(() => {})",
    check: (result) => assert.deepEqual(endOf(result), { ...ERROR, exitCode: 3 }),
  },
  "is refused": {
    weight: 1,
    source: 'import "./missing.mjs"',
    isRefused: true,
  },
  "takes too long": {
    weight: 2,
    source: "for (;;);",
    options: { timeoutMs: 30 },
    check: (result) => assert.deepEqual(endOf(result), TIMEOUT),
  },
  "takes too much memory": {
    weight: 1,
    source: "const kept = []; for (;;) kept.push(new Uint8Array(1e6));",
    check: (result) => assert.deepEqual(endOf(result), MEMORY),
  },
  "is killed": {
    weight: 2,
    source: 'import { never } from "ws:test"; export default never;',
    act: (handle) => handle.kill(),
    check: (result) => assert.deepEqual(endOf(result), KILLED),
  },
  "is dropped": {
    weight: 3,
    source: 'for (let i = 0; i < 200; i++) console.log("nobody reads this"); export default () => 1',
    isDropped: true,
  },
  "is disposed while somebody waits for it": {
    weight: 1,
    source: "export default () => new Promise((done) => setTimeout(done, 5))",
    async act(handle) {
      const result = handle.result();
      handle[Symbol.dispose]();
      await assert.rejects(result, { code: "ECLOSED" });
    },
    isDropped: true,
  },
  "is read in part": {
    weight: 1,
    source: 'for (let i = 0; i < 200; i++) console.log(i); export default () => "end"',
    async act(handle) {
      for await (const event of handle) if (event.seq >= 3) break;
    },
    isDropped: true,
  },
};

const lots = Object.entries(KINDS).flatMap(([kind, { weight }]) => Array(weight).fill(kind));

async function runOne(workspace, kind, number) {
  const { source, options, act, check, isRefused, isDropped } = KINDS[kind];
  const name = `run-${number % 50}-${number}`;
  const started = workspace.runtime.exec(source, { encoding: "utf8", input: { name }, ...options });
  if (isRefused) return assert.rejects(started, { code: "ERR_MODULE_NOT_FOUND" });
  const handle = await started;
  await act?.(handle);
  if (isDropped) return;
  check(await handle.result(), name);
  if (kind === "completes") await workspace.fs.rm(`/workspace/${name}`);
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

/** Memory of this process once all garbage is gone. */
async function settledBytes() {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await sleep(50);
  }
  return dataBytes();
}

test("two thousand mixed runs leave nothing", { skip, timeout: 600_000 }, async (t) => {
  const before = canLook && openDescriptors();
  const { pick } = chance("mixed runs", seed);
  t.diagnostic(`seed ${seed}`);
  const modules = {
    "ws:test": {
      twice: async ([number]) => number * 2,
      never: (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    },
  };
  const backend = new JavaScriptBackend({ modules, maxConcurrentExecutions: AT_ONCE, maxMemoryBytes: 32 * MIB });
  const workspace = new Workspace({ storage: ":memory:", backends: [backend] });
  let [settled, later] = [];
  try {
    const all = Array.from({ length: RUNS }, (_, number) => ({ number, kind: pick(lots) }));
    const serve = async (runs) => {
      for (let run = runs.shift(); run; run = runs.shift()) await runOne(workspace, run.kind, run.number);
    };
    const serveAll = (runs) => Promise.all(Array.from({ length: AT_ONCE }, () => serve(runs)));
    await serveAll(all.splice(0, SETTLED_AFTER));
    settled = canLook && (await settledBytes());
    await serveAll(all);
    // Runs that nobody waits for end, too.
    while ((await workspace.runtime.stats()).runs.length > 0) await sleep(20);
    later = canLook && (await settledBytes());
    const { live, queued, runs, warm } = await workspace.runtime.stats();
    assert.deepEqual({ live, queued, runs }, { live: 0, queued: 0, runs: [] });
    if (canLook) assert.ok(childProcesses().length <= Math.max(warm, 1), "only warm processes are left");
  } finally {
    await workspace.close();
  }
  if (!canLook) return;
  assert.deepEqual(childProcesses(), []);
  assert.equal(openDescriptors(), before);
  const growth = later - settled;
  t.diagnostic(`memory: ${(settled / MIB).toFixed(1)} MiB, later ${(growth / MIB).toFixed(1)} MiB more`);
  assert.ok(growth < GROWTH_BYTES_MAX, `${growth} bytes more than after ${SETTLED_AFTER} runs`);
});
