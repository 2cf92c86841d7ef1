// Files that are no workspace, or no longer one: a clear error, never a wrong byte, and the file
// stays as it is.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Workspace, WorkspaceError } from "carrel";
import { chance, hashOf, seed, uniqueBytes } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { actualTree, expectedTree, newLane, step } from "../support/lane.mjs";
import { openAt, startProcess } from "../support/process.mjs";
import { bytesOf, rejection } from "../support/workspace.mjs";

const PAGE_BYTES = 4096;
const HEADER = { journalModes: 18, userVersion: 60, applicationId: 68 };

/** Path to contents, of the workspace that is damaged below. */
const FILES = {
  "/workspace/empty": Buffer.alloc(0),
  "/workspace/small": uniqueBytes("small", 1_500),
  "/workspace/medium": uniqueBytes("medium", 30_000),
  "/workspace/chunk": uniqueBytes("chunk", 524_288),
  "/workspace/large": uniqueBytes("large", 1_400_000),
  "/workspace/d/deep/file": uniqueBytes("deep", 5_000),
  "/workspace/d/deep/other": uniqueBytes("other", 70_000),
};
for (let index = 0; index < 60; index++) FILES[`/workspace/many/${index}`] = uniqueBytes(`many ${index}`, index * 40);

let sound;

before(async (t) => {
  const path = join(folderFor(t), "sound.db");
  const workspace = new Workspace({ storage: path });
  for (const [name, bytes] of Object.entries(FILES)) {
    await workspace.fs.mkdir(dirname(name), { recursive: true });
    await workspace.fs.writeFile(name, bytes);
  }
  await workspace.fs.symlink("d/deep/file", "/workspace/link");
  await workspace.compact();
  await workspace.close();
  sound = readFileSync(path);
});

/** A database as it would be with these bytes; put into a new folder. */
function database(t, bytes, name = "workspace.db") {
  const path = join(folderFor(t), name);
  writeFileSync(path, bytes);
  return path;
}

function patched(bytes, changes) {
  const copy = Buffer.from(bytes);
  for (const [offset, value] of changes) copy.set(value, offset);
  return copy;
}

function number(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** All in a folder, in a form that compares. */
function snapshot(folder) {
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => {
        const stats = statSync(join(folder, name));
        return [
          name,
          stats.isFile() ? `${stats.size} ${stats.mtimeMs} ${hashOf(readFileSync(join(folder, name)))}` : "-",
        ];
      }),
  );
}

function opening(storage) {
  try {
    return { workspace: new Workspace({ storage }) };
  } catch (error) {
    return { error };
  }
}

/** Opening fails so, says what to do, and changes nothing in the folder. */
function checkRefused(storage, code, sentence) {
  const path = storage.path ?? storage;
  const folder = existsSync(dirname(path)) && statSync(dirname(path)).isDirectory() ? dirname(path) : undefined;
  const earlier = folder && snapshot(folder);
  const { workspace, error } = opening(storage);
  assert.equal(workspace, undefined, `it opens; ${code} was expected`);
  assert.ok(error instanceof WorkspaceError, String(error?.stack ?? error));
  assert.equal(error.code, code, error.message);
  assert.equal(error.path, path);
  assert.equal(error.syscall, "open");
  assert.match(error.message, sentence);
  if (!folder) return;
  const later = snapshot(folder);
  // A reader of a database in WAL mode needs these files, and may not remove them.
  for (const name of [`${basename(path)}-shm`, `${basename(path)}-wal`]) {
    if (storage.readonly && !(name in earlier) && (name.endsWith("-shm") || later[name]?.startsWith("0 "))) {
      delete later[name];
      rmSync(join(folder, name), { force: true });
    }
  }
  assert.deepEqual(later, earlier, "the folder is as it was");
}

const REFUSED = [
  ["a text file", () => Buffer.from("# Notes\n\nThis is not a database.\n".repeat(500)), /not a carrel database/],
  ["a short text", () => Buffer.from("x"), /not a carrel database/],
  ["random bytes", () => uniqueBytes("random", 50_000), /not a carrel database/],
  ["a damaged header", () => patched(sound, [[0, Buffer.from("SQLite format 4")]]), /header is damaged/],
  ["zeros where the header was", () => patched(sound, [[0, Buffer.alloc(PAGE_BYTES)]]), /not a carrel database/],
  ["another program's database", () => patched(sound, [[HEADER.applicationId, number(0)]]), /another program/],
  [
    "another program's database with an id",
    () => patched(sound, [[HEADER.applicationId, number(0x0f055112)]]),
    /another program/,
  ],
  [
    "another program's database that is not in WAL mode",
    () =>
      patched(sound, [
        [HEADER.applicationId, number(7)],
        [HEADER.journalModes, [1, 1]],
      ]),
    /another program/,
  ],
  ["a newer version", () => patched(sound, [[HEADER.userVersion, number(99)]]), /version 99.*use a newer carrel/],
];

for (const [what, bytes, sentence] of REFUSED) {
  test(`${what} is refused and stays as it is`, (t) => {
    const path = database(t, bytes());
    checkRefused(path, "EIO", sentence);
    checkRefused({ path, readonly: true }, "EIO", sentence);
  });
}

test("another program's database keeps the WAL that belongs to it", (t) => {
  // Page 1 of another version, committed to a WAL that nobody copied back yet.
  const path = database(t, sound);
  const page = patched(sound.subarray(0, PAGE_BYTES), [[HEADER.userVersion, number(98)]]);
  writeFileSync(`${path}-wal`, walOf(page, sound.length / PAGE_BYTES));
  const earlier = snapshot(dirname(path));
  const { error } = opening(path);
  assert.match(error.message, /version 98/, "the WAL is read");
  const { "workspace.db-shm": _, ...later } = snapshot(dirname(path));
  assert.deepEqual(later, earlier);
});

/** A WAL with one commit of page 1, as the file format of SQLite describes it. */
function walOf(page, pageCount) {
  const sums = [0, 0];
  const add = (bytes) => {
    for (let at = 0; at < bytes.length; at += 8) {
      sums[0] = (sums[0] + bytes.readUInt32BE(at) + sums[1]) >>> 0;
      sums[1] = (sums[1] + bytes.readUInt32BE(at + 4) + sums[0]) >>> 0;
    }
  };
  const salts = [0x1234_5678, 0x0bad_cafe];
  const words = (...values) => Buffer.concat(values.map((value) => number(value | 0)));
  const header = words(0x377f_0683, 3_007_000, PAGE_BYTES, 0, ...salts);
  add(header);
  const headerSums = [...sums];
  const frame = words(1, pageCount);
  add(Buffer.concat([frame, page]));
  return Buffer.concat([header, words(...headerSums), frame, words(...salts), words(...sums), page]);
}

test("what is no regular file is refused", (t) => {
  const folder = folderFor(t);
  mkdirSync(join(folder, "directory"));
  checkRefused(join(folder, "directory"), "EISDIR", /storage must name a file/);
  checkRefused({ path: join(folder, "directory"), readonly: true }, "EISDIR", /storage must name a file/);
  execFileSync("mkfifo", [join(folder, "pipe")]);
  checkRefused(join(folder, "pipe"), "EINVAL", /regular file/);
  checkRefused({ path: join(folder, "pipe"), readonly: true }, "EINVAL", /regular file/);
  checkRefused("/dev/null", "EINVAL", /regular file/);

  writeFileSync(join(folder, "file"), "text");
  checkRefused(join(folder, "file/below.db"), "ENOTDIR", /parent/);
  checkRefused(join(folder, "file/deep/below.db"), "ENOTDIR", /parent/);
  assert.equal(readFileSync(join(folder, "file"), "utf8"), "text");
  checkRefused(join(folder, `${"n".repeat(300)}.db`), "ENAMETOOLONG", /too long/);
});

test("a missing file is not made by a read-only workspace", (t) => {
  const folder = folderFor(t);
  checkRefused({ path: join(folder, "missing.db"), readonly: true }, "ENOENT", /no database/);
  checkRefused({ path: join(folder, "deep/missing.db"), readonly: true }, "ENOENT", /no database/);
  assert.deepEqual(readdirSync(folder), []);
});

test("an empty file becomes a workspace, but not a read-only one", async (t) => {
  const path = database(t, "");
  checkRefused({ path, readonly: true }, "EROFS", /open it once without/);
  const workspace = openAt(t, path);
  await workspace.fs.writeFile("/workspace/f", "new");
  assert.equal(await workspace.fs.readFile("/workspace/f", "utf8"), "new");
  await workspace.close();
});

test("a database without permission is EACCES, and a read-only folder leaves reading", async (t) => {
  const folder = folderFor(t);
  chmodSync(folder, 0o755);
  const other = await startProcess(t);
  // Permissions do not hold for root, so somebody else asks.
  await other.run(() => {
    if (process.getuid() !== 0) return;
    process.setgroups([]);
    process.setgid(65_534);
    process.setuid(65_534);
  });
  const attempt = (storage) =>
    other.run(async ({ Workspace }, storage) => {
      let workspace;
      try {
        workspace = new Workspace({ storage });
      } catch ({ code, message }) {
        return { code, message };
      }
      const text = await workspace.fs.readFile("/workspace/small").then((stream) => new Response(stream).arrayBuffer());
      const { ok } = await workspace.check();
      const refusal = await workspace.fs.writeFile("/workspace/new", "").catch(({ code }) => code);
      await workspace.close();
      return { bytes: text.byteLength, ok, refusal };
    }, storage);
  const place = (name, folderMode, fileMode) => {
    mkdirSync(join(folder, name));
    const path = join(folder, name, "workspace.db");
    writeFileSync(path, sound);
    chmodSync(path, fileMode);
    chmodSync(dirname(path), folderMode);
    return path;
  };
  const readable = { bytes: 1_500, ok: true, refusal: "EROFS" };

  const hidden = place("hidden", 0o755, 0o000);
  assert.equal((await attempt(hidden)).code, "EACCES");
  assert.equal((await attempt({ path: hidden, readonly: true })).code, "EACCES");
  assert.match((await attempt(hidden)).message, /permission/);

  const closed = place("closed", 0o000, 0o644);
  assert.equal((await attempt(closed)).code, "EACCES");
  assert.equal((await attempt({ path: closed, readonly: true })).code, "EACCES");

  const frozen = place("frozen", 0o555, 0o444);
  assert.equal((await attempt(frozen)).code, "EACCES");
  assert.deepEqual(await attempt({ path: frozen, readonly: true }), readable);

  // A WAL needs files beside the database.
  const lonely = place("lonely", 0o555, 0o666);
  assert.equal((await attempt(lonely)).code, "EACCES");
  assert.deepEqual(await attempt({ path: lonely, readonly: true }), readable);
  assert.equal((await attempt(join(dirname(lonely), "new.db"))).code, "EACCES");
  assert.equal((await attempt(join(dirname(lonely), "deep/new.db"))).code, "EACCES");

  // So that they can be looked at, and removed.
  for (const path of [hidden, closed, frozen, lonely]) {
    chmodSync(dirname(path), 0o755);
    chmodSync(path, 0o644);
    assert.deepEqual(readdirSync(dirname(path)), ["workspace.db"]);
    assert.ok(readFileSync(path).equals(sound));
  }
  await other.kill();
});

test("a link to a database is the database", async (t) => {
  const folder = folderFor(t);
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real/there.db"), join(folder, "here.db"));
  const here = openAt(t, { path: join(folder, "here.db"), durability: "normal" });
  const there = openAt(t, { path: join(folder, "real/there.db"), durability: "normal" });
  const watch = here.fs.watch("/workspace");
  await there.fs.writeFile("/workspace/f", "by the other name");
  assert.equal(await here.fs.readFile("/workspace/f", "utf8"), "by the other name");
  assert.equal((await watch.next()).value.path, "/workspace/f");
  await watch.return();
  assert.ok((await here.fs.statfs()).walBytes > 0, "its WAL is found");
  await here.close();
  await there.close();
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== "real"),
    ["here.db"],
  );
});

/**
 * Opens what may be damaged and reads all of it. Every read has the right bytes or says that it
 * has not; what fails, `check` knows of.
 */
async function examine(path, about) {
  const earlier = readFileSync(path);
  const { workspace, error } = opening(path);
  if (error) {
    assert.equal(error.code, "EIO", `${about}: ${error.message}`);
    assert.ok(readFileSync(path).equals(earlier), `${about}: a failed opening changed the file`);
    return { refused: 1 };
  }
  const found = { right: 0, failed: 0 };
  let lost;
  for (const [name, bytes] of Object.entries(FILES)) {
    try {
      const actual = await bytesOf(workspace.fs.readFile(name));
      assert.ok(actual.equals(bytes), `${about}: ${name} has wrong bytes`);
      found.right += 1;
    } catch (failure) {
      if (failure.code === "ERR_ASSERTION") throw failure;
      // A name or a link that is damaged leads nowhere, or to something else.
      assert.match(failure.code, /^(EIO|ENOENT|ENOTDIR|EISDIR|ELOOP)$/, `${about}: ${failure.stack}`);
      lost ??= `${name}: ${failure.message}`;
      found.failed += 1;
    }
  }
  for (const look of [
    () => workspace.fs.find("/"),
    () => workspace.fs.ls("/"),
    () => workspace.fs.grep("never there", "/"),
    () => workspace.fs.readdir("/", { recursive: true }),
  ]) {
    await look().catch((failure) => assert.match(failure.code, /^(EIO|ENOENT|ENOTDIR)$/, `${about}: ${failure.stack}`));
  }
  const report = await workspace.check().catch((failure) => {
    assert.equal(failure.code, "EIO", `${about}: ${failure.stack}`);
    return { ok: false, problems: [] };
  });
  assert.equal(report.ok, report.problems.length === 0 && report.ok);
  if (lost) assert.equal(report.ok, false, `${about}: check() finds nothing, but ${lost}`);
  if (!report.ok) found.reported = 1;
  await workspace.close();
  return found;
}

/** Examines many damaged copies; at least one of each of `kinds` has to come out. */
async function examineAll(t, damages, kinds) {
  const folder = folderFor(t);
  const path = join(folder, "damaged.db");
  const total = {};
  for (const [about, bytes] of damages()) {
    writeFileSync(path, bytes);
    const found = await examine(path, about);
    for (const [kind, count] of Object.entries(found)) total[kind] = (total[kind] ?? 0) + count;
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  }
  t.diagnostic(JSON.stringify(total));
  for (const kind of kinds) assert.ok(total[kind] > 0, `none was ${kind}: the test says nothing`);
}

test("a file that was cut has right bytes or an error", async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const dice = chance(seed, "cut");
  const lengths = [1, 15, 16, 24, 99, 100, 101, 511, 512, 513, 1024, 4095, 4096, 4097, 8192, sound.length - 1];
  for (let index = 0; index < 60; index++) lengths.push(1 + dice.below(sound.length - 1));
  for (let page = 1; page < 20; page++) lengths.push(Math.floor((sound.length / PAGE_BYTES / 20) * page) * PAGE_BYTES);
  await examineAll(
    t,
    function* () {
      for (const length of lengths) yield [`cut to ${length} of ${sound.length}`, sound.subarray(0, length)];
    },
    ["refused"],
  );
});

test("a file that was overwritten has right bytes or an error", async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const dice = chance(seed, "overwritten");
  const pages = sound.length / PAGE_BYTES;
  // The contents of files fill most pages; the ones before tell where everything is.
  const somewhere = () => (dice.happens(0.6) ? dice.below(Math.min(60, pages) * PAGE_BYTES) : dice.below(sound.length));
  await examineAll(
    t,
    function* () {
      for (let index = 0; index < 300; index++) {
        const copy = Buffer.from(sound);
        const at = somewhere();
        const kind = dice.pick(["bit", "bytes", "zero page", "random page", "page twice"]);
        const page = Math.floor(at / PAGE_BYTES) * PAGE_BYTES;
        if (kind === "bit") copy[at] ^= 1 << dice.below(8);
        if (kind === "bytes") uniqueBytes(index, 16).copy(copy, at);
        if (kind === "zero page") copy.fill(0, page, page + PAGE_BYTES);
        if (kind === "random page") uniqueBytes(index, PAGE_BYTES).copy(copy, page);
        if (kind === "page twice") {
          const from = dice.below(pages) * PAGE_BYTES;
          sound.copy(copy, page, from, from + PAGE_BYTES);
        }
        yield [`SEED=${seed} ${index}: ${kind} at ${at}`, copy];
      }
    },
    ["refused", "right", "failed", "reported"],
  );
});

/** Where in the database some bytes are: once in use, and perhaps in pages that were used before. */
function places(needle) {
  const found = [];
  for (let at = sound.indexOf(needle); at >= 0; at = sound.indexOf(needle, at + 1)) found.push(at);
  return found;
}

test("a wrong bit in the contents of a file is EIO there, and check() names the file", async (t) => {
  for (const name of ["/workspace/small", "/workspace/medium", "/workspace/large", "/workspace/d/deep/file"]) {
    const bytes = FILES[name];
    let wrong = 0;
    for (const at of places(bytes.subarray(bytes.length - 200, bytes.length - 168))) {
      const workspace = openAt(t, database(t, patched(sound, [[at, [sound[at] ^ 1]]])));
      const actual = await bytesOf(workspace.fs.readFile(name)).catch((error) => error);
      if (Buffer.isBuffer(actual)) {
        assert.ok(actual.equals(bytes), `${name} has wrong bytes`);
        await workspace.close();
        continue;
      }
      wrong += 1;
      assert.equal(actual.code, "EIO", actual.stack);
      assert.match(actual.message, /damaged.*checksum.*workspace\.check\(\)/);
      await rejection(workspace.fs.readFile(name, "utf8"), "EIO");
      const { ok, problems } = await workspace.check();
      assert.equal(ok, false);
      assert.deepEqual(
        problems.map(({ rule, path }) => ({ rule, path })),
        [{ rule: "blob-hash", path: name }],
      );
      const matches = await workspace.fs.grep("x", name);
      assert.equal(matches.length, 0);
      assert.equal(matches.skipped.unreadable + matches.skipped.binary, 1);
      for (const [other, right] of Object.entries(FILES)) {
        if (other !== name) assert.ok((await bytesOf(workspace.fs.readFile(other))).equals(right), other);
      }
      // The rest can be saved, and the file be written again.
      await workspace.fs.rm(name);
      await workspace.fs.writeFile(name, "anew");
      await workspace.compact();
      assert.equal(await workspace.fs.readFile(name, "utf8"), "anew");
      assert.deepEqual((await workspace.check()).problems, []);
      await workspace.close();
    }
    assert.equal(wrong, 1, `${name} is stored in one place`);
  }
});

test("a wrong size of a file is EIO, not a part of it or more than it", async (t) => {
  for (const [name, size] of [
    ["/workspace/small", 1_500],
    ["/workspace/medium", 30_000],
    ["/workspace/chunk", 524_288],
    ["/workspace/large", 1_400_000],
  ]) {
    // Wherever there is a number like the size, in the way that SQLite stores numbers.
    const needle = Buffer.alloc(size < 65_536 ? 2 : 3);
    needle.writeUIntBE(size, 0, needle.length);
    const path = join(folderFor(t), "workspace.db");
    let wrong = 0;
    for (const at of places(needle)) {
      for (const [where, bit] of [
        [at, 0x10],
        [at + needle.length - 1, 0x08],
      ]) {
        writeFileSync(path, patched(sound, [[where, [sound[where] ^ bit]]]));
        const { workspace, error } = opening(path);
        if (error) continue;
        const bytes = await bytesOf(workspace.fs.readFile(name)).catch(({ code }) => code);
        if (bytes === "EIO") wrong += 1;
        else assert.ok(bytes.equals(FILES[name]), `${name} with another size at ${at} has wrong bytes`);
        const end = { byteOffset: size - 10 };
        const tail = await bytesOf(workspace.fs.readFile(name, end)).catch(({ code }) => code);
        // Beyond an end that is too early there is nothing, which is not wrong.
        const isRight = tail === "EIO" || tail.length === 0 || tail.equals(FILES[name].subarray(-10));
        assert.ok(isRight, `${name} with another size at ${at} has wrong bytes at its end`);
        await workspace.close();
      }
    }
    assert.ok(wrong > 0, `${name}: no row with its size was found`);
  }
});

test("a WAL that ends anywhere, or goes wrong anywhere, holds what was committed before", async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const folder = folderFor(t);
  const path = join(folder, "written.db");
  const first = new Workspace({ storage: path });
  await first.fs.mkdir("/workspace/lane");
  await first.close();

  // One operation after the other, then killed: every commit is in the WAL, in this order.
  const operations = 30;
  const main = readFileSync(path);
  const lane = newLane("/workspace/lane");
  const program = fileURLToPath(new URL("../support/lane-main.mjs", import.meta.url));
  const task = { storage: { path, durability: "normal" }, seed, lanes: [lane], operations };
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    printed += text;
    if (printed.endsWith("idle\n")) child.kill("SIGKILL");
  }
  const states = [lane];
  while (states.length <= operations) states.push(step(seed, states.at(-1)).after);
  const trees = states.map((state) => JSON.stringify(expectedTree(state)));
  const wal = readFileSync(`${path}-wal`);
  assert.ok(readFileSync(path).equals(main), "nothing of it was copied back yet");
  const dice = chance(seed, "wal");

  /** The number of operations that are there, with this WAL. */
  const survived = async (bytes, about) => {
    const copy = join(folder, "copy.db");
    copyFileSync(path, copy);
    writeFileSync(`${copy}-wal`, bytes);
    rmSync(`${copy}-shm`, { force: true });
    const workspace = new Workspace({ storage: copy });
    assert.deepEqual((await workspace.check()).problems, [], about);
    const tree = JSON.stringify(await actualTree(workspace.fs, lane));
    const index = trees.indexOf(tree);
    assert.ok(index >= 0, `${about}: no state of the writer's, but ${tree}`);
    await workspace.close();
    return index;
  };

  assert.equal(await survived(wal, "the whole WAL"), operations);
  let before = 0;
  const lengths = Array.from({ length: 80 }, () => dice.below(wal.length)).sort((a, b) => a - b);
  for (const length of lengths) {
    const index = await survived(wal.subarray(0, length), `SEED=${seed}, cut to ${length} of ${wal.length}`);
    assert.ok(index >= before, "a longer WAL has no less");
    before = index;
  }
  assert.ok(before > operations / 2, "cut near its end, most is there");
  for (let round = 0; round < 40; round++) {
    const copy = Buffer.from(wal);
    const at = dice.below(copy.length);
    copy[at] ^= 1 << dice.below(8);
    await survived(copy, `SEED=${seed}, a wrong bit at ${at}`);
  }
});

test("a database that is cut while it is open fails with EIO, and the process lives", async (t) => {
  const path = database(t, sound);
  const workspace = openAt(t, path);
  assert.ok((await bytesOf(workspace.fs.readFile("/workspace/small"))).equals(FILES["/workspace/small"]));
  truncateSync(path, 3 * PAGE_BYTES);
  const error = await rejection(bytesOf(workspace.fs.readFile("/workspace/large")), "EIO");
  assert.match(error.message, /damaged|disk/);
  await workspace.close();
});
