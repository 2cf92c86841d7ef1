// symlink, readlink, realpath, link, and how paths lead through links.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, rejection, treeOf } from "../support/workspace.mjs";

test("a link keeps its target as it is", async (t) => {
  const { fs } = open(t);
  const targets = [
    "f",
    "./f",
    "../f",
    "/",
    "/missing/../f//",
    " ",
    "\\",
    "a\nb",
    "caf\u00e9",
    "cafe\u0301",
    "\u{1f600}",
    "__proto__",
    "n".repeat(4096),
  ];
  for (const target of targets) {
    assert.equal(await fs.symlink(target, "/l"), undefined);
    assert.equal(await fs.readlink("/l"), target);
    const stat = await fs.lstat("/l");
    assert.deepEqual(
      [stat.isSymbolicLink, stat.isFile, stat.isDirectory, stat.mode, stat.size, stat.nlink],
      [true, false, false, 0o777, Buffer.byteLength(target), 1],
    );
    await fs.rm("/l");
  }
});

test("where a link may be made", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "");
  await fs.symlink("d", "/to d");
  await fs.symlink("missing", "/broken");
  const before = await treeOf(fs, "/");
  for (const [path, code] of [
    ["/d", "EEXIST"],
    ["/f", "EEXIST"],
    ["/to d", "EEXIST"],
    ["/broken", "EEXIST"],
    ["/", "EEXIST"],
    ["/missing/x", "ENOENT"],
    ["/broken/x", "ENOENT"],
    ["/f/x", "ENOTDIR"],
  ]) {
    const error = await rejection(fs.symlink("target", path), code);
    assert.deepEqual([error.dest ?? error.path, error.syscall], [path, "symlink"]);
  }
  assert.deepEqual(await treeOf(fs, "/"), before);
  await fs.symlink("target", "/to d/new");
  assert.equal(await fs.readlink("/d/new"), "target");
});

test("what readlink refuses", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "");
  for (const [path, code] of [
    ["/f", "EINVAL"],
    ["/workspace", "EINVAL"],
    ["/", "EINVAL"],
    ["/missing", "ENOENT"],
    ["/f/x", "ENOTDIR"],
  ]) {
    const error = await rejection(fs.readlink(path), code);
    assert.deepEqual([error.path, error.syscall], [path, "readlink"]);
  }
});

test("where paths lead", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d/in/deep", { recursive: true });
  await fs.writeFile("/f", "/f");
  await fs.writeFile("/d/f", "/d/f");
  await fs.writeFile("/d/in/f", "/d/in/f");
  const links = {
    "/to f": "f",
    "/to d": "d",
    "/to d by a slash": "d/",
    "/d/up": "..",
    "/d/here": ".",
    "/d/in/up twice": "../..",
    "/d/in/above the root": "../../../../../f",
    "/absolute": "/d/in",
    "/through": "absolute/up twice/to d/in/f",
    "/back": "to d/../f",
    "/into file": "f/",
    "/through file": "f/../d",
    "/file and dot": "f/.",
    "/missing": "nowhere",
    "/missing below": "nowhere/f",
    "/missing and back": "nowhere/../f",
    "/a": "b",
    "/b": "a",
    "/self": "self/x",
    "/top": "//",
  };
  for (const [path, target] of Object.entries(links)) await fs.symlink(target, path);
  const rows = {
    "/to f": "/f",
    "/to d": "/d",
    "/to d by a slash": "/d",
    "/to d/f": "/d/f",
    "/to d by a slash/in": "/d/in",
    "/d/up": "/",
    "/d/up/f": "/f",
    "/d/here/here/here/f": "/d/f",
    "/d/in/up twice/f": "/f",
    "/d/in/above the root": "/f",
    "/absolute": "/d/in",
    "/absolute/f": "/d/in/f",
    // Of a path `..` goes before any link is followed; in a target it is the real parent.
    "/absolute/../f": "/f",
    "/through": "/d/in/f",
    "/back": "/f",
    "/top": "/",
    "/top/top/d/up/to d": "/d",
    "/": "/",
    "//d/./in/../f/": "/d/f",
    "/into file": "ENOTDIR",
    "/through file": "ENOTDIR",
    "/file and dot": "ENOTDIR",
    "/to f/x": "ENOTDIR",
    "/missing": "ENOENT",
    "/missing/x": "ENOENT",
    "/missing below": "ENOENT",
    "/missing and back": "ENOENT",
    "/a": "ELOOP",
    "/a/x": "ELOOP",
    "/self": "ELOOP",
  };
  for (const [path, result] of Object.entries(rows)) {
    if (!result.startsWith("/")) {
      for (const method of ["realpath", "stat", "access"]) {
        const error = await rejection(fs[method](path), result);
        assert.deepEqual([error.path, error.syscall], [path, method]);
      }
      if (result === "ELOOP") await rejection(fs.exists(path), "ELOOP");
      else assert.equal(await fs.exists(path), false, path);
      continue;
    }
    assert.equal(await fs.realpath(path), result, path);
    assert.equal((await fs.stat(path)).inode, (await fs.lstat(result)).inode, path);
    assert.equal(await fs.exists(path), true, path);
    if (result.endsWith("f")) assert.equal(await fs.readFile(path, "utf8"), result);
  }
});

test("a path leads through forty links and no more", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/0", "end");
  for (let at = 1; at <= 41; at++) await fs.symlink(`${at - 1}`, `/${at}`);
  assert.equal(await fs.readFile("/40", "utf8"), "end");
  assert.equal(await fs.realpath("/40"), "/0");
  await fs.writeFile("/40", "new end");
  assert.equal(await fs.readFile("/0", "utf8"), "new end");
  await rejection(fs.readFile("/41", "utf8"), "ELOOP");
  await rejection(fs.writeFile("/41", "x"), "ELOOP");
  assert.equal(await fs.readlink("/41"), "40");
  // Links on the way count like the last one.
  await fs.symlink(".", "/here");
  assert.equal(await fs.readFile(`${"/here".repeat(39)}/1`, "utf8"), "new end");
  await rejection(fs.readFile(`${"/here".repeat(40)}/1`, "utf8"), "ELOOP");
});

test("a link whose target has a name that is too long leads nowhere, and nothing is made there", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await fs.symlink("n".repeat(256), "/l");
  await rejection(fs.stat("/l"), "ENAMETOOLONG");
  await rejection(fs.writeFile("/l", "x"), "ENAMETOOLONG");
  await rejection(fs.writeFile("/l", new Blob(["x"])), "ENAMETOOLONG");
  await rejection(fs.mkdir("/l/x", { recursive: true }), "ENAMETOOLONG");
  assert.deepEqual((await workspace.check()).problems, []);
});

test("a hard link is one more name of the same file", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "one", { mode: 0o600 });
  assert.equal(await fs.link("/f", "/d/g"), undefined);
  const { name: _, ...first } = await fs.stat("/f");
  const { name: __, ...second } = await fs.stat("/d/g");
  assert.deepEqual(first, second);
  assert.equal(first.nlink, 2);
  await fs.writeFile("/d/g", "two");
  await fs.chmod("/f", 0o640);
  assert.equal(await fs.readFile("/f", "utf8"), "two");
  assert.equal((await fs.stat("/d/g")).mode, 0o640);
  const usage = await fs.statfs();
  assert.deepEqual([usage.files, usage.bytes], [1, 3]);
  await fs.rm("/f");
  assert.equal(await fs.readFile("/d/g", "utf8"), "two");
  assert.equal((await fs.stat("/d/g")).nlink, 1);
  await fs.rm("/d/g");
  assert.deepEqual((await fs.statfs()).files, 0);
});

test("a hard link of a link is a name of the link", async (t) => {
  const { fs } = open(t);
  await fs.symlink("missing", "/l");
  await fs.link("/l", "/m");
  assert.equal(await fs.readlink("/m"), "missing");
  assert.equal((await fs.lstat("/m")).nlink, 2);
  assert.equal((await fs.lstat("/m")).inode, (await fs.lstat("/l")).inode);
});

test("what cannot be linked", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "");
  await fs.symlink("missing", "/broken");
  const before = await treeOf(fs, "/");
  for (const [existing, path, code] of [
    ["/d", "/new", "EPERM"],
    ["/", "/new", "EPERM"],
    ["/missing", "/new", "ENOENT"],
    ["/missing/x", "/new", "ENOENT"],
    ["/f/x", "/new", "ENOTDIR"],
    ["/f", "/f", "EEXIST"],
    ["/f", "/d", "EEXIST"],
    ["/f", "/broken", "EEXIST"],
    ["/d", "/f", "EEXIST"],
    ["/f", "/missing/x", "ENOENT"],
    ["/f", "/f/x", "ENOTDIR"],
  ]) {
    const error = await rejection(fs.link(existing, path), code);
    assert.equal(error.syscall, "link");
  }
  assert.deepEqual(await treeOf(fs, "/"), before);
});
