// Workspaces on files, and second processes that a test drives step by step. Both end with the test,
// also with one that fails, so that no call under way keeps the runner alive.
//
//   const other = await startProcess(t, { storage: file });
//   await other.run(async ({ workspace }, name) => workspace.fs.writeFile(name, "x"), "/a");
//   await other.kill();

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Workspace } from "carrel";
import { atEnd } from "./ending.mjs";

const program = fileURLToPath(new URL("process-main.mjs", import.meta.url));

/** Opens a workspace, closed when the test `t` is over. */
export function openAt(t, storage) {
  const workspace = new Workspace({ storage });
  atEnd(t, () => workspace.close());
  return workspace;
}

/** Waits until something is true; fails after `seconds`. */
export async function waitFor(what, condition, seconds = 10) {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `not within ${seconds} seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * Starts a process; with `options.storage` it opens that workspace. It ends with the test.
 *
 * What runs there is sent as text: it sees its arguments and globals, nothing around it.
 */
export async function startProcess(t, options = {}) {
  const child = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"], ...options.fork });
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const waiting = new Map();
  let calls = 0;
  child.on("message", ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(Object.assign(new Error(error.message), error));
    else resolve(value);
  });
  exited.then(({ code, signal }) => {
    for (const { reject } of waiting.values()) reject(new Error(`the process ended: ${signal ?? code}`));
  });

  const other = {
    pid: child.pid,
    /** Settles with code and signal when the process is gone. */
    exited,
    /** Runs `body` there, with `{ workspace, Workspace, state }` before the arguments. */
    run(body, ...args) {
      return new Promise((resolve, reject) => {
        waiting.set(++calls, { resolve, reject });
        child.send({ id: calls, body: String(body), args }, (error) => error && reject(error));
      });
    },
    /** Ends it with SIGKILL. */
    async kill() {
      child.kill("SIGKILL");
      return exited;
    },
    /** Ends it as programs end: the workspace is closed first. */
    async end() {
      await other.run(async ({ workspace }) => workspace?.close());
      child.disconnect();
      return exited;
    },
  };
  atEnd(t, () => other.kill());
  if (options.storage !== undefined) {
    await other.run((context, storage) => {
      context.workspace = new context.Workspace({ storage });
    }, options.storage);
  }
  return other;
}
