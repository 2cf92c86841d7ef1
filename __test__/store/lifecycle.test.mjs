// How a workspace begins, ends and takes space: what keeps a process alive, what close() waits for,
// what a read-only one does, and that neither the WAL nor the file grows without need.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { inPieces, uniqueBytes } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { openAt, startProcess, waitFor } from "../support/process.mjs";
import { bytesOf, rejection } from "../support/workspace.mjs";

const MIB = 1024 * 1024;
const normal = (path) => ({ path, durability: "normal" });
const walBytes = (path) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Runs a program that ends by itself; it has `workspace`, opened at `path`. Returns what it printed.
 * One that does not end is killed.
 */
async function program(path, body) {
  const text = `
    import { Workspace } from ${JSON.stringify(import.meta.resolve("carrel"))};
    const workspace = new Workspace({ storage: ${JSON.stringify(path)} });
    const { fs } = workspace;
    ${body}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => {
    printed += piece;
  });
  const [code, signal] = await new Promise((resolve) => child.on("close", (...end) => resolve(end)));
  clearTimeout(timer);
  assert.equal(signal ?? code, 0, `the program ends by itself; it printed: ${printed}`);
  return printed;
}

test("an open idle workspace, a stream and a watch left alone keep no process alive", async (t) => {
  const path = join(folderFor(t), "idle.db");
  await program(path, `await fs.writeFile("/workspace/large", new Uint8Array(3_000_000));`);
  assert.equal(
    await program(path, `console.log(await fs.readFile("/workspace/large", "utf8").then((s) => s.length));`),
    "3000000\n",
  );
  await program(path, "");
  await program(path, `await fs.readFile("/workspace/large");`);
  await program(path, `const reader = (await fs.readFile("/workspace/large")).getReader(); await reader.read();`);
  await program(path, `fs.watch("/workspace");`);
  await program(path, `const watch = fs.watch("/workspace"); await fs.mkdir("/workspace/d"); await watch.next();`);
  await program(":memory:", `await fs.writeFile("/workspace/f", "x"); await fs.readFile("/workspace/f");`);
  await program(path, `workspace[Symbol.dispose]();`);
});

test("calls under way keep a process alive until they are done", async (t) => {
  const path = join(folderFor(t), "pending.db");
  const printed = await program(
    path,
    `
    const say = (what) => () => process.stdout.write(what + " ");
    fs.writeFile("/workspace/f", "x").then(say("write"));
    fs.mkdir("/workspace/d").then(say("mkdir"));
    fs.find("/").then(say("find"));
    fs.writeFile("/workspace/stream", new Blob(["y".repeat(2_000_000)])).then(say("stream"));
    workspace.transaction(async (fs) => {
      await fs.appendFile("/workspace/t", "1");
      await fs.appendFile("/workspace/t", "2");
    }).then(say("transaction"));
    workspace.check().then(say("check"));
    workspace.compact().then(say("compact"));`,
  );
  assert.deepEqual(printed.trim().split(" ").sort(), [
    "check",
    "compact",
    "find",
    "mkdir",
    "stream",
    "transaction",
    "write",
  ]);
  const workspace = openAt(t, path);
  assert.equal(await workspace.fs.readFile("/workspace/t", "utf8"), "12");
  assert.equal((await workspace.fs.stat("/workspace/stream")).size, 2_000_000);
  await workspace.close();
});

test("process.exit() with calls under way ends the process, and what was acknowledged stays", async (t) => {
  const path = join(folderFor(t), "exit.db");
  for (let round = 0; round < 10; round++) {
    await program(
      path,
      `
      await fs.writeFile("/workspace/f${round}", "acknowledged");
      for (let index = 0; index < 50; index++) {
        fs.writeFile("/workspace/late" + index, "x".repeat(index * 100));
        fs.readFile("/workspace/f${round}", "utf8");
        fs.find("/");
      }
      fs.writeFile("/workspace/stream", new Blob(["y".repeat(3_000_000)]));
      workspace.transaction(() => new Promise(() => {}));
      setTimeout(() => process.exit(0), ${round});`,
    );
  }
  const workspace = openAt(t, path);
  for (let round = 0; round < 10; round++) {
    assert.equal(await workspace.fs.readFile(`/workspace/f${round}`, "utf8"), "acknowledged");
  }
  assert.deepEqual((await workspace.check()).problems, []);
});

/** One call of every method; each returns a promise. */
function everyCall(workspace) {
  const { fs } = workspace;
  const f = "/workspace/f";
  return {
    readFile: () => fs.readFile(f),
    "readFile as text": () => fs.readFile(f, "utf8"),
    "readFile of a range": () => fs.readFile(f, { byteOffset: 1, byteLength: 1 }),
    writeFile: () => fs.writeFile(f, "new"),
    "writeFile of a stream": () => fs.writeFile(f, new Blob(["new"])),
    appendFile: () => fs.appendFile(f, "new"),
    mkdir: () => fs.mkdir("/workspace/new"),
    readdir: () => fs.readdir("/workspace"),
    stat: () => fs.stat(f),
    lstat: () => fs.lstat(f),
    exists: () => fs.exists(f),
    access: () => fs.access(f),
    rm: () => fs.rm(f),
    rename: () => fs.rename(f, "/workspace/new"),
    symlink: () => fs.symlink("f", "/workspace/new"),
    readlink: () => fs.readlink("/workspace/link"),
    link: () => fs.link(f, "/workspace/new"),
    realpath: () => fs.realpath(f),
    chmod: () => fs.chmod(f, 0o600),
    utimes: () => fs.utimes(f, 1, 1),
    truncate: () => fs.truncate(f),
    copyFile: () => fs.copyFile(f, "/workspace/new"),
    cp: () => fs.cp(f, "/workspace/new"),
    statfs: () => fs.statfs(),
    find: () => fs.find("/"),
    ls: () => fs.ls("/"),
    grep: () => fs.grep("x", "/"),
    watch: () => fs.watch("/workspace").next(),
    transaction: () => workspace.transaction(() => {}),
    check: () => workspace.check(),
    compact: () => workspace.compact(),
  };
}

const MUTATIONS = [
  "writeFile",
  "writeFile of a stream",
  "appendFile",
  "mkdir",
  "rm",
  "rename",
  "symlink",
  "link",
  "chmod",
  "utimes",
  "truncate",
  "copyFile",
  "cp",
  "transaction",
  "compact",
];

async function withFiles(storage) {
  const workspace = new Workspace({ storage });
  await workspace.fs.writeFile("/workspace/f", "content");
  await workspace.fs.symlink("f", "/workspace/link");
  await workspace.fs.writeFile("/workspace/large", uniqueBytes("large", 1_500_000));
  return workspace;
}

test("the list of calls has every method", () => {
  const workspace = new Workspace({ storage: ":memory:" });
  const listed = new Set(Object.keys(everyCall(workspace)).map((name) => name.split(" ", 1)[0]));
  const methods = (object) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== "constructor");
  assert.deepEqual(
    [...methods(workspace.fs), ...methods(workspace)].filter((name) => !listed.has(name)),
    ["close"],
  );
});

for (const [name, storageFor] of [
  ["a file", (t) => join(folderFor(t), "closed.db")],
  ["memory", () => ":memory:"],
]) {
  test(`after close() every method of a workspace in ${name} rejects with ECLOSED`, async (t) => {
    const workspace = await withFiles(storageFor(t));
    const calls = everyCall(workspace);
    await workspace.close();
    for (const [method, call] of Object.entries(calls)) {
      const error = await rejection(call(), "ECLOSED");
      assert.match(error.message, /closed/, method);
    }
    await workspace.close();
    await workspace[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
}

test("close() waits for the calls under way, and many may close at once", async (t) => {
  const path = join(folderFor(t), "waits.db");
  for (let round = 0; round < 20; round++) {
    const workspace = openAt(t, { path, durability: round % 2 ? "full" : "normal" });
    const { fs } = workspace;
    const done = [];
    const calls = [
      fs.writeFile(`/workspace/small${round}`, "x").then(() => done.push("small")),
      fs.writeFile("/workspace/text", "y".repeat(400_000)).then(() => done.push("text")),
      fs.appendFile("/workspace/log", `${round}\n`).then(() => done.push("append")),
      fs.find("/").then(() => done.push("find")),
      fs.grep("y", "/").then(() => done.push("grep")),
      workspace.check().then(() => done.push("check")),
      workspace.compact().then(() => done.push("compact")),
    ];
    await Promise.all([workspace.close(), workspace.close(), workspace[Symbol.asyncDispose]()]);
    await Promise.all(calls);
    assert.equal(done.length, calls.length);
    assert.deepEqual(
      readdirSync(join(path, "..")).filter((name) => /-(wal|shm|journal)$/.test(name)),
      [],
      "the file is whole when close() resolves",
    );
  }
  const workspace = openAt(t, path);
  assert.equal(
    await workspace.fs.readFile("/workspace/log", "utf8"),
    Array.from({ length: 20 }, (_, n) => `${n}\n`).join(""),
  );
});

test("close() waits for a transaction that is open", async (t) => {
  const path = join(folderFor(t), "transaction.db");
  const workspace = openAt(t, path);
  let finish;
  const isOpen = new Promise((resolve) => {
    finish = resolve;
  });
  const order = [];
  const begun = new Promise((resolve) => {
    workspace
      .transaction(async (fs) => {
        await fs.writeFile("/workspace/f", "whole");
        resolve();
        await isOpen;
      })
      .then(
        () => order.push("committed"),
        ({ code }) => order.push(code),
      );
  });
  await begun;
  const closing = workspace.close().then(() => order.push("closed"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(order, []);
  finish();
  await closing;
  assert.deepEqual(order, ["committed", "closed"]);
  const again = openAt(t, path);
  assert.equal(await again.fs.readFile("/workspace/f", "utf8"), "whole");
});

test("streams, uploads and watches that are open at close() end with ECLOSED, and leave nothing", async (t) => {
  const path = join(folderFor(t), "open.db");
  const workspace = await withFiles(normal(path));
  const { fs } = workspace;
  const readers = await Promise.all([1, 2, 3].map(async () => (await fs.readFile("/workspace/large")).getReader()));
  await readers[0].read();

  let next;
  let cancelled;
  const source = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(600_000)),
    pull: (controller) =>
      new Promise((resolve) => {
        next = () => {
          controller.enqueue(new Uint8Array(600_000));
          resolve();
        };
      }),
    cancel: (reason) => {
      cancelled = reason;
    },
  });
  const uploading = fs.writeFile("/workspace/large", source);
  const event = fs.watch("/workspace").next();
  await waitFor("the upload waits for its source", () => next !== undefined);

  const refused = rejection(uploading, "ECLOSED");
  await workspace.close();
  await rejection(event, "ECLOSED");
  const error = await refused;
  assert.equal(cancelled, error, "the source is cancelled with the same error");
  for (const reader of readers) {
    // A piece that was read ahead may still come.
    const error = await reader
      .read()
      .then(() => reader.read())
      .then(() => reader.read())
      .catch((reason) => reason);
    assert.equal(error.code, "ECLOSED", error.stack);
  }

  const again = openAt(t, normal(path));
  assert.ok((await bytesOf(again.fs.readFile("/workspace/large"))).equals(uniqueBytes("large", 1_500_000)));
  await again.fs.rm("/workspace/large");
  await again.compact();
  // The holder lives in this process, until its objects are collected; afterwards nobody holds it.
  const { storedBytes } = await again.fs.statfs();
  assert.ok(storedBytes <= 7 + 1_500_000 + 600_000 * 2, `${storedBytes} bytes`);
  assert.deepEqual((await again.check()).problems, []);
  await again.close();
  const other = await startProcess(t, { storage: normal(path) });
  assert.deepEqual((await other.run(({ workspace }) => workspace.check())).problems, []);
  await other.end();
});

test("an upload whose workspace is closed before its end changes nothing", async (t) => {
  const path = join(folderFor(t), "upload.db");
  const workspace = await withFiles(normal(path));
  async function* source() {
    yield new Uint8Array(600_000);
    await workspace.close();
    yield new Uint8Array(600_000);
  }
  await rejection(workspace.fs.writeFile("/workspace/f", source()), "ECLOSED");
  const again = openAt(t, normal(path));
  assert.equal(await again.fs.readFile("/workspace/f", "utf8"), "content");
  assert.deepEqual((await again.check()).problems, []);
});

test("a read-only workspace reads, and refuses every change with EROFS", async (t) => {
  const path = join(folderFor(t), "readonly.db");
  await (await withFiles(path)).close();
  const before = statSync(path);
  const workspace = openAt(t, { path, readonly: true });
  for (const [method, call] of Object.entries(everyCall(workspace))) {
    if (MUTATIONS.includes(method)) {
      const error = await rejection(call(), "EROFS");
      assert.match(error.message, /read-only/, method);
    } else if (method !== "watch") {
      await call();
    }
  }
  assert.ok((await bytesOf(workspace.fs.readFile("/workspace/large"))).equals(uniqueBytes("large", 1_500_000)));
  await rejection(workspace.fs.access("/workspace/f", 2), "EROFS");
  assert.deepEqual((await workspace.check()).problems, []);
  await workspace.close();
  assert.equal(statSync(path).mtimeMs, before.mtimeMs);
  assert.equal(statSync(path).size, before.size);
});

test("a read-only workspace sees what another process writes, and holds it up in nothing", async (t) => {
  const path = join(folderFor(t), "beside.db");
  await (await withFiles(path)).close();
  const reader = openAt(t, { path, readonly: true });
  const other = await startProcess(t, { storage: normal(path) });
  const watch = reader.fs.watch("/workspace");
  const stream = (await reader.fs.readFile("/workspace/large")).getReader();
  const first = await stream.read();
  for (let index = 0; index < 30; index++) {
    await other.run(({ workspace }, index) => workspace.fs.writeFile("/workspace/f", `version ${index}`), index);
    assert.equal(await reader.fs.readFile("/workspace/f", "utf8"), `version ${index}`);
    assert.equal((await watch.next()).value.path, "/workspace/f");
  }
  await other.run(async ({ workspace }) => {
    await workspace.fs.writeFile("/workspace/large", "small now");
    await workspace.fs.rm("/workspace/large");
    await workspace.compact();
  });
  const pieces = [];
  for (let piece = first; !piece.done; piece = await stream.read()) pieces.push(piece.value);
  assert.ok(Buffer.concat(pieces).equals(uniqueBytes("large", 1_500_000)), "a stream shows the file as it was");
  assert.equal(await reader.fs.exists("/workspace/large"), false);
  await watch.return();
  await other.end();
  assert.equal(await reader.fs.readFile("/workspace/f", "utf8"), "version 29");
  await reader.close();
});

test("the WAL stays short while a stream stays open and 200 MB are written, and after", async (t) => {
  const path = join(folderFor(t), "wal.db");
  const workspace = await withFiles(normal(path));
  const { fs } = workspace;
  const reader = (await fs.readFile("/workspace/large")).getReader();
  await reader.read();
  let longest = 0;
  for (let index = 0; index < 200; index++) {
    await fs.writeFile(`/workspace/f${index % 10}`, uniqueBytes(`wal ${index}`, 1_000_000));
    longest = Math.max(longest, walBytes(path));
  }
  t.diagnostic(`longest ${(longest / MIB).toFixed(1)} MiB, then ${(walBytes(path) / MIB).toFixed(1)} MiB`);
  assert.ok(longest < 80 * MIB, `${longest / MIB} MiB while it was written`);
  const rest = [];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) rest.push(piece.value);
  assert.equal(Buffer.concat(rest).length, 1_500_000 - 512 * 1024);
  await waitFor("the WAL is cut", async () => {
    for (let index = 0; index < 200; index++) await fs.writeFile("/workspace/small", String(index).repeat(1_000));
    return walBytes(path) <= 17 * MIB;
  });
  await workspace.close();
  assert.equal(walBytes(path), 0);
});

test("a reader of another process that stands still does not leave the WAL long for ever", async (t) => {
  const path = join(folderFor(t), "still.db");
  const workspace = await withFiles(normal(path));
  const { fs } = workspace;
  // Of a read-only workspace a stream is a read transaction: it cannot be pinned.
  const other = await startProcess(t, { storage: { path, readonly: true } });
  await other.run(async ({ workspace, state }) => {
    state.reader = (await workspace.fs.readFile("/workspace/large")).getReader();
    await state.reader.read();
  });
  for (let index = 0; index < 100; index++) {
    await fs.writeFile(`/workspace/f${index % 10}`, uniqueBytes(`still ${index}`, 1_000_000));
  }
  assert.ok(walBytes(path) > 50 * MIB, "the reader keeps what it sees");
  const read = await other.run(async ({ state }) => {
    let bytes = 0;
    for (let piece = await state.reader.read(); !piece.done; piece = await state.reader.read())
      bytes += piece.value.length;
    return bytes;
  });
  assert.equal(read, 1_500_000 - 512 * 1024);
  await waitFor("the WAL is cut", async () => {
    for (let index = 0; index < 200; index++) await fs.writeFile("/workspace/small", String(index).repeat(1_000));
    return walBytes(path) <= 17 * MIB;
  });
  await other.end();
  await workspace.close();
});

test("overwriting a file 200 times leaves room for a few versions, not for 200", async (t) => {
  for (const [name, bytes, most] of [
    ["large", 1_000_000, 80 * MIB],
    ["medium", 50_000, 5 * MIB],
    ["small", 500, 1 * MIB],
  ]) {
    const path = join(folderFor(t), `${name}.db`);
    const workspace = openAt(t, { path, durability: "normal" });
    for (let index = 0; index < 200; index++) {
      await workspace.fs.writeFile("/workspace/f", uniqueBytes(`${name} ${index}`, bytes));
      // Collected in the background, a moment later.
      if (index % 40 === 39)
        await waitFor("old versions go", async () => (await workspace.fs.statfs()).storedBytes === bytes);
    }
    await workspace.close();
    const size = statSync(path).size;
    t.diagnostic(`${name}: ${size} bytes`);
    assert.ok(size < most, `${name}: ${size} bytes`);
  }
});

test("programs that live for a moment only do not let the file grow for ever", async (t) => {
  const path = join(folderFor(t), "moments.db");
  const bytes = 1_000_000;
  for (let index = 0; index < 40; index++) {
    const workspace = new Workspace({ storage: path });
    await workspace.fs.writeFile("/workspace/f", uniqueBytes(`moment ${index}`, bytes));
    await workspace.close();
  }
  const size = statSync(path).size;
  assert.ok(size < 5 * bytes, `${size} bytes`);
});

test("what nothing uses is collected without being asked, and compact() gives the space back", async (t) => {
  const path = join(folderFor(t), "space.db");
  const workspace = openAt(t, normal(path));
  const { fs } = workspace;
  for (let index = 0; index < 20; index++) {
    await fs.writeFile(`/workspace/f${index}`, inPieces(uniqueBytes(`space ${index}`, 2_000_000), 300_000));
    await fs.copyFile(`/workspace/f${index}`, `/workspace/copy${index}`);
  }
  assert.equal((await fs.statfs()).storedBytes, 40_000_000);
  for (let index = 0; index < 20; index++) await fs.rm(`/workspace/f${index}`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal((await fs.statfs()).storedBytes, 40_000_000, "the copies need them");
  for (let index = 1; index < 20; index++) await fs.rm(`/workspace/copy${index}`);
  await waitFor("only one file's contents remain", async () => (await fs.statfs()).storedBytes === 2_000_000, 5);
  assert.deepEqual((await workspace.check()).problems, []);

  const { freedBytes } = await workspace.compact();
  const { databaseBytes, walBytes } = await fs.statfs();
  assert.ok(freedBytes > 30_000_000, `${freedBytes} bytes freed`);
  assert.ok(databaseBytes + walBytes < 3_000_000, `${databaseBytes} and ${walBytes} bytes`);
  assert.equal(statSync(path).size, databaseBytes);
  assert.ok((await bytesOf(fs.readFile("/workspace/copy0"))).equals(uniqueBytes("space 0", 2_000_000)));
  assert.deepEqual((await workspace.check()).problems, []);
});

test("garbage that is made while the collector runs is collected too", async (t) => {
  const bytes = 540_000;
  const lane = async (number) => {
    const workspace = openAt(t, normal(join(folderFor(t), `${number}.db`)));
    const { fs } = workspace;
    const write = (what) => fs.writeFile("/workspace/f", uniqueBytes(`${number} ${what}`, bytes));
    await write("first");
    for (let round = 0; round < 12; round++) {
      // The collector begins 200 ms after this. The last write comes just then, so that it may be
      // committed together with the collector's work.
      await write(`${round} at first`);
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 190));
      for (let index = 0; performance.now() < start + 198 + (round % 8); index++) await write(`${round} ${index}`);
      await waitFor("only the last version remains", async () => (await fs.statfs()).storedBytes === bytes, 3);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(lane));
});

test("the contents of an upload that fails are collected", async (t) => {
  const workspace = openAt(t, normal(join(folderFor(t), "failed.db")));
  async function* source() {
    yield uniqueBytes("failed", 2_000_000);
    throw new Error("the source broke");
  }
  await assert.rejects(workspace.fs.writeFile("/workspace/f", source()), /the source broke/);
  await waitFor("nothing is stored", async () => (await workspace.fs.statfs()).storedBytes === 0, 5);
  assert.deepEqual((await workspace.check()).problems, []);
});

test("the file that is left after close() is a whole copy of the workspace", async (t) => {
  const folder = folderFor(t);
  const path = join(folder, "original.db");
  await (await withFiles(path)).close();
  copyFileSync(path, join(folder, "copy.db"));
  assert.equal(existsSync(`${path}-wal`), false);
  const workspace = openAt(t, join(folder, "copy.db"));
  assert.equal(await workspace.fs.readFile("/workspace/link", "utf8"), "content");
  assert.deepEqual((await workspace.check()).problems, []);
});
