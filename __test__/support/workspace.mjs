// Workspaces for tests, and short ways to look into them.

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Workspace, WorkspaceError } from "carrel";

/** The ways to store a workspace, by name. */
export const STORAGES = {
  memory: () => ":memory:",
  full: (folder) => ({ path: join(folder, "full.db"), durability: "full" }),
  normal: (folder) => ({ path: join(folder, "normal.db"), durability: "normal" }),
  off: (folder) => ({ path: join(folder, "off.db"), durability: "off" }),
};

/** A new folder for databases, removed when the test `t` is over. */
export function folderFor(t) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "carrel-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a new workspace, closed and removed when the test `t` is over. */
export function open(t, storage = "memory", options = {}) {
  const folder = storage === "memory" ? undefined : mkdtempSync(join(realpathSync(tmpdir()), "carrel-"));
  const workspace = new Workspace({ storage: STORAGES[storage](folder), ...options });
  t.after(async () => {
    await workspace.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  return workspace;
}

/** All bytes of a stream, or of the promise of one. */
export async function bytesOf(stream) {
  const pieces = [];
  for await (const piece of await stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The rejection of `promise`, checked to be a whole `WorkspaceError` with this code. */
export async function rejection(promise, code) {
  const error = await promise.then(
    () => assert.fail(`it resolved; ${code} was expected`),
    (reason) => reason,
  );
  assert.ok(error instanceof WorkspaceError, `${error?.stack ?? error} is no WorkspaceError`);
  assert.equal(error.code, code, error.stack);
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  return error;
}

/** Everything at and below a directory, as one value that compares: types, modes, contents, targets. */
export async function treeOf(fs, directory) {
  const tree = {};
  for (const { name, isDirectory, isSymbolicLink } of await fs.readdir(directory)) {
    const path = directory === "/" ? `/${name}` : `${directory}/${name}`;
    const { mode } = await fs.lstat(path);
    if (isDirectory) tree[`${name}/`] = { mode, ...(await treeOf(fs, path)) };
    else if (isSymbolicLink) tree[`${name}@`] = await fs.readlink(path);
    else tree[name] = `${mode.toString(8)} ${await fs.readFile(path, "utf8")}`;
  }
  return tree;
}

/** Waits until `isSo` says that it is so; fails if that takes long. */
export async function eventually(isSo, what = "what was waited for") {
  const started = performance.now();
  while (!(await isSo())) {
    assert.ok(performance.now() - started < 20_000, `${what} did not happen in 20 seconds`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
