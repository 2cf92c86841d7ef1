// stat, lstat, access, chmod, utimes, statfs; whose times an operation changes; the quota.

import assert from "node:assert/strict";
import { constants } from "node:fs";
import { test } from "node:test";
import { Workspace } from "carrel";
import { inPieces, uniqueBytes } from "../support/chance.mjs";
import { bytesOf, folderFor, open, rejection, STORAGES, treeOf } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

test("what stat says of a file, a directory and a link", async (t) => {
  let clock = 0;
  const { fs } = open(t, "memory", { now: () => ++clock });
  await fs.mkdir("/d", { mode: 0o750 }); // 1
  await fs.writeFile("/d/f", "12345"); // 2
  await fs.symlink("\u00e9", "/l"); // 3
  await fs.symlink("d/f", "/to f"); // 4
  const times = (at) => ({ mtime: at, ctime: at, atime: at, birthtime: at });
  const file = { mode: 0o644, nlink: 1, size: 5, isFile: true, isDirectory: false, isSymbolicLink: false, ...times(2) };
  const directory = {
    mode: 0o750,
    nlink: 2,
    size: 0,
    isFile: false,
    isDirectory: true,
    isSymbolicLink: false,
    ...times(1),
    mtime: 2,
    ctime: 2,
  };
  const link = { mode: 0o777, nlink: 1, isFile: false, isDirectory: false, isSymbolicLink: true };
  const rows = [
    ["stat", "/d/f", { name: "f", ...file }],
    ["lstat", "/d/f/", { name: "f", ...file }],
    ["stat", "/to f", { name: "to f", ...file }],
    ["lstat", "/to f", { name: "to f", size: 3, ...link, ...times(4) }],
    ["lstat", "/l", { name: "l", size: 2, ...link, ...times(3) }],
    ["stat", "/d", { name: "d", ...directory }],
    ["stat", "/d/../d", { name: "d", ...directory }],
  ];
  for (const [method, path, expected] of rows) {
    const { inode, ...stat } = await fs[method](path);
    assert.ok(Number.isSafeInteger(inode) && inode > 0);
    assert.deepEqual(stat, expected, `${method} ${path}`);
  }
  const root = await fs.stat("/");
  assert.deepEqual([root.name, root.isDirectory, root.mode, root.nlink], ["", true, 0o755, 4]);
  assert.equal((await fs.lstat("//.")).inode, root.inode);
});

test("what stat, lstat and access say of nothing", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "");
  await fs.symlink("missing", "/broken");
  await fs.symlink("loop", "/loop");
  for (const [path, code, isThere] of [
    ["/missing", "ENOENT"],
    ["/f/x", "ENOTDIR"],
    ["/broken", "ENOENT", true],
    ["/broken/x", "ENOENT"],
    ["/loop", "ELOOP", true],
    ["/loop/x", "ELOOP"],
  ]) {
    for (const method of ["stat", "access"]) {
      const error = await rejection(fs[method](path), code);
      assert.deepEqual([error.path, error.syscall], [path, method]);
    }
    if (isThere) assert.ok((await fs.lstat(path)).isSymbolicLink);
    else await rejection(fs.lstat(path), code);
    if (code === "ELOOP") await rejection(fs.exists(path), code);
    else assert.equal(await fs.exists(path), false);
  }
  assert.equal(await fs.exists("/f"), true);
  assert.equal(await fs.exists("/"), true);
});

test("numbers of inodes are not used again", async (t) => {
  const { fs } = open(t);
  const seen = new Set();
  for (let round = 0; round < 20; round++) {
    await fs.writeFile("/f", "");
    const { inode } = await fs.stat("/f");
    assert.ok(!seen.has(inode));
    seen.add(inode);
    await fs.rm("/f");
  }
});

test("access: what may be done", async (t) => {
  const folder = folderFor(t);
  const storage = STORAGES.normal(folder);
  const workspace = new Workspace({ storage });
  await workspace.fs.writeFile("/plain", "", { mode: 0 });
  await workspace.fs.writeFile("/program", "", { mode: 0o010 });
  await workspace.fs.mkdir("/d", { mode: 0 });
  const { F_OK, R_OK, W_OK, X_OK } = constants;
  for (const path of ["/plain", "/program", "/d", "/"]) {
    for (const mode of [undefined, F_OK, R_OK, W_OK, R_OK | W_OK]) {
      assert.equal(await workspace.fs.access(path, mode), undefined);
    }
  }
  for (const path of ["/program", "/d", "/"]) await workspace.fs.access(path, R_OK | W_OK | X_OK);
  for (const mode of [X_OK, X_OK | R_OK]) {
    const error = await rejection(workspace.fs.access("/plain", mode), "EACCES");
    assert.deepEqual([error.path, error.syscall], ["/plain", "access"]);
  }
  await workspace.close();

  const readonly = new Workspace({ storage: { ...storage, readonly: true } });
  await readonly.fs.access("/plain", R_OK);
  await readonly.fs.access("/program", X_OK);
  await rejection(readonly.fs.access("/plain", W_OK), "EROFS");
  await rejection(readonly.fs.access("/missing", W_OK), "ENOENT");
  await readonly.close();
});

test("chmod sets the bits of what the path leads to", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "still read");
  await fs.symlink("f", "/l");
  for (const mode of [0, 0o7777, 0o644]) {
    for (const path of ["/d", "/f", "/l", "/"]) {
      assert.equal(await fs.chmod(path, mode), undefined);
      assert.equal((await fs.stat(path)).mode, mode);
    }
    // Kept, not enforced.
    assert.equal(await fs.readFile("/f", "utf8"), "still read");
    await fs.writeFile("/d/x", "");
  }
  assert.equal((await fs.lstat("/l")).mode, 0o777);
  for (const [path, code] of [
    ["/missing", "ENOENT"],
    ["/f/x", "ENOTDIR"],
  ]) {
    const error = await rejection(fs.chmod(path, 0), code);
    assert.deepEqual([error.path, error.syscall], [path, "chmod"]);
  }
});

test("utimes takes seconds, text of seconds and dates", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "");
  await fs.symlink("f", "/l");
  const rows = [
    [0, 0, 0, 0],
    [1, 2, 1000, 2000],
    [1.5, -2.25, 1500, -2250],
    ["3", " 4.5 ", 3000, 4500],
    [new Date(5), new Date(-6), 5, -6],
    [1e9, new Date("2001-02-03T04:05:06.789Z"), 1e12, Date.UTC(2001, 1, 3, 4, 5, 6, 789)],
  ];
  for (const [atime, mtime, ...expected] of rows) {
    for (const path of ["/f", "/l", "/workspace", "/"]) {
      assert.equal(await fs.utimes(path, atime, mtime), undefined);
      const stat = await fs.stat(path);
      assert.deepEqual([stat.atime, stat.mtime], expected);
    }
  }
  const error = await rejection(fs.utimes("/missing", 1, 1), "ENOENT");
  assert.deepEqual([error.path, error.syscall], ["/missing", "utime"]);
});

test("an operation changes the times of what it changes, and of directories that it changes", async (t) => {
  // Operation; then each path with what it has of the time: modification, or any change (ctime).
  const rows = [
    [(fs) => fs.writeFile("/d/f", "new"), { "/d/f": "mc" }],
    [(fs) => fs.writeFile("/d/f", new Blob(["new"])), { "/d/f": "mc" }],
    [(fs) => fs.writeFile("/to f", "new"), { "/d/f": "mc" }],
    [(fs) => fs.writeFile("/d/new", ""), { "/d": "mc", "/d/new": "mcab" }],
    [(fs) => fs.appendFile("/d/f", "new"), { "/d/f": "mc" }],
    [(fs) => fs.appendFile("/d/f", ""), {}],
    [(fs) => fs.truncate("/d/f", 1), { "/d/f": "mc" }],
    [(fs) => fs.mkdir("/d/new"), { "/d": "mc", "/d/new": "mcab" }],
    [(fs) => fs.mkdir("/d/e", { recursive: true }), {}],
    [(fs) => fs.mkdir("/x/y", { recursive: true }), { "/": "mc", "/x": "mcab", "/x/y": "mcab" }],
    [(fs) => fs.symlink("f", "/d/new"), { "/d": "mc", "/d/new": "mcab" }],
    [(fs) => fs.link("/d/f", "/new"), { "/": "mc", "/d/f": "c", "/new": "c" }],
    [(fs) => fs.rm("/d/f"), { "/d": "mc", "/again": "c" }],
    [(fs) => fs.rm("/d", { recursive: true }), { "/": "mc", "/again": "c" }],
    [(fs) => fs.rename("/d/f", "/e"), { "/d": "mc", "/": "mc", "/e": "c", "/again": "c" }],
    [(fs) => fs.rename("/g", "/d/f"), { "/d": "mc", "/": "mc", "/d/f": "c", "/again": "c" }],
    [(fs) => fs.rename("/d/e", "/e"), { "/d": "mc", "/": "mc", "/e": "c" }],
    [(fs) => fs.rename("/d/f", "/again"), {}],
    [(fs) => fs.chmod("/d/f", 0o600), { "/d/f": "c" }],
    [(fs) => fs.chmod("/d", 0o700), { "/d": "c" }],
    [(fs) => fs.utimes("/d/f", 1, 0.001), { "/d/f": "c" }],
    [(fs) => fs.copyFile("/d/f", "/g"), { "/g": "mc" }],
    [(fs) => fs.copyFile("/d/f", "/new"), { "/": "mc", "/new": "mcab" }],
    [
      (fs) => fs.cp("/d", "/new", { recursive: true }),
      { "/": "mc", "/new": "mcab", "/new/e": "mcab", "/new/f": "mcab" },
    ],
  ];
  for (const [operation, expected] of rows) {
    let clock = 1;
    const { fs } = open(t, "memory", { now: () => clock });
    await fs.mkdir("/d/e", { recursive: true });
    await fs.writeFile("/d/f", "f");
    await fs.writeFile("/g", "g");
    await fs.link("/d/f", "/again");
    await fs.symlink("d/f", "/to f");
    await fs.utimes("/workspace", 0.001, 0.001);
    await fs.utimes("/", 0.001, 0.001);
    clock = 9;
    await operation(fs);
    const found = {};
    const paths = (await fs.find("/")).map(({ path }) => path);
    for (const path of ["/", ...paths]) {
      const stat = await fs.lstat(path);
      const changed = ["mtime", "ctime", "atime", "birthtime"].filter((name) => stat[name] === 9);
      if (changed.length > 0) found[path] = changed.map((name) => name[0]).join("");
    }
    // The other name of the file is the same file.
    if (found["/again"] && found["/again"] === found["/d/f"] && !("/again" in expected)) delete found["/again"];
    assert.deepEqual(found, expected, String(operation));
  }
});

test("the clock is asked once for a change, and not for anything else", async (t) => {
  let calls = 0;
  const workspace = open(t, "memory", { now: () => 1000 + ++calls });
  const { fs } = workspace;
  const rows = [
    [1, () => fs.writeFile("/f", "x")],
    [1, () => fs.writeFile("/g", inPieces(Buffer.alloc(2 * CHUNK_BYTES), 100_000))],
    [1, () => fs.mkdir("/a/b/c", { recursive: true })],
    [1, () => fs.cp("/a", "/e", { recursive: true })],
    [1, () => fs.rm("/a", { recursive: true })],
    [0, () => fs.readFile("/f", "utf8")],
    [0, () => fs.readdir("/", { recursive: true })],
    [0, () => fs.find("/")],
    [0, () => workspace.check()],
    [2, () => workspace.transaction((fs) => Promise.all([fs.writeFile("/f", "1"), fs.writeFile("/f", "2")]))],
  ];
  for (const [expected, operation] of rows) {
    const before = calls;
    await operation();
    assert.equal(calls - before, expected, String(operation));
  }
  assert.equal((await fs.stat("/g")).mtime, 1002);
  assert.equal((await fs.stat("/e/b")).birthtime, 1004);
});

test("statfs counts files, directories and bytes", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const workspace = open(t, storage);
    const { fs } = workspace;
    const counts = async () => {
      const { files, directories, bytes, storedBytes } = await fs.statfs();
      return { files, directories, bytes, storedBytes };
    };
    assert.deepEqual(await counts(), { files: 0, directories: 2, bytes: 0, storedBytes: 0 });
    await fs.writeFile("/f", "12345");
    await fs.writeFile("/other", "67890");
    await fs.link("/f", "/g");
    await fs.symlink("f", "/l");
    await fs.mkdir("/d/e", { recursive: true });
    const chunk = uniqueBytes("chunk", CHUNK_BYTES);
    await fs.writeFile("/large", Buffer.concat([chunk, chunk, Buffer.from("end")]));
    assert.deepEqual(await counts(), {
      files: 4,
      directories: 4,
      bytes: 10 + 2 * CHUNK_BYTES + 3,
      storedBytes: 10 + CHUNK_BYTES + 3,
    });
    const usage = await fs.statfs("/d/e");
    assert.deepEqual(Object.keys(usage).sort(), [
      "bytes",
      "databaseBytes",
      "directories",
      "files",
      "storedBytes",
      "walBytes",
    ]);
    assert.ok(usage.databaseBytes + usage.walBytes >= CHUNK_BYTES);
    for (const path of ["/f", "/other", "/g", "/l", "/d", "/large"]) await fs.rm(path, { recursive: true });
    await workspace.compact();
    assert.deepEqual(await counts(), { files: 0, directories: 2, bytes: 0, storedBytes: 0 });
    await rejection(fs.statfs("/missing"), "ENOENT");
  }
});

for (const storage of ["memory", "normal"]) {
  test(`what exceeds the quota is refused and changes nothing (${storage})`, async (t) => {
    const quotaBytes = 3 * CHUNK_BYTES;
    const workspace = open(t, storage, { quotaBytes });
    const { fs } = workspace;
    assert.equal((await fs.statfs()).quotaBytes, quotaBytes);
    await fs.writeFile("/f", uniqueBytes("f", CHUNK_BYTES));
    await fs.writeFile("/g", uniqueBytes("g", CHUNK_BYTES));
    await fs.mkdir("/d");
    await fs.writeFile("/d/h", Buffer.alloc(1000));
    const before = { ...(await treeOf(fs, "/")), ...(await fs.statfs()), databaseBytes: 0, walBytes: 0 };
    const tooMuch = {
      "writeFile, small": (fs) => fs.writeFile("/new", Buffer.alloc(CHUNK_BYTES)),
      "writeFile, large": (fs) => fs.writeFile("/new", Buffer.alloc(2 * CHUNK_BYTES)),
      "writeFile, streamed": (fs) => fs.writeFile("/new", inPieces(Buffer.alloc(5 * CHUNK_BYTES), 100_000)),
      "writeFile, streamed, a little": (fs) => fs.writeFile("/new", inPieces(Buffer.alloc(CHUNK_BYTES), 100_000)),
      "writeFile over a smaller file": (fs) => fs.writeFile("/f", uniqueBytes("more", 2 * CHUNK_BYTES)),
      appendFile: (fs) => fs.appendFile("/f", Buffer.alloc(CHUNK_BYTES)),
      "appendFile, streamed": (fs) => fs.appendFile("/f", inPieces(Buffer.alloc(2 * CHUNK_BYTES), 100_000)),
      truncate: (fs) => fs.truncate("/f", quotaBytes),
      copyFile: (fs) => fs.copyFile("/f", "/new"),
      cp: (fs) => fs.cp("/d", "/new", { recursive: true }).then(() => fs.cp("/f", "/new/f")),
      transaction: () =>
        workspace.transaction(async (inside) => {
          await inside.writeFile("/d/h", "");
          await inside.writeFile("/new", Buffer.alloc(100));
          await inside.copyFile("/f", "/new 2");
          await inside.writeFile("/new 3", "one too many");
        }),
    };
    for (const [name, operation] of Object.entries(tooMuch)) {
      const error = await rejection(operation(fs), "ENOSPC");
      assert.match(error.message, /\d/, "it says how much there may be");
      if (name === "cp") await fs.rm("/new", { recursive: true });
      const after = { ...(await treeOf(fs, "/")), ...(await fs.statfs()), databaseBytes: 0, walBytes: 0 };
      // What a stream has stored so far goes in the background.
      assert.deepEqual({ ...after, storedBytes: 0 }, { ...before, storedBytes: 0 }, name);
    }
    await workspace.compact();
    assert.equal((await fs.statfs()).storedBytes, before.storedBytes);
    assert.deepEqual((await workspace.check()).problems, []);

    // What fits goes in, to the last byte, also in place of what is there.
    await fs.writeFile("/new", Buffer.alloc(CHUNK_BYTES - 1000));
    assert.equal((await fs.statfs()).bytes, quotaBytes);
    await rejection(fs.appendFile("/new", "x"), "ENOSPC");
    await fs.writeFile("/f", uniqueBytes("other", CHUNK_BYTES));
    await fs.writeFile("/f", inPieces(uniqueBytes("another", CHUNK_BYTES), 100_000));
    await fs.rename("/f", "/renamed");
    await fs.mkdir("/e");
    await fs.writeFile("/e/empty", "");
    // Freed space is free at once.
    await fs.rm("/renamed");
    await fs.writeFile("/new 2", inPieces(uniqueBytes("new", CHUNK_BYTES), 70_000));
    assert.ok((await bytesOf(fs.readFile("/new 2"))).equals(uniqueBytes("new", CHUNK_BYTES)));
    await fs.truncate("/new 2", 10);
    await fs.truncate("/new 2", CHUNK_BYTES);
    await rejection(fs.truncate("/new 2", CHUNK_BYTES + 1), "ENOSPC");
  });
}

test("a quota below what is there lets one remove and shrink", async (t) => {
  const folder = folderFor(t);
  const storage = STORAGES.normal(folder);
  const full = new Workspace({ storage });
  await full.fs.writeFile("/f", "0123456789");
  await full.fs.writeFile("/g", "0123456789");
  await full.close();
  const workspace = new Workspace({ storage, quotaBytes: 12 });
  await rejection(workspace.fs.writeFile("/new", "x"), "ENOSPC");
  await workspace.fs.truncate("/f", 5);
  await workspace.fs.writeFile("/g", "0123");
  await workspace.fs.writeFile("/new", "012");
  await rejection(workspace.fs.appendFile("/new", "3"), "ENOSPC");
  await workspace.fs.rm("/f");
  await workspace.fs.appendFile("/new", "3");
  await workspace.close();
});
