// The processes behind runs: what they cost while they wait, and what becomes of a run when one is gone.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { skip } from "../support/runs.mjs";
import { eventually, open } from "../support/workspace.mjs";

const needsProc = skip || (process.platform !== "linux" && "there is no /proc here");

/** The isolate processes of this one. */
function isolates() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [state, ppid] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
        return (
          Number(ppid) === process.pid &&
          state !== "Z" &&
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("carrel-isolate")
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Ticks of the CPU that a process has used. */
function ticks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

test("a process that waits uses no CPU, warm or in the middle of a run", { skip: needsProc }, async (t) => {
  const backend = new JavaScriptBackend({
    modules: { "ws:test": { wait: () => new Promise((r) => setTimeout(r, 1500)) } },
  });
  const workspace = open(t, "memory", { backends: [backend] });
  const run = await workspace.runtime.exec(
    `import { wait } from "ws:test"; export default () => Promise.all([wait(), new Promise((r) => setTimeout(r, 1500))]).then(() => 1)`,
  );
  await eventually(async () => isolates().length >= 2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = new Map(isolates().map((pid) => [pid, ticks(pid)]));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  // A tick is 10 ms; one that asked again and again would have had most of a hundred.
  for (const [pid, used] of before) assert.ok(ticks(pid) - used < 20, `${ticks(pid) - used} ticks`);
  assert.equal((await run.result()).value, 1);
});

test("a run does not notice that the process kept ready for it is gone", { skip: needsProc }, async (t) => {
  const backend = new JavaScriptBackend();
  const workspace = open(t, "memory", { backends: [backend] });
  await backend.prewarm();
  for (let round = 0; round < 5; round += 1) {
    // Only a process that is ready: what becomes of one that cannot even start is another matter.
    await eventually(async () => (await workspace.runtime.stats()).warm === 1 && isolates().length === 1);
    for (const pid of isolates()) process.kill(pid, "SIGKILL");
    const run = await workspace.runtime.exec("export default 7");
    const { status, value } = await run.result();
    assert.deepEqual({ status, value }, { status: "completed", value: 7 });
  }
});
