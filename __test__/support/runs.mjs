// Runs for tests, and hostile code beside code that means well.

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { isolatePath } from "../../dist/runtime/isolate-path.js";
import { canLook, childProcesses, openDescriptors } from "./processes.mjs";

/** Why tests of runs are skipped, or false. */
export const skip = isolatePath() === undefined && "the program that runs code was not built (CARREL_SKIP_ISOLATE)";

const MIB = 1024 * 1024;

// How runs end.
export const COMPLETED = { status: "completed", exitCode: 0, reason: undefined };
export const ERROR = { status: "failed", exitCode: 1, reason: "error" };
export const LIMIT = { status: "failed", exitCode: 1, reason: "limit" };
export const MEMORY = { status: "failed", exitCode: 137, reason: "memory" };
export const TIMEOUT = { status: "failed", exitCode: 124, reason: "timeout" };
export const CPU = { status: "failed", exitCode: 124, reason: "cpu" };
export const KILLED = { status: "cancelled", exitCode: 130, reason: "killed" };
/** A run that ended by itself with this code. */
export const exited = (code) => (code === 0 ? COMPLETED : { ...ERROR, exitCode: code });

/** A workspace with a backend of these options; `close` ends it. */
export function openRuntime(options = {}) {
  const backend = new JavaScriptBackend(options);
  return new Workspace({ storage: ":memory:", backends: [backend] });
}

/** Runs the source to its end. */
export async function runToEnd(workspace, source, options = {}) {
  const handle = await workspace.runtime.exec(source, { encoding: "utf8", ...options });
  return handle.result();
}

/** How a run ended, as the names above say it. */
export const endOf = ({ status, exitCode, reason }) => ({ status, exitCode, reason });

/** Code that means well: it waits for `gate`, then uses what runs have. */
const INNOCENT = `
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gate, twice } from "ws:test";

export default async ({ name }) => {
  await gate(name);
  console.log("hello from %s", name);
  await writeFile(name, name.repeat(1000));
  await sleep(2);
  const [text, doubled] = await Promise.all([readFile(name, "utf8"), twice(21)]);
  return { length: text.length, same: readFileSync(name, "utf8") === text, doubled, sum: [3, 4].reduce((a, b) => a + b) };
};
`;

async function checkInnocent(handle, name) {
  const result = await handle.result();
  assert.deepEqual(
    { ...endOf(result), stdout: result.stdout, stderr: result.stderr, value: result.value },
    {
      ...COMPLETED,
      stdout: `hello from ${name}\n`,
      stderr: "",
      value: { length: name.length * 1000, same: true, doubled: 42, sum: 7 },
    },
    `the run ${name} beside it`,
  );
}

/**
 * Runs `attack` beside two runs that mean well: both wait until the attack has begun, one of them in a process
 * that was there before, one in a process that starts while it goes on. Then nothing may be left of any of them.
 *
 * An attack is `source`, and how it `ends`; more fields:
 *
 * - `value`, `stdout`, `stderr`: what the result has; a text, a regular expression or a function that checks.
 * - `refused`: the name or code of the error that \`exec\` rejects with instead of a run.
 * - `limits` of the backend, \`exec\` options (`options`), `files` by path, `meanwhile(handle)` once it has begun.
 */
export async function besideInnocents(attack) {
  const { source, refused, limits, options, files = {}, meanwhile } = attack;
  const before = canLook && openDescriptors();
  let begun;
  const hasBegun = new Promise((resolve) => {
    begun = resolve;
  });
  const twice = async ([number]) => number * 2;
  const modules = {
    "ws:test": {
      gate: () => hasBegun.then(() => null),
      twice,
      echo: async ([value]) => value,
      never: (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      refuse: async () => {
        throw new Error("refused");
      },
    },
  };
  // The limits are for the attack; all three are in one workspace, and in processes of two pools.
  const innocents = new JavaScriptBackend({ id: "innocents", modules });
  const attacked = new JavaScriptBackend({ id: "attacked", modules, defaultTimeoutMs: 60_000, ...limits });
  const workspace = new Workspace({ storage: ":memory:", backends: [innocents, attacked] });
  try {
    await workspace.fs.mkdir("/workspace", { recursive: true });
    for (const folder of new Set(Object.keys(files).map(dirname)))
      await workspace.fs.mkdir(folder, { recursive: true });
    await Promise.all(Object.entries(files).map(([path, content]) => workspace.fs.writeFile(path, content)));
    const innocent = (name) =>
      workspace.runtime.exec(INNOCENT, { backend: "innocents", encoding: "utf8", input: { name } });
    const first = await innocent("first");
    const started = workspace.runtime.exec(source, { backend: "attacked", encoding: "utf8", ...options });
    const handle = await started.catch((error) => {
      if (!refused) throw error;
      assert.ok([error.name, error.code].includes(refused), error.stack);
    });
    assert.equal(handle === undefined, refused !== undefined, "whether the attack was refused");
    begun();
    const others = [checkInnocent(first, "first"), innocent("second").then((other) => checkInnocent(other, "second"))];
    const follow = async () => {
      await meanwhile?.(handle, workspace);
      check(attack, await handle.result());
    };
    const ended = handle && follow();
    await Promise.all([...others, ended]);
    if (canLook) {
      const { live, queued, warm, runs } = await workspace.runtime.stats();
      assert.deepEqual({ live, queued, runs }, { live: 0, queued: 0, runs: [] });
      assert.ok(warm <= 2, `${warm} processes are warm`);
    }
    // Whoever comes next finds everything in order.
    const next = await runToEnd(workspace, "export default () => 6 * 7", { backend: "attacked" });
    assert.deepEqual([endOf(next), next.value], [COMPLETED, 42], next.stderr);
  } finally {
    begun();
    await workspace.close();
  }
  if (canLook) {
    assert.deepEqual(childProcesses(), [], "processes that are left");
    assert.equal(openDescriptors(), before, "descriptors that are left");
  }
}

function check({ ends, value, stdout, stderr }, result) {
  const shown = inspect(result, { depth: 3 }).slice(0, 3000);
  if (typeof ends === "function") assert.ok(ends(endOf(result)), shown);
  else assert.deepEqual(endOf(result), ends, shown);
  for (const [name, wanted] of Object.entries({ value, stdout, stderr })) {
    if (wanted === undefined) continue;
    if (typeof wanted === "function") assert.ok(wanted(result[name]), `${name}: ${shown}`);
    else if (wanted instanceof RegExp) assert.match(result[name], wanted, shown);
    else assert.deepEqual(result[name], wanted, `${name}: ${shown}`);
  }
}

/** One test for each attack: `[name, source, ends, more]`. */
export function attacks(title, table, common = {}) {
  describe(title, { skip }, () => {
    for (const [name, source, ends, more] of table) {
      test(name, { timeout: 120_000 }, async () => {
        await besideInnocents({ source, ends, ...common, ...more, limits: { ...common.limits, ...more?.limits } });
      });
    }
  });
}

export { MIB };
