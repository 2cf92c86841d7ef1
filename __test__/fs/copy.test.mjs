// copyFile and cp.

import assert from "node:assert/strict";
import { test } from "node:test";
import { uniqueBytes } from "../support/chance.mjs";
import { bytesOf, open, rejection, treeOf } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

test("a copy shares what it holds, whatever its size, until one of the two changes", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const workspace = open(t, storage);
    const { fs } = workspace;
    for (const size of [0, 1, 5000, CHUNK_BYTES, 4 * CHUNK_BYTES + 1]) {
      const bytes = uniqueBytes(size, size);
      await fs.writeFile("/f", bytes, { mode: 0o640 });
      const before = await fs.statfs();
      assert.equal(await fs.copyFile("/f", "/copy"), undefined);
      await fs.cp("/f", "/another");
      const after = await fs.statfs();
      assert.equal(after.bytes, 3 * size);
      assert.equal(after.storedBytes, before.storedBytes);
      const [stat, copied] = [await fs.stat("/f"), await fs.stat("/copy")];
      assert.notEqual(copied.inode, stat.inode);
      assert.deepEqual([copied.size, copied.mode, copied.nlink], [size, 0o640, 1]);

      await fs.appendFile("/f", "more");
      await fs.truncate("/another", Math.floor(size / 2));
      assert.ok((await bytesOf(fs.readFile("/copy"))).equals(bytes));
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(Buffer.concat([bytes, Buffer.from("more")])));
      assert.ok((await bytesOf(fs.readFile("/another"))).equals(bytes.subarray(0, Math.floor(size / 2))));
      await fs.rm("/f");
      assert.ok((await bytesOf(fs.readFile("/copy"))).equals(bytes));
      for (const path of ["/copy", "/another"]) await fs.rm(path);
    }
    assert.deepEqual((await workspace.check()).problems, []);
  }
});

test("copyFile: the table of cases", async (t) => {
  const make = async (fs) => {
    await fs.mkdir("/d");
    await fs.writeFile("/f", "f", { mode: 0o600 });
    await fs.writeFile("/g", "g");
    await fs.link("/g", "/g again");
    await fs.symlink("f", "/to f");
    await fs.symlink("new", "/to new");
    await fs.symlink("d", "/to d");
    await fs.symlink("missing/x", "/broken");
  };
  const exclusive = { exclusive: true };
  const rows = [
    // from, to, options, code or the path that has the copy
    ["/f", "/new", undefined, "/new"],
    ["/f", "/g", undefined, "/g"],
    ["/f", "/to new", {}, "/new"],
    ["/to f", "/new", null, "/new"],
    ["/f", "/new", exclusive, "/new"],
    ["/f", "/to d/new", exclusive, "/d/new"],
    ["/f", "/f", undefined, "same"],
    ["/to f", "/f", undefined, "same"],
    ["/g", "/g again", undefined, "same"],
    ["/f", "/g", exclusive, "EEXIST"],
    ["/f", "/f", exclusive, "EEXIST"],
    ["/f", "/d", exclusive, "EEXIST"],
    ["/f", "/to new", exclusive, "EEXIST"],
    ["/f", "/d", undefined, "EISDIR"],
    ["/f", "/to d", undefined, "EISDIR"],
    ["/d", "/new", undefined, "EISDIR"],
    ["/to d", "/new", undefined, "EISDIR"],
    ["/missing", "/new", undefined, "ENOENT"],
    ["/broken", "/new", undefined, "ENOENT"],
    ["/f/x", "/new", undefined, "ENOTDIR"],
    ["/f", "/missing/x", undefined, "ENOENT"],
    ["/f", "/broken", undefined, "ENOENT"],
    ["/f", "/g/x", undefined, "ENOTDIR"],
  ];
  for (const [from, to, options, result] of rows) {
    const { fs } = open(t);
    await make(fs);
    const before = await treeOf(fs, "/");
    const label = `${from} to ${to} ${JSON.stringify(options)}`;
    if (result.startsWith("E")) {
      const error = await rejection(fs.copyFile(from, to, options), result);
      assert.deepEqual([error.path, error.dest, error.syscall], [from, to, "copyfile"], label);
      assert.deepEqual(await treeOf(fs, "/"), before, label);
    } else {
      const inode = result !== "same" && (await fs.exists(result)) ? (await fs.stat(result)).inode : undefined;
      await fs.copyFile(from, to, options);
      if (result === "same") {
        assert.deepEqual(await treeOf(fs, "/"), before, label);
        continue;
      }
      assert.equal(await fs.readFile(result, "utf8"), "f", label);
      const stat = await fs.lstat(result);
      assert.deepEqual([stat.mode, stat.inode], [0o600, inode ?? stat.inode], label);
    }
  }
});

/** A tree to copy, and what may be where it goes. */
async function makeTrees(fs) {
  await fs.mkdir("/from/sub/deep", { recursive: true, mode: 0o700 });
  await fs.writeFile("/from/a", "a", { mode: 0o755 });
  await fs.writeFile("/from/sub/b", "b");
  await fs.symlink("../a", "/from/sub/to a");
  await fs.symlink("sub", "/from/to sub");
  await fs.symlink("missing", "/from/broken");
  await fs.mkdir("/old/sub", { recursive: true, mode: 0o711 });
  await fs.writeFile("/old/a", "old a");
  await fs.writeFile("/old/kept", "kept");
  await fs.symlink("elsewhere", "/old/sub/to a");
  await fs.writeFile("/f", "f");
  await fs.symlink("f", "/to f");
  await fs.symlink("from", "/to from");
}

test("cp copies a tree with its modes and links, and makes what is above", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await makeTrees(fs);
  const tree = await treeOf(fs, "/from");
  for (const to of ["/new", "/made/above/new", "/old/new/", "/from/../other"]) {
    assert.equal(await fs.cp("/from", to, { recursive: true }), undefined);
    assert.deepEqual(await treeOf(fs, to), tree);
    assert.equal((await fs.stat(to)).mode, (await fs.stat("/from")).mode);
  }
  assert.equal((await fs.stat("/made/above")).mode, 0o755);
  // A link by itself, and through one.
  await fs.cp("/to f", "/link");
  assert.equal(await fs.readlink("/link"), "f");
  await fs.cp("/to from/sub", "/sub", { recursive: true });
  const { mode, ...contents } = tree["sub/"];
  assert.deepEqual(await treeOf(fs, "/sub"), contents);
  assert.equal((await fs.stat("/sub")).mode, mode);
  assert.deepEqual((await workspace.check()).problems, []);
});

test("cp into a tree that exists: `force`, `errorOnExist`", async (t) => {
  const results = {
    "{}": { a: "755 a", "sub/": "../a", mode: 0o711 },
    '{"force":true}': { a: "755 a", "sub/": "../a", mode: 0o711 },
    '{"force":true,"errorOnExist":true}': { a: "755 a", "sub/": "../a", mode: 0o711 },
    '{"force":false}': { a: "644 old a", "sub/": "elsewhere", mode: 0o711 },
    '{"force":false,"errorOnExist":false}': { a: "644 old a", "sub/": "elsewhere", mode: 0o711 },
  };
  for (const [options, expected] of Object.entries(results)) {
    const { fs } = open(t);
    await makeTrees(fs);
    await fs.cp("/from", "/old", { recursive: true, ...JSON.parse(options) });
    const tree = await treeOf(fs, "/old");
    assert.deepEqual({ a: tree.a, "sub/": tree["sub/"]["to a@"], mode: tree["sub/"].mode }, expected, options);
    assert.equal(tree.kept, "644 kept");
    assert.equal(tree["sub/"].b, "644 b");
    assert.deepEqual(Object.keys(tree["sub/"]["deep/"]), ["mode"]);
  }
  const { fs } = open(t);
  await makeTrees(fs);
  const before = await treeOf(fs, "/");
  const options = { recursive: true, force: false, errorOnExist: true };
  const error = await rejection(fs.cp("/from", "/old", options), "EEXIST");
  assert.deepEqual([error.path, error.dest, error.syscall], ["/from/a", "/old/a", "cp"]);
  assert.deepEqual(await treeOf(fs, "/"), before, "all or nothing");
});

test("cp: what is refused leaves everything as it was", async (t) => {
  const recursive = { recursive: true };
  const rows = [
    ["/from", "/new", undefined, "EISDIR"],
    ["/from", "/made/new", {}, "EISDIR"],
    ["/to from", "/new", { dereference: true }, "EISDIR"],
    ["/from", "/from/new", recursive, "EINVAL"],
    ["/from", "/from/sub/deep/x/y", recursive, "EINVAL"],
    ["/from", "/to from/new", recursive, "EINVAL"],
    ["/from", "/from", recursive, "EINVAL"],
    ["/f", "/f", undefined, "EINVAL"],
    ["/from", "/f", recursive, "ENOTDIR"],
    ["/from", "/to f", recursive, "ENOTDIR"],
    ["/f", "/old", undefined, "EISDIR"],
    ["/to f", "/old", undefined, "EISDIR"],
    ["/f", "/f/x", undefined, "ENOTDIR"],
    ["/from", "/f/x/y", recursive, "ENOTDIR"],
    ["/missing", "/new", recursive, "ENOENT"],
    ["/from/broken", "/new", { dereference: true }, "ENOENT"],
    ["/from", "/new", { recursive: true, dereference: true }, "ENOENT"],
    ["/f", "/old/a", { force: false, errorOnExist: true }, "EEXIST"],
    ["/", "/new", recursive, "EINVAL"],
    ["/from", "/", recursive, "EINVAL"],
  ];
  for (const [from, to, options, code] of rows) {
    const { fs } = open(t);
    await makeTrees(fs);
    const before = await treeOf(fs, "/");
    const error = await rejection(fs.cp(from, to, options), code);
    assert.equal(error.syscall, "cp");
    assert.ok(error.path.startsWith(from === "/" ? "/" : from.split("/", 2).join("/")), error.message);
    assert.deepEqual(await treeOf(fs, "/"), before, `${from} to ${to}`);
  }
});

test("cp with `dereference` copies what links lead to", async (t) => {
  const { fs } = open(t);
  await makeTrees(fs);
  await fs.rm("/from/broken");
  await fs.cp("/to from", "/new", { recursive: true, dereference: true });
  assert.deepEqual(await treeOf(fs, "/new"), {
    a: "755 a",
    "sub/": { mode: 0o755, b: "644 b", "deep/": { mode: 0o700 }, "to a": "755 a" },
    "to sub/": { mode: 0o755, b: "644 b", "deep/": { mode: 0o700 }, "to a": "755 a" },
  });
  await fs.cp("/to f", "/file", { dereference: true });
  assert.ok((await fs.lstat("/file")).isFile);
  // A link that leads to itself, or to what holds it, has no end.
  await fs.symlink("..", "/from/up");
  const before = await treeOf(fs, "/");
  const error = await fs.cp("/from", "/endless", { recursive: true, dereference: true }).then(
    () => assert.fail("it ended"),
    (reason) => reason,
  );
  assert.ok(["EINVAL", "ELOOP", "ENAMETOOLONG"].includes(error.code), error.stack);
  assert.deepEqual(await treeOf(fs, "/"), before);
});

test("cp with `preserveTimestamps` keeps the times of files and directories", async (t) => {
  let clock = 0;
  const { fs } = open(t, "memory", { now: () => ++clock });
  await makeTrees(fs);
  const paths = ["", "/a", "/sub", "/sub/b", "/sub/deep"];
  for (const [at, path] of paths.entries()) await fs.utimes(`/from${path}`, 100 + at, 200 + at);
  clock = 1_000_000;
  await fs.cp("/from", "/kept", { recursive: true, preserveTimestamps: true });
  await fs.cp("/from", "/new", { recursive: true });
  for (const [at, path] of paths.entries()) {
    const { atime, mtime } = await fs.stat(`/kept${path}`);
    assert.deepEqual([atime, mtime], [(100 + at) * 1000, (200 + at) * 1000], path);
    assert.ok((await fs.stat(`/new${path}`)).mtime > 1_000_000, path);
  }
});

test("cp asks the filter from the top down, and leaves out what it refuses", async (t) => {
  const { fs } = open(t);
  await makeTrees(fs);
  const asked = [];
  const filter = async (source, destination) => {
    asked.push([source, destination]);
    await new Promise(setImmediate);
    return !source.endsWith("/deep") && !source.endsWith("broken") && source !== "/from/to sub";
  };
  await fs.cp("/from/", "/new", { recursive: true, filter });
  assert.deepEqual(asked, [
    ["/from", "/new"],
    ["/from/a", "/new/a"],
    ["/from/broken", "/new/broken"],
    ["/from/sub", "/new/sub"],
    ["/from/sub/b", "/new/sub/b"],
    ["/from/sub/deep", "/new/sub/deep"],
    ["/from/sub/to a", "/new/sub/to a"],
    ["/from/to sub", "/new/to sub"],
  ]);
  assert.deepEqual(await treeOf(fs, "/new"), {
    a: "755 a",
    "sub/": { mode: 0o755, b: "644 b", "to a@": "../a" },
  });
  asked.length = 0;
  await fs.cp("/from", "/followed", { recursive: true, dereference: true, filter });
  assert.ok(asked.some(([source]) => source === "/from/sub/to a"));
  assert.equal(await fs.readFile("/followed/sub/to a", "utf8"), "a");
  asked.length = 0;
  await fs.cp("/from", "/none", { recursive: true, filter: (source) => source !== "/from" && asked.push(source) });
  assert.equal(await fs.exists("/none"), false);
  assert.deepEqual(asked, []);
});

test("cp of a large tree", async (t) => {
  const workspace = open(t, "off");
  const { fs } = workspace;
  await workspace.transaction(async (fs) => {
    for (let directory = 0; directory < 20; directory++) {
      await fs.mkdir(`/from/${directory}`, { recursive: true });
      for (let file = 0; file < 100; file++) await fs.writeFile(`/from/${directory}/${file}`, `${directory} ${file}`);
    }
  });
  const before = await fs.statfs();
  await fs.cp("/from", "/to", { recursive: true });
  const after = await fs.statfs();
  assert.deepEqual(
    [after.files, after.directories, after.bytes, after.storedBytes],
    [2 * before.files, 2 * before.directories - 2, 2 * before.bytes, before.storedBytes],
  );
  assert.deepEqual(await treeOf(fs, "/to"), await treeOf(fs, "/from"));
});
