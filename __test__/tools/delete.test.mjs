// delete: what is removed, whether it was there, and what cannot be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTools, toolsOver } from "../support/tools.mjs";
import { treeOf } from "../support/workspace.mjs";

test("whether something was there is said", async (t) => {
  const { fs, ok } = openTools(t);
  await fs.mkdir("/workspace/empty");
  await fs.mkdir("/workspace/full/deep", { recursive: true });
  await fs.writeFile("/workspace/full/deep/a", "x");
  await fs.writeFile("/workspace/file", "x");
  await fs.writeFile("/outside", "x");
  const rows = [
    [{ path: "/workspace/file" }, true],
    [{ path: "/workspace/file" }, false],
    [{ path: "/workspace/file", recursive: true }, false],
    [{ path: "/workspace/empty" }, true],
    [{ path: "/workspace/full/deep/a/below" }, false],
    [{ path: "/workspace/none/of/this" }, false],
    [{ path: "full", recursive: true }, true],
    [{ path: "./full" }, false],
    [{ path: "/outside" }, true],
  ];
  for (const [input, existed] of rows) {
    assert.deepEqual(await ok("delete", input), { deleted: input.path, existed }, JSON.stringify(input));
  }
  assert.deepEqual(await fs.readdir("/workspace"), []);
});

test("a directory with something in it needs recursive", async (t) => {
  const { fs, ok, refused } = openTools(t);
  await fs.mkdir("/workspace/d/e", { recursive: true });
  await fs.writeFile("/workspace/d/e/f", "x");
  for (const input of [{}, { recursive: false }, { recursive: null }]) {
    await refused("delete", { path: "/workspace/d", ...input }, "ENOTEMPTY", "/workspace/d", "`recursive: true`");
  }
  assert.equal(await fs.exists("/workspace/d/e/f"), true);
  await ok("delete", { path: "/workspace/d", recursive: true });
  assert.equal(await fs.exists("/workspace/d"), false);
});

test("of a link only the link goes", async (t) => {
  const { fs, ok } = openTools(t);
  await fs.mkdir("/workspace/d");
  await fs.writeFile("/workspace/d/a", "x");
  await fs.symlink("d", "/workspace/folder");
  await fs.symlink("d/a", "/workspace/file");
  await fs.symlink("nowhere", "/workspace/dangling");
  await fs.link("/workspace/d/a", "/workspace/hard");
  for (const path of ["/workspace/folder", "/workspace/file", "/workspace/dangling", "/workspace/hard"]) {
    assert.deepEqual(await ok("delete", { path, recursive: true }), { deleted: path, existed: true });
  }
  assert.deepEqual(await treeOf(fs, "/workspace"), { "d/": { mode: 0o755, a: "644 x" } });
});

test("the directory that the tools work in cannot be deleted, under any name", async (t) => {
  const { workspace, fs, refused } = openTools(t);
  await fs.mkdir("/data/inner", { recursive: true });
  await fs.writeFile("/data/inner/a", "x");
  await fs.writeFile("/workspace/a", "x");
  const before = await treeOf(fs, "/");
  for (const path of ["/workspace", "/workspace/", ".", "", "./", "/workspace/../workspace", "/", ".."]) {
    for (const recursive of [false, true]) await refused("delete", { path, recursive }, "EPERM", "cannot be deleted");
  }
  const inner = toolsOver(workspace, { root: "/data/inner" });
  for (const path of [".", "/data/inner", "../inner"]) {
    await inner.refused("delete", { path, recursive: true }, "EPERM", "cannot be deleted");
  }
  assert.deepEqual(await treeOf(fs, "/"), before);
});

test("a directory above the one that the tools work in is not deleted either", async (t) => {
  const { workspace, fs } = openTools(t);
  await fs.mkdir("/data/inner", { recursive: true });
  await fs.writeFile("/data/inner/a", "x");
  const { output, isError } = await toolsOver(workspace, { root: "/data/inner" }).run("delete", {
    path: "/data",
    recursive: true,
  });
  assert.equal(isError, true, JSON.stringify(output));
  assert.equal(await fs.exists("/data/inner/a"), true);
});
