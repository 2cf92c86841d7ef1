// Several processes on one file: nothing is lost, nobody is told that the database is busy, and
// each hears of what the others do.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seed, uniqueBytes } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { openAt, startProcess, waitFor } from "../support/process.mjs";
import { rejection } from "../support/workspace.mjs";

const PROCESSES = 8;
const OPERATIONS = 1_000;
const normal = (path) => ({ path, durability: "normal" });

/**
 * What each of the processes does. Sent there as text, hence on its own feet.
 *
 * Only the codes that POSIX allows for what two may do at once are caught; any other is a failure.
 */
async function mixedWork({ workspace }, { me, count, seed, addresses }) {
  const { chance, inPieces, uniqueBytes } = await import(addresses.chance);
  const { fs } = workspace;
  const dice = chance(seed, "process", me);
  const mine = `/workspace/p${me}`;
  const told = { added: [0, 0, 0], appended: 0, claimed: [] };
  const allow =
    (...codes) =>
    (error) => {
      if (!codes.includes(error.code)) throw error;
    };
  const same = (actual, expected) => {
    if (actual !== expected) throw new Error(`process ${me} read ${actual} and had written ${expected}`);
  };

  await fs.mkdir(mine);
  for (let index = 0; index < count; index++) {
    const roll = dice.below(100);
    const shared = `/workspace/shared/s${dice.below(6)}`;
    if (roll < 15) {
      const number = dice.below(3);
      await workspace.transaction(async (tx) => {
        const before = Number(await tx.readFile(`/workspace/counter${number}`, "utf8"));
        await tx.writeFile(`/workspace/counter${number}`, String(before + 1));
      });
      told.added[number] += 1;
    } else if (roll < 30) {
      await fs.appendFile("/workspace/log", `${me} ${told.appended}\n`);
      told.appended += 1;
    } else if (roll < 40) {
      const claim = `/workspace/claims/${dice.below(400)}`;
      await fs.writeFile(claim, String(me), { exclusive: true }).then(() => told.claimed.push(claim), allow("EEXIST"));
    } else if (roll < 55) {
      const text = `${me} wrote this at ${index} `.repeat(1 + dice.below(60));
      await fs.writeFile(`${mine}/f${index % 10}`, text);
      same(await fs.readFile(`${mine}/f${index % 10}`, "utf8"), text);
    } else if (roll < 57) {
      const bytes = uniqueBytes(`${me} ${index}`, 600_000 + dice.below(300_000));
      await fs.writeFile(`${mine}/large`, inPieces(bytes, 100_000));
      let at = 0;
      for await (const piece of await fs.readFile(`${mine}/large`)) {
        same(Buffer.compare(piece, bytes.subarray(at, at + piece.length)), 0);
        at += piece.length;
      }
      same(at, bytes.length);
    } else if (roll < 65) {
      await fs.writeFile(shared, String(me).repeat(2_000 + dice.below(3_000)));
    } else if (roll < 75) {
      // Each writes one digit only: a mixture would be a torn file.
      const text = await fs.readFile(shared, "utf8").catch(allow("ENOENT"));
      same(new Set(text).size <= 1, true);
    } else if (roll < 80) {
      await fs.rename(shared, `/workspace/shared/s${dice.below(6)}`).catch(allow("ENOENT"));
    } else if (roll < 84) {
      await fs.rm(shared).catch(allow("ENOENT"));
    } else if (roll < 88) {
      await fs.mkdir(`/workspace/trees/${me % 2}/${dice.below(3)}`, { recursive: true });
    } else if (roll < 90) {
      await fs.rm(`/workspace/trees/${me % 2}`, { recursive: true, force: true });
    } else if (roll < 95) {
      await fs.find("/workspace", "**/f*");
      await fs.readdir("/workspace/shared");
    } else if (roll === 99 && me === 0) {
      await workspace.compact();
    } else {
      await fs.stat("/workspace/log");
      await fs.exists(shared);
    }
  }
  return told;
}

const addresses = { chance: new URL("../support/chance.mjs", import.meta.url).href };

/** Files that all of them use. Whoever comes second finds them. */
async function prepare({ workspace }) {
  await workspace.transaction(async (fs) => {
    if (await fs.exists("/workspace/log")) return;
    for (const name of ["counter0", "counter1", "counter2"]) await fs.writeFile(`/workspace/${name}`, "0");
    for (const name of ["shared", "claims", "trees"]) await fs.mkdir(`/workspace/${name}`);
    await fs.writeFile("/workspace/log", "");
  });
}

/** Whether the workspace holds what the processes told, and nothing else. */
async function verify(t, path, told) {
  const workspace = openAt(t, path);
  const { fs } = workspace;
  for (const number of [0, 1, 2]) {
    const sum = told.reduce((total, { added }) => total + added[number], 0);
    assert.equal(await fs.readFile(`/workspace/counter${number}`, "utf8"), String(sum), "no update is lost");
  }
  const lines = (await fs.readFile("/workspace/log", "utf8")).split("\n");
  assert.equal(lines.pop(), "");
  for (const [me, { appended }] of told.entries()) {
    const its = lines.filter((line) => line.startsWith(`${me} `));
    assert.deepEqual(
      its,
      Array.from({ length: appended }, (_, index) => `${me} ${index}`),
    );
  }
  assert.equal(
    lines.length,
    told.reduce((total, { appended }) => total + appended, 0),
  );

  const claims = told.flatMap(({ claimed }, me) => claimed.map((claim) => [claim, String(me)]));
  assert.equal(new Set(claims.map(([claim]) => claim)).size, claims.length, "one process makes a file");
  for (const [claim, me] of claims) assert.equal(await fs.readFile(claim, "utf8"), me);
  assert.equal((await fs.readdir("/workspace/claims")).length, claims.length);

  assert.deepEqual((await workspace.check()).problems, []);
  await workspace.close();
}

test(`${PROCESSES} processes make ${OPERATIONS} mixed operations each on one file`, async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const path = join(folderFor(t), "shared.db");
  const others = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(t, { storage: normal(path) })));
  await others[0].run(prepare);
  const told = await Promise.all(
    others.map((other, me) => other.run(mixedWork, { me, count: OPERATIONS, seed, addresses })),
  );
  await Promise.all(others.map((other) => other.end()));
  await verify(t, path, told);
});

test(`${PROCESSES} processes open a new file at once and make ${OPERATIONS} operations each`, async (t) => {
  const path = join(folderFor(t), "deep/below/new.db");
  const others = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(t)));
  const told = await Promise.all(
    others.map(async (other, me) => {
      await other.run((context, storage) => {
        context.workspace = new context.Workspace({ storage });
      }, normal(path));
      await other.run(prepare);
      return other.run(mixedWork, { me, count: OPERATIONS, seed: seed + 1, addresses });
    }),
  );
  await Promise.all(others.map((other) => other.end()));
  await verify(t, path, told);
});

test("the schema of a new file is made once, however many open it", async (t) => {
  const folder = folderFor(t);
  const others = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(t)));
  for (let round = 0; round < 40; round++) {
    const storage = { path: join(folder, `${round}.db`), durability: round % 2 ? "normal" : "full" };
    const at = Date.now() + 25;
    const seen = await Promise.all(
      others.map((other, me) =>
        other.run(
          async ({ Workspace }, storage, at, me) => {
            // All at the same moment, as nearly as a clock can tell it.
            while (Date.now() < at);
            const workspace = new Workspace({ storage });
            await workspace.fs.writeFile(`/workspace/${me}`, String(me));
            const { inode } = await workspace.fs.stat("/workspace");
            await workspace.close();
            return inode;
          },
          storage,
          at,
          me,
        ),
      ),
    );
    const workspace = openAt(t, storage);
    const { inode } = await workspace.fs.stat("/workspace");
    assert.deepEqual(
      seen,
      seen.map(() => inode),
      "all of them see one and the same directory",
    );
    const names = (await workspace.fs.readdir("/workspace")).map(({ name }) => name);
    assert.deepEqual(
      names,
      others.map((_, me) => String(me)),
    );
    assert.deepEqual((await workspace.check()).problems, []);
    await workspace.close();
  }
  await Promise.all(others.map((other) => other.kill()));
});

test("what one process changes, another sees at once", async (t) => {
  const path = join(folderFor(t), "seen.db");
  const workspace = openAt(t, normal(path));
  const other = await startProcess(t, { storage: normal(path) });
  const { fs } = workspace;
  for (let index = 0; index < 50; index++) {
    await fs.writeFile("/workspace/mine", `version ${index}`);
    assert.equal(
      await other.run(({ workspace }) => workspace.fs.readFile("/workspace/mine", "utf8")),
      `version ${index}`,
    );
    await other.run(({ workspace }, index) => workspace.fs.mkdir(`/workspace/d${index}`), index);
    assert.equal((await fs.stat(`/workspace/d${index}`)).isDirectory, true);
    await other.run(({ workspace }, index) => workspace.fs.rm(`/workspace/d${index}`), index);
    assert.equal(await fs.exists(`/workspace/d${index}`), false);
  }
  await other.end();
  await workspace.close();
});

test("a transaction of one process keeps others waiting, and readers going", async (t) => {
  const path = join(folderFor(t), "transaction.db");
  const workspace = openAt(t, path);
  await workspace.fs.writeFile("/workspace/f", "before");
  const other = await startProcess(t, { storage: path });
  await other.run(
    ({ workspace, state }) =>
      new Promise((begun) => {
        state.done = workspace.transaction(async (fs) => {
          await fs.writeFile("/workspace/f", "inside");
          begun();
          await new Promise((resolve) => {
            state.finish = resolve;
          });
        });
      }),
  );
  let isWritten = false;
  const writing = workspace.fs.appendFile("/workspace/f", " and after").then(() => {
    isWritten = true;
  });
  for (let index = 0; index < 20; index++) {
    assert.equal(await workspace.fs.readFile("/workspace/f", "utf8"), "before");
  }
  assert.equal(isWritten, false);
  await other.run(async ({ state }) => {
    state.finish();
    await state.done;
  });
  await writing;
  assert.equal(await workspace.fs.readFile("/workspace/f", "utf8"), "inside and after");
  await other.end();
  await workspace.close();
});

test("a process that dies in a transaction leaves nothing of it, and no lock", async (t) => {
  const path = join(folderFor(t), "dead.db");
  const workspace = openAt(t, normal(path));
  await workspace.fs.writeFile("/workspace/f", "before");
  const other = await startProcess(t, { storage: normal(path) });
  await other.run(
    ({ workspace }) =>
      new Promise((begun) => {
        workspace.transaction(async (fs) => {
          await fs.writeFile("/workspace/f", "inside");
          await fs.mkdir("/workspace/inside");
          begun();
          await new Promise(() => {});
        });
      }),
  );
  await other.kill();
  await workspace.fs.writeFile("/workspace/g", "after");
  assert.deepEqual(
    (await workspace.fs.readdir("/workspace")).map(({ name }) => name),
    ["f", "g"],
  );
  assert.equal(await workspace.fs.readFile("/workspace/f", "utf8"), "before");
  assert.deepEqual((await workspace.check()).problems, []);
  await workspace.close();
});

/** What is collected of a watch, in a form that compares: `type path` or `rename from -> to`. */
function sentence({ type, path, from }) {
  return from === undefined ? `${type} ${path}` : `${type} ${from} -> ${path}`;
}

/** The next `count` events, or what there is when nothing comes for long. */
async function take(watch, count) {
  const events = [];
  while (events.length < count) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 10_000, { done: true });
    });
    const { value, done } = await Promise.race([watch.next(), late]);
    clearTimeout(timer);
    if (done) break;
    events.push(value);
  }
  return events;
}

for (const durability of ["full", "normal"]) {
  test(`a watch hears of each change of another process by itself (${durability})`, async (t) => {
    const storage = { path: join(folderFor(t), "watched.db"), durability };
    const workspace = openAt(t, storage);
    const other = await startProcess(t, { storage });
    const watch = workspace.fs.watch("/workspace");
    for (let index = 0; index < 20; index++) {
      // It waits already, and silence follows: no later change helps an event that was missed.
      const event = take(watch, 1);
      await other.run(({ workspace }, index) => workspace.fs.writeFile(`/workspace/${index}`, ""), index);
      assert.deepEqual((await event).map(sentence), [`create /workspace/${index}`]);
    }
    await watch.return();
    await other.end();
    await workspace.close();
  });
}

test("a watch delivers the changes of several processes in order, each once", async (t) => {
  const path = join(folderFor(t), "order.db");
  const workspace = openAt(t, normal(path));
  await workspace.fs.mkdir("/workspace/in");
  const watch = workspace.fs.watch("/workspace/in");
  const others = await Promise.all([1, 2, 3].map(() => startProcess(t, { storage: normal(path) })));
  const each = 400;
  const working = Promise.all(
    others.map((other, me) =>
      other.run(
        async ({ workspace }, me, each) => {
          for (let index = 0; index < each; index++) {
            await workspace.fs.writeFile(`/workspace/in/${me}-${index}`, "");
            await workspace.fs.writeFile(`/workspace/${me}-${index}`, "not watched");
          }
        },
        me,
        each,
      ),
    ),
  );
  const events = await take(watch, others.length * each);
  await working;
  for (const [me] of others.entries()) {
    assert.deepEqual(
      events.map(sentence).filter((text) => text.startsWith(`create /workspace/in/${me}-`)),
      Array.from({ length: each }, (_, index) => `create /workspace/in/${me}-${index}`),
    );
  }
  const cursors = events.map(({ cursor }) => Number(cursor));
  assert.deepEqual(
    cursors,
    [...cursors].sort((a, b) => a - b),
  );
  assert.equal(new Set(cursors).size, cursors.length);
  await watch.return();
  await Promise.all(others.map((other) => other.end()));
  await workspace.close();
});

test("a watch goes on after a cursor, also in another process and after both were closed", async (t) => {
  const path = join(folderFor(t), "cursor.db");
  const first = openAt(t, normal(path));
  const watch = first.fs.watch("/workspace", { recursive: true });
  await first.fs.writeFile("/workspace/one", "1");
  const [event] = await take(watch, 1);
  assert.equal(sentence(event), "create /workspace/one");
  await watch.return();
  await first.fs.rename("/workspace/one", "/workspace/two");
  await first.close();

  const other = await startProcess(t, { storage: normal(path) });
  await other.run(async ({ workspace }) => {
    await workspace.fs.mkdir("/workspace/d");
    await workspace.fs.writeFile("/workspace/d/three", "3");
    await workspace.fs.rm("/workspace/two");
  });
  await other.end();

  const last = openAt(t, normal(path));
  const later = last.fs.watch("/workspace", { recursive: true, since: event.cursor });
  const missed = await take(later, 4);
  assert.deepEqual(missed.map(sentence), [
    "rename /workspace/one -> /workspace/two",
    "create /workspace/d",
    "create /workspace/d/three",
    "delete /workspace/two",
  ]);
  await last.fs.writeFile("/workspace/now", "");
  assert.deepEqual((await take(later, 1)).map(sentence), ["create /workspace/now"]);
  await later.return();

  const again = last.fs.watch("/workspace", { recursive: true, since: missed[1].cursor });
  assert.deepEqual((await take(again, 3)).map(sentence), [
    "create /workspace/d/three",
    "delete /workspace/two",
    "create /workspace/now",
  ]);
  await again.return();
  await last.close();
});

for (const together of [false, true]) {
  const how = together ? "in transactions" : "one by one";
  test(`a cursor that the log no longer reaches back to is ESTALE, after many changes ${how}`, async (t) => {
    const workspace = openAt(t, { path: join(folderFor(t), "stale.db"), durability: "off" });
    const { fs } = workspace;
    // Asked once at the beginning, and not again for long.
    const slow = fs.watch("/workspace");
    await fs.writeFile("/workspace/first", "");
    const [{ cursor: old }] = await take(slow, 1);

    const make = async (fs, from, to) => {
      for (let index = from; index < to; index++) await fs.chmod("/workspace/first", index % 0o777);
    };
    if (together) {
      for (let from = 0; from < 30_000; from += 10_000) {
        await workspace.transaction((tx) => make(tx, from, from + 10_000));
      }
    } else {
      await make(fs, 0, 30_000);
    }
    const recent = fs.watch("/workspace");
    await fs.writeFile("/workspace/last", "");
    const [{ cursor }] = await take(recent, 1);
    await recent.return();

    const stale = () => fs.watch("/workspace", { since: old }).next();
    await waitFor("the log is cut in the background", () =>
      stale().then(
        () => false,
        () => true,
      ),
    );
    assert.match((await rejection(stale(), "ESTALE")).message, /list the directory again/);
    await rejection(slow.next(), "ESTALE");
    const within = fs.watch("/workspace", { since: String(Number(cursor) - 20_000) });
    assert.equal((await take(within, 1)).length, 1, "the last 20,000 changes are kept");
    await within.return();
    await rejection(fs.watch("/workspace", { since: String(Number(cursor) + 1_000) }).next(), "EINVAL");
    await workspace.close();
  });
}

test("a watch of a directory shows what becomes of it and of those above it", async (t) => {
  const path = join(folderFor(t), "above.db");
  const workspace = openAt(t, normal(path));
  const other = await startProcess(t, { storage: normal(path) });
  await workspace.fs.mkdir("/a/b/c", { recursive: true });
  const watch = workspace.fs.watch("/a/b/c");
  const deep = workspace.fs.watch("/a", { recursive: true });
  await other.run(async ({ workspace: { fs } }) => {
    await fs.writeFile("/a/b/c/file", "1");
    await fs.mkdir("/a/b/c/d");
    await fs.writeFile("/a/b/c/d/deeper", "not for the first");
    await fs.appendFile("/a/b/c/file", "2");
    await fs.rename("/a/b/c/file", "/a/b/away");
    await fs.rename("/a/b/away", "/a/b/c/file");
    await fs.rename("/a/b", "/a/x");
    await fs.rename("/a/x", "/a/b");
    await fs.rm("/a", { recursive: true });
  });
  assert.deepEqual((await take(watch, 7)).map(sentence), [
    "create /a/b/c/file",
    "create /a/b/c/d",
    "change /a/b/c/file",
    "rename /a/b/c/file -> /a/b/away",
    "rename /a/b/away -> /a/b/c/file",
    "rename /a/b/c -> /a/x/c",
    "delete /a/b/c",
  ]);
  assert.deepEqual((await take(deep, 9)).map(sentence), [
    "create /a/b/c/file",
    "create /a/b/c/d",
    "create /a/b/c/d/deeper",
    "change /a/b/c/file",
    "rename /a/b/c/file -> /a/b/away",
    "rename /a/b/away -> /a/b/c/file",
    "rename /a/b -> /a/x",
    "rename /a/x -> /a/b",
    "delete /a",
  ]);
  await watch.return();
  await deep.return();
  await other.end();
  await workspace.close();
});

test("a watch ends with its signal, with its loop and with the workspace", async (t) => {
  const path = join(folderFor(t), "ends.db");
  const workspace = openAt(t, normal(path));
  const { fs } = workspace;

  const controller = new AbortController();
  const aborted = fs.watch("/workspace", { signal: controller.signal }).next();
  const reason = new Error("enough");
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(aborted, (error) => error === reason);
  await assert.rejects(
    fs.watch("/workspace", { signal: controller.signal }).next(),
    (error) => error === reason,
    "a signal that has fired before",
  );

  const left = fs.watch("/workspace");
  await fs.writeFile("/workspace/f", "");
  await fs.writeFile("/workspace/g", "");
  for await (const { path } of left) {
    assert.equal(path, "/workspace/f");
    break;
  }
  assert.deepEqual(await left.next(), { done: true, value: undefined });

  const waiting = fs.watch("/workspace").next();
  setTimeout(() => workspace.close(), 20);
  await rejection(waiting, "ECLOSED");
});

test("a stream goes on although another process deletes the file and compacts", async (t) => {
  const path = join(folderFor(t), "pinned.db");
  const workspace = openAt(t, normal(path));
  const other = await startProcess(t, { storage: normal(path) });
  const bytes = uniqueBytes("pinned", 8_000_000);
  await workspace.fs.writeFile("/workspace/f", bytes);
  const stored = async () => (await workspace.fs.statfs()).storedBytes;

  const streams = [await workspace.fs.readFile("/workspace/f"), await workspace.fs.readFile("/workspace/f")];
  const readers = streams.map((stream) => stream.getReader());
  const begun = await readers[0].read();
  const freed = await other.run(async ({ workspace }) => {
    await workspace.fs.rm("/workspace/f");
    await workspace.compact();
    await workspace.fs.writeFile("/workspace/other", "x".repeat(1_000_000));
    return workspace.compact();
  });
  assert.ok(freed.freedBytes < bytes.length);
  assert.equal((await stored()) >= bytes.length, true);

  const rest = [];
  for (let piece = begun; !piece.done; piece = await readers[0].read()) rest.push(piece.value);
  assert.ok(Buffer.concat(rest).equals(bytes));
  await readers[1].cancel();
  await waitFor("nobody holds the contents any more", async () => (await stored()) === 1_000_000);
  assert.deepEqual((await workspace.check()).problems, []);
  await other.end();
  await workspace.close();
});

test("what a killed process held, an open stream and an upload, is collected later", async (t) => {
  const path = join(folderFor(t), "left.db");
  const workspace = openAt(t, normal(path));
  await workspace.fs.writeFile("/workspace/f", uniqueBytes("left", 4_000_000));
  const stored = async () => (await workspace.fs.statfs()).storedBytes;

  const hold = async ({ workspace, state }) => {
    state.reader = (await workspace.fs.readFile("/workspace/f")).getReader();
    await state.reader.read();
    // An upload that has stored some chunks and never ends.
    await new Promise((stored) => {
      async function* source() {
        for (let index = 0; index < 30; index++) {
          yield crypto.getRandomValues(new Uint8Array(65_536));
        }
        stored();
        await new Promise(() => {});
      }
      workspace.fs.writeFile("/workspace/upload", source());
    });
  };
  for (const when of ["compact", "background"]) {
    const other = await startProcess(t, { storage: normal(path) });
    await other.run(hold);
    await workspace.fs.writeFile("/workspace/f", "short");
    await waitFor("chunks of the upload are stored", async () => (await stored()) >= 5_000_000);
    await workspace.compact();
    assert.ok((await stored()) >= 5_000_000, "a living process keeps what it holds");
    await other.kill();
    if (when === "compact") {
      await workspace.compact();
    } else {
      // Something to collect, so that the collector runs by itself.
      await workspace.fs.writeFile("/workspace/g", uniqueBytes("garbage", 100_000));
      await workspace.fs.rm("/workspace/g");
    }
    await waitFor(`it is collected (${when})`, async () => (await stored()) === "short".length);
    assert.deepEqual((await workspace.check()).problems, []);
    await workspace.fs.writeFile("/workspace/f", uniqueBytes("again", 4_000_000));
  }
  await workspace.close();
});
