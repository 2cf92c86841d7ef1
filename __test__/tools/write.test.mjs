// write: whole files, and what is refused before anything is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTools, toolsOver } from "../support/tools.mjs";
import { treeOf } from "../support/workspace.mjs";

const PATH = "/workspace/file";

test("the result says what was there", async (t) => {
  const { fs, ok } = openTools(t);
  const rows = [
    ["a", 1],
    ["", 0],
    ["é😀\r\n", 8],
    ["\ufeffb", 4],
    ["x".repeat(2_097_152), 2_097_152],
    ["y", 1],
  ];
  let sizeBefore;
  for (const [content, bytesWritten] of rows) {
    const { version, ...output } = await ok("write", { path: PATH, content });
    const existed = sizeBefore !== undefined;
    assert.deepEqual(output, { path: PATH, bytesWritten, existed, ...(existed && { sizeBefore }) });
    assert.equal(version, (await ok("read", { path: PATH })).version);
    assert.equal(await fs.readFile(PATH, "utf8"), content);
    sizeBefore = bytesWritten;
  }
});

test("a write is seen whole or not at all", async (t) => {
  const { fs, ok } = openTools(t);
  const [a, b] = ["a", "b"].map((letter) => letter.repeat(1_500_000));
  await ok("write", { path: PATH, content: a });
  const writing = ok("write", { path: PATH, content: b });
  const seen = await Promise.all(Array.from({ length: 5 }, () => fs.readFile(PATH, "utf8")));
  await writing;
  assert.ok(seen.every((text) => text === a || text === b));
});

test("missing directories are made, modes and links stay", async (t) => {
  const { fs, ok } = openTools(t);
  await ok("write", { path: "/workspace/a/b/c.txt", content: "1" });
  await ok("write", { path: "rel/d.txt", content: "2" });
  await ok("write", { path: "/outside/e.txt", content: "3" });
  await ok("write", { path: "/top.txt", content: "4" });
  await fs.chmod("/workspace/a/b/c.txt", 0o751);
  await fs.symlink("a/b/c.txt", "/workspace/soft");
  await fs.symlink("a", "/workspace/folder");
  await fs.symlink("a/new.txt", "/workspace/dangling");
  await fs.link("/workspace/a/b/c.txt", "/workspace/hard");
  const rows = [
    ["/workspace/soft", true, "/workspace/a/b/c.txt"],
    ["/workspace/folder/b/c.txt", true, "/workspace/a/b/c.txt"],
    ["/workspace/hard", true, "/workspace/a/b/c.txt"],
    ["/workspace/folder/b/more/x.txt", false, "/workspace/a/b/more/x.txt"],
    ["/workspace/dangling", false, "/workspace/a/new.txt"],
    ["/workspace/./a//b/../y.txt", false, "/workspace/a/y.txt"],
  ];
  for (const [path, existed, real] of rows) {
    const output = await ok("write", { path, content: path });
    assert.deepEqual([output.path, output.existed], [path, existed]);
    assert.equal(await fs.readFile(real, "utf8"), path);
  }
  assert.equal((await fs.stat("/workspace/hard")).mode & 0o7777, 0o751);
  assert.equal(await fs.readlink("/workspace/soft"), "a/b/c.txt");
  assert.equal((await fs.stat("/workspace/a/y.txt")).mode & 0o7777, 0o644);
  assert.equal(await fs.readFile("/top.txt", "utf8"), "4");
});

test("what cannot be written leaves everything as it is", async (t) => {
  const { fs, refused } = openTools(t);
  await fs.mkdir("/workspace/d");
  await fs.writeFile(PATH, "old");
  await fs.symlink("d", "/workspace/link");
  await fs.symlink("loop", "/workspace/loop");
  const before = await treeOf(fs, "/");
  const rows = [
    ["/workspace/d", "EISDIR", "is a directory", "name a file"],
    ["/workspace/link", "EISDIR"],
    ["/workspace/new/", "EISDIR", "without a / at the end"],
    ["/workspace/file/", "EISDIR"],
    ["/", "EISDIR"],
    [".", "EISDIR"],
    ["", "EISDIR"],
    ["/workspace/file/below", "ENOTDIR", "leads through a file"],
    ["/workspace/file/below/deep.txt", "ENOTDIR"],
    ["/workspace/loop", "ELOOP"],
    [`/workspace/new/${"n".repeat(256)}`, "ENAMETOOLONG"],
    ["/workspace/new/a\0b", "EINVAL"],
  ];
  for (const [path, code, ...words] of rows) {
    await refused("write", { path, content: "x" }, code, ...words);
    assert.deepEqual(await treeOf(fs, "/"), before, path);
  }
});

test("content larger than maxBytes is refused", async (t) => {
  const { workspace, fs, refused } = openTools(t);
  await refused("write", { path: PATH, content: "x".repeat(2_097_153) }, "EFBIG", "2097153", "2097152", "`edit`");
  const { ok, refused: refusedHere } = toolsOver(workspace, { write: { maxBytes: 4 } });
  await ok("write", { path: PATH, content: "éé" });
  await refusedHere("write", { path: PATH, content: "ééx" }, "EFBIG", "5 bytes", "4 (4B)");
  assert.equal(await fs.readFile(PATH, "utf8"), "éé");
});

test("ifUnchanged writes over the version that was read only", async (t) => {
  const { fs, ok, refused } = openTools(t);
  await fs.writeFile(PATH, "one");
  const { version } = await ok("read", { path: PATH });
  await fs.writeFile(PATH, "two");
  const conflict = await refused(
    "write",
    { path: PATH, content: "x", ifUnchanged: version },
    "ECONFLICT",
    PATH,
    "read it",
  );
  assert.equal(conflict.version, (await ok("read", { path: PATH })).version);
  const { version: next } = await ok("write", { path: PATH, content: "three", ifUnchanged: conflict.version });
  await ok("write", { path: PATH, content: "four", ifUnchanged: next });
  await fs.rm(PATH);
  await refused("write", { path: PATH, content: "x", ifUnchanged: next }, "ECONFLICT", "was deleted", "`ifUnchanged`");
  await refused("write", { path: "/workspace/new", content: "x", ifUnchanged: "0".repeat(16) }, "ECONFLICT");
  assert.equal(await fs.exists("/workspace/new"), false);
  // The version of an edit serves as well.
  await fs.writeFile(PATH, "five");
  const edited = await ok("edit", { path: PATH, edits: [{ oldText: "five", newText: "six" }] });
  await ok("write", { path: PATH, content: "seven", ifUnchanged: edited.version });
});

test("the notices of cut output are not written back", async (t) => {
  const { workspace, fs, ok, refused } = openTools(t, { read: { includeLineNumbers: false } });
  const long = `first\n${"word ".repeat(20)}end\nlast\n`;
  await fs.writeFile(PATH, long);
  const cutting = toolsOver(workspace, { read: { includeLineNumbers: false, lineTruncation: { bytes: 20 } } });
  const { content } = await cutting.ok("read", { path: PATH });
  assert.match(content, /\.\.\. \(truncated\)\nlast$/);
  await refused("write", { path: PATH, content }, "EINVAL", "notice", PATH, "nothing was written");
  await refused("write", { path: PATH, content: content.replace("first", "1st") }, "EINVAL");
  assert.equal(await fs.readFile(PATH, "utf8"), long);
  // Nor to another file, nor by an edit, by tools that cut lines like that.
  await cutting.refused("write", { path: "/workspace/copy", content }, "EINVAL", "notice");
  const edits = [{ oldText: "last", newText: content.split("\n")[1] }];
  await cutting.refused("edit", { path: PATH, edits }, "EINVAL", "notice");
  assert.equal(await fs.readFile(PATH, "utf8"), long);

  const output = [
    "total 3\na\nb\n\n[Showing lines 4-5 of 5. Full output: /.carrel/output/a.log]",
    "a\n\n[Showing last 8B of line 3.]\n",
    "a\n\n[Showing lines 1-2 of 9 (64.0KB limit). Full output was not saved: disk full]",
  ];
  for (const text of output) await refused("write", { path: "/workspace/new", content: text }, "EINVAL", "notice");
  assert.equal(await fs.exists("/workspace/new"), false);

  // Texts that only speak of them are no notices.
  const fine = [
    "we print `... (truncated)` there\n",
    "a new line... (truncated)\n",
    "see [Showing lines 4-5 of 5.] above\nmore\n",
    "[Showing]",
  ];
  for (const text of fine) {
    await ok("write", { path: "/workspace/new", content: text });
    await ok("write", { path: "/workspace/new", content: text });
  }
  // A file that has the notice already keeps it.
  await fs.writeFile(PATH, output[0]);
  await ok("write", { path: PATH, content: `more ${output[0]}` });
});

test("a result of read with its line numbers is written as it is", async (t) => {
  const { fs, ok } = openTools(t);
  await ok("write", { path: PATH, content: "1\ta\n2\tb\n" });
  assert.equal(await fs.readFile(PATH, "utf8"), "1\ta\n2\tb\n");
});

test("a full workspace says so and keeps the old file", async (t) => {
  const { fs, refused } = openTools(t, {}, { quotaBytes: 10_000 });
  await fs.writeFile(PATH, "old");
  const { error } = await refused("write", { path: PATH, content: "x".repeat(20_000) }, "ENOSPC", PATH);
  assert.match(error, /\/workspace\/file/);
  assert.equal(await fs.readFile(PATH, "utf8"), "old");
});
