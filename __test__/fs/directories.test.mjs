// mkdir, readdir, rm and rename.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chance } from "../support/chance.mjs";
import { open, rejection, treeOf } from "../support/workspace.mjs";

test("a new workspace has one directory", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    assert.deepEqual(await treeOf(fs, "/"), { "workspace/": { mode: 0o755 } });
    assert.equal((await fs.stat("/")).mode, 0o755);
  }
});

test("mkdir: what it makes, and what it says", async (t) => {
  const rows = [
    // path, options, first directory made (recursive) or code
    ["/new", undefined, undefined],
    ["/new/", {}, undefined],
    ["/d/new", { recursive: false }, undefined],
    ["/to d/new", undefined, undefined],
    ["/d", undefined, "EEXIST"],
    ["/f", undefined, "EEXIST"],
    ["/to d", undefined, "EEXIST"],
    ["/broken", undefined, "EEXIST"],
    ["/new/x", undefined, "ENOENT"],
    ["/f/x", undefined, "ENOTDIR"],
    ["/broken/x", undefined, "ENOENT"],
    ["/loop/x", undefined, "ELOOP"],
    ["/new", { recursive: true }, "/new"],
    ["/new/x/y/", { recursive: true }, "/new"],
    ["/d/new/x", { recursive: true }, "/d/new"],
    ["/to d/new/x", { recursive: true }, "/to d/new"],
    ["/d", { recursive: true }, undefined],
    ["/", { recursive: true }, undefined],
    ["/to d", { recursive: true }, undefined],
    ["/f", { recursive: true }, "EEXIST"],
    ["/to f", { recursive: true }, "EEXIST"],
    ["/broken", { recursive: true }, "EEXIST"],
    ["/f/x", { recursive: true }, "ENOTDIR"],
    ["/f/x/y", { recursive: true }, "ENOTDIR"],
    ["/to f/x", { recursive: true }, "ENOTDIR"],
    ["/broken/x", { recursive: true }, "ENOENT"],
    ["/loop", { recursive: true }, "ELOOP"],
    ["/loop/x", { recursive: true }, "ELOOP"],
  ];
  for (const [path, options, result] of rows) {
    const { fs } = open(t);
    await fs.mkdir("/d", { mode: 0o711 });
    await fs.writeFile("/f", "f");
    await fs.symlink("d", "/to d");
    await fs.symlink("f", "/to f");
    await fs.symlink("missing", "/broken");
    await fs.symlink("loop", "/loop");
    const before = await treeOf(fs, "/");
    const label = `${path} ${JSON.stringify(options)}`;
    if (result?.startsWith("E")) {
      const error = await rejection(fs.mkdir(path, options), result);
      // Of a loop on the way, its own path.
      assert.ok(path.startsWith(error.path), label);
      assert.equal(error.syscall, "mkdir");
      assert.deepEqual(await treeOf(fs, "/"), before, label);
    } else {
      assert.equal(await fs.mkdir(path, options), result, label);
      assert.ok((await fs.stat(path)).isDirectory, label);
      assert.equal((await fs.stat("/d")).mode, 0o711, label);
    }
  }
});

test("mkdir: the last directory has the mode that is asked for, others 0755", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/a/b/c", { recursive: true, mode: 0o700 });
  await fs.mkdir("/d", { mode: 0o1777 });
  await fs.mkdir("/e");
  await fs.mkdir("/a", { recursive: true, mode: 0o777 });
  assert.deepEqual(await treeOf(fs, "/"), {
    "a/": { mode: 0o755, "b/": { mode: 0o755, "c/": { mode: 0o700 } } },
    "d/": { mode: 0o1777 },
    "e/": { mode: 0o755 },
    "workspace/": { mode: 0o755 },
  });
});

test("readdir: entries with their size, time and type", async (t) => {
  let clock = 0;
  const { fs } = open(t, "memory", { now: () => ++clock });
  await fs.mkdir("/d"); // 1
  await fs.writeFile("/d/file", "12345"); // 2
  await fs.mkdir("/d/directory"); // 3
  await fs.symlink("\u00e9", "/d/link"); // 4
  await fs.symlink("d", "/to d"); // 5
  const entries = (parentPath) => [
    { name: "directory", parentPath, size: 0, mtime: 3, isFile: false, isDirectory: true, isSymbolicLink: false },
    { name: "file", parentPath, size: 5, mtime: 2, isFile: true, isDirectory: false, isSymbolicLink: false },
    { name: "link", parentPath, size: 2, mtime: 4, isFile: false, isDirectory: false, isSymbolicLink: true },
  ];
  assert.deepEqual(await fs.readdir("/d"), entries("/d"));
  assert.deepEqual(await fs.readdir("//to d/."), entries("/to d"));
  assert.deepEqual(await fs.readdir("/d/directory"), []);
  for (const [path, code] of [
    ["/d/file", "ENOTDIR"],
    ["/d/link", "ENOENT"],
    ["/missing", "ENOENT"],
    ["/d/file/x", "ENOTDIR"],
  ]) {
    for (const recursive of [false, true]) {
      const error = await rejection(fs.readdir(path, { recursive }), code);
      assert.deepEqual([error.path, error.syscall], [path, "scandir"]);
    }
  }
});

test("readdir: names in the order of their UTF-8 bytes", async (t) => {
  const { fs } = open(t);
  // U+FF5E comes before U+1F600 in bytes and after it in UTF-16.
  const names = [" ", "10", "9", "B", "_", "a", "a ", "a-", "b", "z", "~", "e\u0301", "\u00e9", "\uff5e", "\u{1f600}"];
  const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  await fs.mkdir("/d");
  for (const name of names.reverse()) await fs.writeFile(`/d/${name}`, "");
  assert.deepEqual(
    (await fs.readdir("/d")).map(({ name }) => name),
    sorted,
  );
});

test("readdir: recursive lists each directory right before what is in it", async (t) => {
  const { fs } = open(t);
  for (const path of ["/d/a/z", "/d/a-/1", "/d/b/x/y"]) {
    await fs.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await fs.writeFile(path, path);
  }
  await fs.writeFile("/d/b.txt", "");
  await fs.symlink("..", "/d/b/up");
  const listed = (await fs.readdir("/d", { recursive: true })).map(({ parentPath, name }) => `${parentPath} ${name}`);
  assert.deepEqual(
    listed,
    ["/d a", "/d/a z", "/d a-", "/d/a- 1", "/d b", "/d b.txt", "/d/b up", "/d/b x", "/d/b/x y"].sort((left, right) => {
      // A directory's contents follow it directly.
      const path = (line) => line.replace(" ", "/").split("/");
      const [a, b] = [path(left), path(right)];
      for (let at = 0; ; at++) {
        if (a[at] === undefined || b[at] === undefined) return a.length - b.length;
        if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
      }
    }),
  );
  assert.deepEqual(
    (await fs.readdir("/", { recursive: true })).slice(0, 2).map(({ parentPath, name }) => [parentPath, name]),
    [
      ["/", "d"],
      ["/d", "a"],
    ],
  );
});

test("readdir: pages are parts of the whole", async (t) => {
  const { fs } = open(t, "off");
  await fs.mkdir("/d/in/deep", { recursive: true });
  // More than what is listed in the call itself.
  await Promise.all(Array.from({ length: 600 }, (_, at) => fs.writeFile(`/d/${at}`, "")));
  await fs.writeFile("/d/in/deep/x", "");
  const dice = chance("pages");
  for (const recursive of [false, true]) {
    const whole = await fs.readdir("/d", { recursive });
    assert.equal(whole.length, recursive ? 603 : 601);
    const pages = [
      [0, 0],
      [0, 1],
      [0, 256],
      [0, 257],
      [256, 2],
      [257, 1],
      [258, 300],
      [601, 1],
      [10_000, 10],
      [5, Number.MAX_SAFE_INTEGER],
      [Number.MAX_SAFE_INTEGER, 5],
      ...Array.from({ length: 20 }, () => [dice.below(620), dice.below(620)]),
    ];
    for (const [offset, limit] of pages) {
      const page = await fs.readdir("/d", { recursive, offset, limit });
      assert.deepEqual(page, whole.slice(offset, offset + limit), `${limit} from ${offset}`);
    }
    assert.deepEqual(await fs.readdir("/d", { recursive, offset: 598 }), whole.slice(598));
  }
});

test("rm: what goes, and what is refused", async (t) => {
  const make = async (fs) => {
    await fs.mkdir("/full/deep", { recursive: true });
    await fs.writeFile("/full/deep/f", "f");
    await fs.symlink("../kept", "/full/to kept");
    await fs.mkdir("/empty");
    await fs.mkdir("/kept");
    await fs.writeFile("/kept/f", "kept");
    await fs.writeFile("/f", "f");
    await fs.symlink("kept", "/to kept");
    await fs.symlink("missing", "/broken");
    await fs.symlink("loop", "/loop");
  };
  const force = { force: true };
  const recursive = { recursive: true };
  const both = { recursive: true, force: true };
  const rows = [
    // path, options, code if it fails
    ["/f", undefined],
    ["/f/", {}],
    ["/empty", undefined],
    ["/empty", recursive],
    ["/full", recursive],
    ["/full/deep/../", both],
    ["/to kept", undefined],
    ["/to kept/", recursive],
    ["/broken", undefined],
    ["/loop", undefined],
    ["/to kept/f", undefined],
    ["/full", undefined, "ENOTEMPTY"],
    ["/full", force, "ENOTEMPTY"],
    ["/missing", undefined, "ENOENT"],
    ["/missing", recursive, "ENOENT"],
    ["/missing/x", undefined, "ENOENT"],
    ["/f/x", undefined, "ENOTDIR"],
    ["/f/x", recursive, "ENOTDIR"],
    ["/loop/x", both, "ELOOP"],
    ["/broken/x", undefined, "ENOENT"],
    ["/", both, "EPERM"],
    ["/missing", force, "nothing"],
    ["/missing/x/y", both, "nothing"],
    ["/f/x", force, "nothing"],
    ["/broken/x", force, "nothing"],
  ];
  for (const [path, options, result] of rows) {
    const workspace = open(t);
    const { fs } = workspace;
    await make(fs);
    const before = await treeOf(fs, "/");
    const label = `${path} ${JSON.stringify(options)}`;
    if (result?.startsWith("E")) {
      const error = await rejection(fs.rm(path, options), result);
      assert.deepEqual([error.path, error.syscall], [path, "rm"], label);
    } else {
      assert.equal(await fs.rm(path, options), undefined, label);
    }
    if (result) assert.deepEqual(await treeOf(fs, "/"), before, label);
    else await rejection(fs.lstat(path), "ENOENT");
    if (path !== "/to kept/f") assert.equal(await fs.readFile("/kept/f", "utf8"), "kept", label);
    assert.deepEqual((await workspace.check()).problems, [], label);
  }
});

test("rm: a tree as deep as paths may be long, and deeper", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const workspace = open(t, storage);
    const { fs } = workspace;
    const half = "/d".repeat(2000);
    await fs.mkdir(half, { recursive: true });
    await fs.writeFile(`${half}/f`, "bottom");
    // Moved deeper, paths to the bottom are too long for a call.
    await fs.mkdir(`/e${half}`, { recursive: true });
    await fs.rename("/d", `/e${half}/d`);
    assert.equal((await fs.statfs()).directories, 4003);
    await fs.rm("/e", { recursive: true });
    const { files, directories, bytes } = await fs.statfs();
    assert.deepEqual({ files, directories, bytes }, { files: 0, directories: 2, bytes: 0 });
    assert.deepEqual((await workspace.check()).problems, []);
  }
});

test("rm: a file with other names stays", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/d/f", "kept");
  await fs.link("/d/f", "/g");
  await fs.rm("/d", { recursive: true });
  assert.equal(await fs.readFile("/g", "utf8"), "kept");
  assert.equal((await fs.stat("/g")).nlink, 1);
});

test("rename: the table of cases", async (t) => {
  const make = async (fs) => {
    await fs.mkdir("/d/sub/deep", { recursive: true });
    await fs.writeFile("/d/sub/f", "in d");
    await fs.mkdir("/empty");
    await fs.mkdir("/full");
    await fs.writeFile("/full/f", "in full");
    await fs.writeFile("/f", "f");
    await fs.writeFile("/g", "g");
    await fs.link("/f", "/f again");
    await fs.symlink("f", "/to f");
    await fs.symlink("d", "/to d");
    await fs.symlink("missing", "/broken");
  };
  const rows = [
    // from, to, code; "same" if nothing is to change
    ["/f", "/new"],
    ["/f", "/new/"],
    ["/f", "/g"],
    ["/f", "/d/sub/f"],
    ["/f", "/to d/new"],
    ["/f", "/broken"],
    ["/to f", "/f"],
    ["/to f", "/g"],
    ["/to d", "/empty/new"],
    ["/broken", "/f"],
    ["/d", "/new"],
    ["/d", "/empty"],
    ["/d", "/empty/d"],
    ["/d/sub", "/d/other"],
    ["/to d/sub", "/sub"],
    ["/d/sub/deep", "/deep"],
    ["/f", "/f", "same"],
    ["/f", "//g/../f", "same"],
    ["/d/sub", "/to d/sub", "same"],
    ["/f", "/f again", "same"],
    ["/d", "/d", "same"],
    ["/f", "/empty", "EISDIR"],
    ["/f", "/full", "EISDIR"],
    ["/to f", "/empty", "EISDIR"],
    ["/full/f", "/full", "ENOTEMPTY"],
    ["/d", "/f", "ENOTDIR"],
    ["/d", "/to d", "ENOTDIR"],
    ["/d", "/broken", "ENOTDIR"],
    ["/d", "/full", "ENOTEMPTY"],
    ["/d/sub", "/d", "ENOTEMPTY"],
    ["/d", "/d/new", "EINVAL"],
    ["/d", "/d/sub/deep/new", "EINVAL"],
    ["/d", "/d/sub", "EINVAL"],
    ["/d", "/to d/new", "EINVAL"],
    ["/missing", "/new", "ENOENT"],
    ["/missing", "/missing", "ENOENT"],
    ["/missing/x", "/new", "ENOENT"],
    ["/f", "/missing/x", "ENOENT"],
    ["/f", "/broken/x", "ENOENT"],
    ["/f", "/f/x", "ENOTDIR"],
    ["/f", "/g/x", "ENOTDIR"],
    ["/f/x", "/new", "ENOTDIR"],
    ["/d", "/d/missing/new", "ENOENT"],
  ];
  for (const [from, to, result] of rows) {
    const workspace = open(t);
    const { fs } = workspace;
    await make(fs);
    const label = `${from} to ${to}`;
    const before = await treeOf(fs, "/");
    if (result?.startsWith("E")) {
      const error = await rejection(fs.rename(from, to), result);
      assert.deepEqual([error.path, error.dest, error.syscall], [from, to, "rename"], label);
      assert.deepEqual(await treeOf(fs, "/"), before, label);
    } else if (result === "same") {
      assert.equal(await fs.rename(from, to), undefined, label);
      assert.deepEqual(await treeOf(fs, "/"), before, label);
    } else {
      const { inode, mode, mtime, isDirectory } = await fs.lstat(from);
      const contents = isDirectory ? await treeOf(fs, from) : undefined;
      assert.equal(await fs.rename(from, to), undefined, label);
      const { name: _, ...moved } = await fs.lstat(to);
      assert.deepEqual(
        [moved.inode, moved.mode, moved.mtime, moved.isDirectory],
        [inode, mode, mtime, isDirectory],
        label,
      );
      if (isDirectory) assert.deepEqual(await treeOf(fs, to), contents, label);
      await rejection(fs.lstat(from), "ENOENT");
    }
    assert.deepEqual((await workspace.check()).problems, [], label);
  }
});

test("rename: a directory counts where it is", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/a/d", { recursive: true });
  await fs.mkdir("/b");
  const counts = async () => [(await fs.stat("/a")).nlink, (await fs.stat("/b")).nlink, (await fs.stat("/")).nlink];
  assert.deepEqual(await counts(), [3, 2, 5]);
  await fs.rename("/a/d", "/b/d");
  assert.deepEqual(await counts(), [2, 3, 5]);
  await fs.mkdir("/a/e");
  await fs.rename("/a/e", "/b/d");
  assert.deepEqual(await counts(), [2, 3, 5]);
  await fs.rename("/b/d", "/d");
  assert.deepEqual(await counts(), [2, 2, 6]);
  await fs.rm("/a");
  await fs.rm("/b", { recursive: true });
  assert.equal((await fs.stat("/")).nlink, 4);
});

test("rename: what was replaced is still read by who has it open", async (t) => {
  const { fs } = open(t, "normal");
  const old = Buffer.alloc(2 ** 20, "old");
  await fs.writeFile("/f", old);
  await fs.writeFile("/g", "new");
  const reader = (await fs.readFile("/f")).getReader();
  const first = await reader.read();
  await fs.rename("/g", "/f");
  const pieces = [first.value];
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  assert.ok(Buffer.concat(pieces).equals(old));
  assert.equal(await fs.readFile("/f", "utf8"), "new");
});
