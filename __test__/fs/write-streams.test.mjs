// Sources of writeFile and appendFile: read one piece at a time, let go of in every case, and
// without effect on the old file until all of it is there.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Workspace } from "carrel";
import { uniqueBytes } from "../support/chance.mjs";
import { SOURCES } from "../support/sources.mjs";
import { bytesOf, eventually, folderFor, open, rejection, STORAGES, treeOf } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

const piece = (size, id = size) => ({ piece: uniqueBytes(`piece ${id}`, size) });
const pieces = (count, size) => Array.from({ length: count }, (_, at) => piece(size, at));
const run = (work) => ({ run: work });
const bytesIn = (script) => Buffer.concat(script.flatMap((step) => ("piece" in step ? [step.piece] : [])));

/** A test of a kind of source, with a workspace in memory and with one in a file. */
function both(kind, name, body) {
  for (const storage of ["memory", "normal"]) {
    test(`${kind}: ${name} (${storage})`, (t) => body(open(t, storage), SOURCES[kind]));
  }
}

/** Begins a transaction, so that nothing can be stored until the function that is returned is called. */
async function holdWriter(workspace) {
  let release;
  let transaction;
  const end = new Promise((resolve) => {
    release = resolve;
  });
  await new Promise((begun) => {
    transaction = workspace.transaction(() => {
      begun();
      return end;
    });
  });
  return () => {
    release();
    return transaction;
  };
}

/** Writes, which must fail and leave everything as it is. Returns the reason. */
async function failure(workspace, write) {
  const state = async () => ({ tree: await treeOf(workspace.fs, "/"), stat: await workspace.fs.lstat("/f") });
  const before = await state();
  const reason = await write().then(
    () => assert.fail("it resolved"),
    (error) => error,
  );
  assert.deepEqual(await state(), before);
  return reason;
}

/** What was stored for writes that failed goes by itself; all that is left belongs to files. */
async function checkCollected(workspace) {
  const { fs } = workspace;
  const sizes = (await fs.ls("/")).map(async (path) => (await fs.stat(path)).size);
  const kept = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await eventually(async () => (await fs.statfs()).storedBytes === kept, "what was stored in vain is collected");
  assert.deepEqual((await workspace.check()).problems, []);
}

for (const kind of Object.keys(SOURCES)) {
  both(kind, "pieces of any size become the file", async ({ fs }, make) => {
    const sizes = [0, 1, 70_000, CHUNK_BYTES, 0, CHUNK_BYTES - 1, 3, 2 * CHUNK_BYTES + 5, 100];
    for (const script of [sizes.map(piece), [], [piece(0)], [piece(5)], [piece(CHUNK_BYTES)]]) {
      await fs.writeFile("/f", "old");
      await fs.writeFile("/f", make(script).source);
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytesIn(script)));
      const { source, log } = make(script);
      await fs.appendFile("/f", source);
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(Buffer.concat([bytesIn(script), bytesIn(script)])));
      // A source that has ended is not cancelled; a Node stream destroys itself.
      assert.deepEqual(log.letGo, kind === "Node stream" ? [null] : []);
    }
  });

  both(kind, "a slow source is waited for, and nobody else waits for it", async ({ fs }, make) => {
    await fs.writeFile("/f", "old");
    const script = Array.from({ length: 8 }, (_, at) => [
      run(async () => {
        await sleep(2);
        assert.equal(await fs.readFile("/f", "utf8"), "old");
        await fs.writeFile("/g", `${at}`);
      }),
      piece(150_000, at),
    ]).flat();
    await fs.writeFile("/f", make(script).source);
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytesIn(script)));
    assert.equal(await fs.readFile("/g", "utf8"), "7");
  });

  both(kind, "it is read no faster than its pieces are stored", async (workspace, make) => {
    const release = await holdWriter(workspace);
    const script = pieces(40, CHUNK_BYTES);
    const { source, log } = make(script);
    const write = workspace.fs.writeFile("/f", source);
    await eventually(() => log.asked > 2);
    await sleep(100);
    assert.ok(log.asked <= 10, `${log.asked} pieces were asked for`);
    await release();
    await write;
    assert.ok((await bytesOf(workspace.fs.readFile("/f"))).equals(bytesIn(script)));
  });

  both(kind, "what it fails with is what the write fails with", async (workspace, make) => {
    const { fs } = workspace;
    await fs.writeFile("/f", "old");
    // Whatever it is; a Node stream fails with errors only.
    const reasons = [new RangeError("source"), Object.freeze({}), "text", 0, null, undefined];
    for (const reason of kind === "Node stream" ? reasons.slice(0, 1) : reasons) {
      for (const before of [[], [piece(10)], [piece(CHUNK_BYTES), piece(3 * CHUNK_BYTES, 2), piece(1)]]) {
        for (const write of [
          (source) => fs.writeFile("/f", source),
          (source) => fs.appendFile("/f", source),
          (source) => fs.writeFile("/new", source, { exclusive: true }),
        ]) {
          const { source } = make([...before, { fail: reason }]);
          assert.equal(await failure(workspace, () => write(source)), reason);
          if (source.getReader) await eventually(() => !source.locked, "the lock is released");
        }
      }
    }
    await checkCollected(workspace);
  });

  // A byte stream refuses by itself what is no bytes.
  if (kind !== "byte stream") {
    both(kind, "what is no bytes is a TypeError, and the source is let go of", async (workspace, make) => {
      const { fs } = workspace;
      await fs.writeFile("/f", "old");
      const wrong = ["text", "", 5, true, {}, [1, 2], new Date(), Symbol("s"), new Map(), new Blob(["x"])];
      // To a Node stream these are its end, and nothing.
      if (kind !== "Node stream") wrong.push(null, undefined);
      for (const value of wrong) {
        for (const before of [[], [piece(2 * CHUNK_BYTES)]]) {
          const { source, log, isLetGo } = make([...before, { piece: value }, piece(5)]);
          const reason = await failure(workspace, () => fs.writeFile("/f", source));
          assert.ok(reason instanceof TypeError, reason?.stack);
          assert.equal(reason.code, "ERR_INVALID_ARG_TYPE");
          assert.match(reason.message, /must deliver bytes; it delivered/);
          await eventually(isLetGo, "the source is let go of");
          if (kind === "web stream") assert.equal(log.letGo[0], reason);
        }
      }
      await checkCollected(workspace);
    });
  }

  both(kind, "a signal stops it at every point", async (workspace, make) => {
    const { fs } = workspace;
    await fs.writeFile("/f", "old");
    const script = pieces(4, 300_000);
    const never = new Promise(() => {});
    const points = [];
    for (let at = 0; at <= script.length; at++) {
      for (const reason of [new RangeError("enough"), "text"]) {
        // While a piece is asked for, which comes, or never comes.
        points.push([at, reason, (abort) => run(abort)]);
        points.push([at, reason, (abort) => run(() => Promise.all([abort(), never])), "it hangs"]);
        // Soon after, somewhere between the pieces.
        points.push([at, reason, (abort) => run(() => void Promise.resolve().then(abort))]);
        points.push([at, reason, (abort) => run(() => void setImmediate(abort))]);
      }
    }
    for (const [at, reason, stop, isHanging] of points) {
      const controller = new AbortController();
      const steps = [...script.slice(0, at), stop(() => controller.abort(reason)), ...script.slice(at)];
      // The last piece comes late enough for each.
      steps.splice(
        -1,
        0,
        run(() => sleep(5)),
      );
      if (at === script.length) steps.push(run(() => sleep(5)));
      const { source, log, isLetGo } = make(steps);
      const { signal } = controller;
      assert.equal(await failure(workspace, () => fs.writeFile("/f", source, { signal })), reason);
      assert.deepEqual(getEventListeners(signal, "abort"), []);
      // A generator that hangs cannot be told anything.
      if (kind !== "async generator" || !isHanging) await eventually(isLetGo, `at ${at} the source is let go of`);
      if (kind.endsWith("stream") && kind !== "Node stream") assert.equal(log.letGo[0], reason);
    }
    await checkCollected(workspace);
  });

  both(kind, "a signal that fires when all is there stops nothing", async ({ fs }, make) => {
    const controller = new AbortController();
    const script = pieces(3, CHUNK_BYTES);
    const { source } = make(script);
    await fs.writeFile("/f", source, { signal: controller.signal });
    controller.abort();
    assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytesIn(script)));
  });

  both(kind, "with a signal that has fired it is not read, but let go of", async (workspace, make) => {
    const { fs } = workspace;
    await fs.writeFile("/f", "old");
    const reason = new Error("before");
    for (const method of ["writeFile", "appendFile"]) {
      const { source, log, isLetGo } = make([piece(5)]);
      const write = () => fs[method]("/f", source, { signal: AbortSignal.abort(reason) });
      assert.equal(await failure(workspace, write), reason);
      assert.equal(log.asked, 0);
      await eventually(isLetGo, "the source is let go of");
    }
  });

  both(kind, "a signal stops it while it waits for its pieces to be stored", async (workspace, make) => {
    const release = await holdWriter(workspace);
    const controller = new AbortController();
    const { source, log, isLetGo } = make(pieces(40, CHUNK_BYTES));
    const write = workspace.fs.writeFile("/f", source, { signal: controller.signal });
    await eventually(() => log.asked > 2);
    await sleep(50);
    controller.abort();
    await assert.rejects(write, { name: "AbortError" });
    await eventually(isLetGo, "the source is let go of");
    await release();
    assert.equal(await workspace.fs.exists("/f"), false);
    await checkCollected(workspace);
  });

  both(kind, "where it cannot go it is not read, but let go of", async (workspace, make) => {
    const { fs } = workspace;
    await fs.writeFile("/f", "old");
    await fs.mkdir("/d");
    for (const [path, options, code] of [
      ["/d", undefined, "EISDIR"],
      ["/f/x", undefined, "ENOTDIR"],
      ["/missing/x", undefined, "ENOENT"],
      ["/f", { exclusive: true }, "EEXIST"],
      ["relative", undefined, "EINVAL"],
      [`/${"n".repeat(300)}`, undefined, "ENAMETOOLONG"],
      ["/new", { mode: -1 }, "EINVAL"],
      ["/new", { unknown: true }, "EINVAL"],
    ]) {
      const { source, log, isLetGo } = make([piece(5)]);
      const error = await failure(workspace, () => fs.writeFile(path, source, options));
      assert.equal(error.code, code);
      assert.equal(log.asked, 0, code);
      await eventually(isLetGo, "the source is let go of");
    }
  });

  both(kind, "what happens to the target meanwhile counts at the end", async (workspace, make) => {
    const { fs } = workspace;
    const script = (happens) => [piece(CHUNK_BYTES + 1), run(happens), piece(10)];
    const write = (happens, options) => fs.writeFile("/d/f", make(script(happens)).source, options);
    const isWritten = async () => assert.ok((await bytesOf(fs.readFile("/d/f"))).equals(bytesIn(script())));

    await fs.mkdir("/d");
    await write(() => fs.writeFile("/d/f", "somebody else's"));
    await isWritten();
    await write(() => fs.rm("/d/f"));
    await isWritten();
    await write(() => fs.chmod("/d/f", 0o600));
    await isWritten();
    assert.equal((await fs.stat("/d/f")).mode, 0o600);
    await fs.appendFile("/d/f", make([piece(10), run(() => fs.writeFile("/d/f", "before ")), piece(5)]).source);
    assert.ok(
      (await bytesOf(fs.readFile("/d/f"))).equals(
        Buffer.concat([Buffer.from("before "), bytesIn([piece(10), piece(5)])]),
      ),
    );

    await rejection(
      write(() => fs.rename("/d", "/moved")),
      "ENOENT",
    );
    await fs.mkdir("/d");
    await rejection(
      write(() => fs.writeFile("/d/f", "first"), { exclusive: true }),
      "EEXIST",
    );
    assert.equal(await fs.readFile("/d/f", "utf8"), "first");
    await rejection(
      write(async () => {
        await fs.rm("/d/f");
        await fs.mkdir("/d/f");
      }),
      "EISDIR",
    );
    await fs.rm("/moved", { recursive: true });
    await checkCollected(workspace);
  });

  test(`${kind}: it is let go of when the workspace closes`, async (t) => {
    const folder = folderFor(t);
    const workspace = new Workspace({ storage: STORAGES.normal(folder) });
    let goOn;
    const closes = new Promise((resolve) => {
      goOn = resolve;
    });
    const { source, log, isLetGo } = make(kind, [
      ...pieces(3, CHUNK_BYTES),
      run(() => closes),
      piece(CHUNK_BYTES, 4),
      piece(10),
    ]);
    const write = workspace.fs.writeFile("/f", source);
    await eventually(() => log.asked === 4);
    const closing = workspace.close();
    goOn();
    await rejection(write, "ECLOSED");
    await closing;
    await eventually(isLetGo, "the source is let go of");

    const again = new Workspace({ storage: STORAGES.normal(folder) });
    assert.deepEqual(await again.fs.ls("/"), []);
    // The first change finds what was left.
    await again.fs.mkdir("/d");
    await checkCollected(again);
    await again.close();
  });
}

function make(kind, script) {
  return SOURCES[kind](script);
}

test("a stream that somebody else reads is refused and left alone", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/f", "old");
  const { source, log } = SOURCES["web stream"]([piece(5)]);
  const reader = source.getReader();
  for (const method of ["writeFile", "appendFile"]) {
    const reason = await failure(workspace, () => workspace.fs[method]("/f", source));
    assert.ok(reason instanceof TypeError);
  }
  assert.deepEqual([source.locked, log.asked, log.letGo], [true, 0, []]);
  assert.equal((await reader.read()).value.byteLength, 5);
});

test("a stream that has ended is empty, and one that has failed fails", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await fs.writeFile("/f", "old");
  const reason = new Error("long ago");
  const failed = new ReadableStream({ start: (controller) => controller.error(reason) });
  assert.equal(await failure(workspace, () => fs.writeFile("/f", failed)), reason);
  const ended = new Response("x").body;
  await bytesOf(ended);
  await fs.writeFile("/f", ended);
  assert.equal((await fs.stat("/f")).size, 0);
});

test("a source may hang when it is let go of", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await fs.writeFile("/f", "old");
  const never = new Promise(() => {});
  const hanging = {
    "a web stream": new ReadableStream({ pull: (controller) => controller.enqueue("text"), cancel: () => never }),
    "an iterator": {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: "text" }), return: () => never }),
    },
    "an iterator that fails to end": {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: "text" }),
        return() {
          throw new Error("cannot end");
        },
      }),
    },
    "an iterator without an end": {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: "text" }) }),
    },
  };
  for (const source of Object.values(hanging)) {
    const reason = await failure(workspace, () => fs.writeFile("/f", source));
    assert.equal(reason.code, "ERR_INVALID_ARG_TYPE");
  }
});

test("a producer may use one buffer again and again", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    const reuse = async function* () {
      const buffer = Buffer.alloc(100_000);
      for (let at = 0; at < 30; at++) yield buffer.fill(at);
    };
    await fs.writeFile("/f", reuse());
    const bytes = await bytesOf(fs.readFile("/f"));
    assert.equal(bytes.length, 3_000_000);
    for (let at = 0; at < 30; at++)
      assert.ok(bytes.subarray(at * 100_000, (at + 1) * 100_000).every((byte) => byte === at));
  }
});

test("many sources at the same time", async (t) => {
  const warnings = [];
  const note = (warning) => warnings.push(warning);
  process.on("warning", note);
  for (const storage of ["memory", "normal"]) {
    const workspace = open(t, storage);
    const { fs } = workspace;
    const kinds = Object.keys(SOURCES);
    const scripts = Array.from({ length: 60 }, (_, at) => [
      piece(at * 20_000, `a ${at}`),
      piece(CHUNK_BYTES, `b ${at}`),
    ]);
    await Promise.all(
      scripts.map((script, at) => fs.writeFile(`/${at}`, make(kinds[at % kinds.length], script).source)),
    );
    for (const [at, script] of scripts.entries()) {
      assert.ok((await bytesOf(fs.readFile(`/${at}`))).equals(bytesIn(script)), `${at}`);
    }
    assert.deepEqual((await workspace.check()).problems, []);
  }
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a source of endless small pieces, and one of a single large one", async (t) => {
  const { fs } = open(t, "normal");
  const whole = uniqueBytes("whole", 1_000_000);
  const small = async function* () {
    for (let at = 0; at < whole.length; at += 50) yield whole.subarray(at, at + 50);
  };
  await fs.writeFile("/small", small());
  assert.ok((await bytesOf(fs.readFile("/small"))).equals(whole));
  const large = uniqueBytes("large", 40 * CHUNK_BYTES + 1);
  await fs.writeFile("/large", SOURCES["async iterable"]([{ piece: large }]).source);
  assert.ok((await bytesOf(fs.readFile("/large"))).equals(large));
});
