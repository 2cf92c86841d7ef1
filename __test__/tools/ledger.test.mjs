// requireReadBeforeOverwrite: write replaces only what its caller has read as it is, also after a restart.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { atEnd, folderFor } from "../support/ending.mjs";
import { startProcess } from "../support/process.mjs";
import { openTools, toolsOver } from "../support/tools.mjs";

const PATH = "/workspace/file";
const STRICT = { requireReadBeforeOverwrite: true };
const write = (content, path = PATH) => ["write", { path, content }];
const read = (path = PATH, more = {}) => ["read", { path, ...more }];
const edit = (oldText, newText) => ["edit", { path: PATH, edits: [{ oldText, newText }] }];

/** Rows of calls in their order, with the code of each that has to fail; a function works on the workspace. */
async function check(t, rows, options = STRICT) {
  for (const [what, ...calls] of rows) {
    const { fs, ok, refused } = openTools(t, options);
    await fs.writeFile(PATH, "first");
    for (const call of calls) {
      if (typeof call === "function") await call(fs);
      else if (call[2] === undefined) await ok(...call);
      else {
        const before = await fs.readFile(PATH, "utf8");
        const output = await refused(...call);
        if (call[0] === "write") assert.match(output.error, /read it/, what);
        assert.equal(await fs.readFile(PATH, "utf8"), before, what);
      }
    }
  }
}

const UNREAD = "ENOTREAD";
const CHANGED = "ECONFLICT";
const change = (fs) => fs.writeFile(PATH, "changed");

test("a file is read before it is replaced", (t) =>
  check(t, [
    ["unread", [...write("x"), UNREAD]],
    ["read", read(), write("x")],
    ["read in part", read(PATH, { limit: 1 }), write("x")],
    ["read, then written again", read(), write("x"), write("y")],
    ["changed by others", read(), change, [...write("x"), CHANGED], read(), write("x")],
    ["changed and put back", read(), change, (fs) => fs.writeFile(PATH, "first"), write("x")],
    ["changed after the own write", read(), write("x"), change, [...write("y"), CHANGED]],
    ["touched only", read(), (fs) => fs.chmod(PATH, 0o600), write("x")],
    ["read, then edited", read(), edit("first", "second"), write("x")],
    ["edited unread", edit("first", "second"), [...write("x"), UNREAD]],
    ["edited what others have changed", read(), change, edit("changed", "second"), [...write("x"), CHANGED]],
    ["a refused edit is no reading", [...edit("none", "x"), "ENOMATCH"], [...write("x"), UNREAD]],
    ["searched only", ["grep", { query: "first" }], ["ls", { path: "." }], [...write("x"), UNREAD]],
    ["a refused read is no reading", [...read(PATH, { offset: 99 }), "EINVAL"], [...write("x"), UNREAD]],
    ["a new file", write("x", "/workspace/new"), write("y", "/workspace/new")],
    ["an empty file has nothing to lose", (fs) => fs.writeFile(PATH, ""), write("x"), write("y")],
    ["deleted and made by others", read(), (fs) => fs.rm(PATH), change, [...write("x"), UNREAD]],
    ["deleted, then new", read(), ["delete", { path: PATH }], write("x")],
    ["moved", read(), (fs) => fs.rename(PATH, "/workspace/moved"), write("x", "/workspace/moved")],
  ]));

test("what was read under another name counts, what was copied does not", async (t) => {
  const { fs, ok, refused } = openTools(t, STRICT);
  await fs.writeFile(PATH, "text");
  await fs.symlink("file", "/workspace/soft");
  await fs.link(PATH, "/workspace/hard");
  await fs.copyFile(PATH, "/workspace/copy");
  await ok("read", { path: "/workspace/soft" });
  await refused(...write("x", "/workspace/copy"), UNREAD, "/workspace/copy");
  await ok(...write("x", "/workspace/hard"));
  await ok(...write("y"));
});

test("media and binary files count as read when they were described", async (t) => {
  const { fs, ok } = openTools(t, STRICT);
  await fs.writeFile(PATH, Buffer.from("a\0b"));
  await ok(...read());
  await ok(...write("x"));
});

test("without the option nothing is asked", async (t) => {
  const { fs, ok, workspace } = openTools(t);
  await fs.writeFile(PATH, "first");
  await ok(...write("x"));
  // And nothing is kept: what was read without it is not known later.
  await ok(...read());
  await toolsOver(workspace, STRICT).refused(...write("y"), UNREAD);
});

test("each auditTag has read for itself", async (t) => {
  const { fs, workspace } = openTools(t);
  await fs.writeFile(PATH, "first");
  const [alice, bob, nobody] = ["alice", "bob", undefined].map((auditTag) =>
    toolsOver(workspace, { ...STRICT, ...(auditTag && { auditTag }) }),
  );
  await alice.ok(...read());
  await bob.refused(...write("x"), UNREAD);
  await nobody.refused(...write("x"), UNREAD);
  await alice.ok(...write("by alice"));
  await bob.ok(...read());
  await bob.ok(...write("by bob"));
  await alice.refused(...write("x"), CHANGED);
  await nobody.ok(...read());
  await nobody.ok(...write("by nobody"));
  // Another set of the same tag knows what the first one knows.
  await alice.ok(...read());
  await toolsOver(workspace, { ...STRICT, auditTag: "alice" }).ok(...write("by alice again"));
});

test("what was read is known after a restart, and in other processes", async (t) => {
  const file = join(folderFor(t), "ledger.db");
  const reopened = async (body) => {
    const workspace = new Workspace({ storage: file });
    try {
      await body(toolsOver(workspace, { ...STRICT, auditTag: "a" }), workspace);
    } finally {
      await workspace.close();
    }
  };
  await reopened(async ({ ok }, { fs }) => {
    await fs.writeFile(PATH, "first");
    await fs.writeFile("/workspace/other", "unread");
    await ok(...read());
  });
  await reopened(async ({ ok, refused }) => {
    await refused(...write("x", "/workspace/other"), UNREAD);
    await ok(...write("second"));
  });
  const other = await startProcess(t, { storage: file });
  const outcome = await other.run(async ({ workspace }, path) => {
    const { createToolSet } = await import("carrel/tools");
    const set = createToolSet({ workspace, requireReadBeforeOverwrite: true, auditTag: "a" });
    return set.execute("write", { path, content: "by another process" });
  }, PATH);
  assert.equal(outcome.isError, false, outcome.output.error);
  await other.run(({ workspace }, path) => workspace.fs.writeFile(path, "without the tools"), PATH);
  const workspace = new Workspace({ storage: file });
  atEnd(t, () => workspace.close());
  const { ok, refused } = toolsOver(workspace, { ...STRICT, auditTag: "a" });
  await refused(...write("x"), CHANGED);
  await ok(...read());
  await ok(...write("third"));
});

test("a read is known to the very next write", async (t) => {
  const { fs, run, ok } = openTools(t, STRICT);
  for (let round = 0; round < 50; round++) {
    const path = `/workspace/f${round}`;
    await fs.writeFile(path, "first");
    await ok("read", { path });
    const { isError, output } = await run("write", { path, content: "second" });
    assert.equal(isError, false, output.error);
  }
});

test("what is kept goes with the files", async (t) => {
  const { fs, ok, workspace } = openTools(t, STRICT);
  for (let n = 0; n < 20; n++) {
    await fs.writeFile(PATH, `text ${n}`);
    await ok(...read());
    await ok("delete", { path: PATH });
  }
  assert.deepEqual((await workspace.check()).problems, []);
});

test("a continuation that is refused shows nothing of the new version", async (t) => {
  const { fs, ok, refused } = openTools(t, STRICT);
  await fs.writeFile(PATH, "a\nb\n");
  const { version, nextOffset, nextByteOffset } = await ok(...read(PATH, { limit: 1 }));
  await fs.writeFile(PATH, "other\ntext\n");
  const goesOn = { offset: nextOffset, byteOffset: nextByteOffset, version };
  await refused(...read(PATH, goesOn), "ESTALE");
  await refused(...write("x"), CHANGED);
  await ok(...read());
  await ok(...write("x"));
});

test("ifUnchanged and the reading are both asked for", async (t) => {
  const { fs, ok, refused, workspace } = openTools(t, STRICT);
  await fs.writeFile(PATH, "first");
  const { version } = await toolsOver(workspace).ok(...read());
  await refused("write", { path: PATH, content: "x", ifUnchanged: version }, UNREAD);
  await ok(...read());
  await refused("write", { path: PATH, content: "x", ifUnchanged: "0".repeat(16) }, CHANGED);
  await ok("write", { path: PATH, content: "x", ifUnchanged: version });
});
