// workspace.transaction: all or nothing, alone among writers, out of sight of readers.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Workspace } from "carrel";
import { inPieces, uniqueBytes } from "../support/chance.mjs";
import { bytesOf, folderFor, open, rejection, STORAGES, treeOf } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

/** A promise and what settles it. */
function deferred() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** One test for each way to store a workspace. */
function everywhere(name, body) {
  for (const storage of ["memory", "full", "normal", "off"]) {
    test(`${name} (${storage})`, (t) => body(open(t, storage), t));
  }
}

/** Every kind of change, one after the other. */
async function changeEverything(fs) {
  await fs.writeFile("/f", "changed");
  await fs.writeFile("/new", new Blob(["new"]));
  await fs.writeFile("/large", uniqueBytes("large", 2 * CHUNK_BYTES + 5));
  await fs.appendFile("/large", inPieces(uniqueBytes("tail", CHUNK_BYTES), 100_000));
  await fs.mkdir("/a/b", { recursive: true });
  await fs.symlink("../f", "/a/l");
  await fs.link("/new", "/a/again");
  await fs.chmod("/f", 0o600);
  await fs.utimes("/new", 1, 2);
  await fs.truncate("/old", 1);
  await fs.copyFile("/large", "/a/copy");
  await fs.cp("/a", "/e", { recursive: true });
  await fs.rename("/a/b", "/b");
  await fs.rm("/gone", { recursive: true });
}

async function makeOld(fs) {
  await fs.writeFile("/f", "f");
  await fs.writeFile("/old", "old");
  await fs.mkdir("/gone/deep", { recursive: true });
  await fs.writeFile("/gone/deep/x", uniqueBytes("gone", CHUNK_BYTES));
}

everywhere("all changes of a body become visible together", async (workspace) => {
  await makeOld(workspace.fs);
  const before = await treeOf(workspace.fs, "/");
  let inside;
  const result = await workspace.transaction(async (fs) => {
    assert.deepEqual(await treeOf(fs, "/"), before);
    await changeEverything(fs);
    inside = await treeOf(fs, "/");
    assert.deepEqual(await treeOf(workspace.fs, "/"), before);
    return { answer: 42 };
  });
  assert.deepEqual(result, { answer: 42 });
  assert.notDeepEqual(inside, before);
  assert.deepEqual(await treeOf(workspace.fs, "/"), inside);
  assert.deepEqual((await workspace.check()).problems, []);
});

everywhere("nothing of a body that fails remains", async (workspace) => {
  await makeOld(workspace.fs);
  const before = await treeOf(workspace.fs, "/");
  const usage = await workspace.fs.statfs();
  const bodies = {
    rejects: async (fs, reason) => {
      await changeEverything(fs);
      throw reason;
    },
    throws: (_, reason) => {
      throw reason;
    },
    "rejects after a refused call": async (fs, reason) => {
      await changeEverything(fs);
      await rejection(fs.rename("/missing", "/x"), "ENOENT");
      throw reason;
    },
  };
  for (const [name, body] of Object.entries(bodies)) {
    for (const reason of [new RangeError("no"), undefined, "text"]) {
      let caught = "nothing";
      await workspace
        .transaction((fs) => body(fs, reason))
        .catch((error) => {
          caught = error;
        });
      assert.equal(caught, reason, name);
      assert.deepEqual(await treeOf(workspace.fs, "/"), before, name);
    }
  }
  const refused = workspace.transaction(async (fs) => {
    await fs.writeFile("/x", "");
    await fs.mkdir("/x/y");
  });
  await rejection(refused, "ENOTDIR");
  assert.deepEqual(await treeOf(workspace.fs, "/"), before);
  await workspace.compact();
  const after = await workspace.fs.statfs();
  assert.deepEqual(
    [after.files, after.directories, after.bytes, after.storedBytes],
    [usage.files, usage.directories, usage.bytes, usage.storedBytes],
  );
  assert.deepEqual((await workspace.check()).problems, []);
});

everywhere("a refused call inside changes nothing, and the transaction goes on", async (workspace) => {
  await workspace.transaction(async (fs) => {
    await fs.writeFile("/f", "f");
    const before = await treeOf(fs, "/");
    await rejection(fs.writeFile("/f/x", ""), "ENOTDIR");
    await rejection(fs.rm("/workspace/missing"), "ENOENT");
    await rejection(fs.cp("/", "/x", { recursive: true }), "EINVAL");
    const failing = (async function* () {
      yield uniqueBytes("piece", CHUNK_BYTES + 1);
      throw new RangeError("source");
    })();
    await assert.rejects(fs.writeFile("/f", failing), RangeError);
    await assert.rejects(fs.writeFile("/f", 5), TypeError);
    assert.deepEqual(await treeOf(fs, "/"), before);
    await fs.writeFile("/g", "g");
  });
  assert.equal(await workspace.fs.readFile("/g", "utf8"), "g");
  assert.deepEqual((await workspace.check()).problems, []);
});

everywhere("readers see the state before, whatever they ask", async (workspace) => {
  const { fs } = workspace;
  await makeOld(fs);
  const contents = uniqueBytes("gone", CHUNK_BYTES);
  await workspace.transaction(async (inside) => {
    await changeEverything(inside);
    assert.equal(await fs.readFile("/f", "utf8"), "f");
    assert.ok((await bytesOf(fs.readFile("/gone/deep/x"))).equals(contents));
    assert.equal((await fs.stat("/f")).mode, 0o644);
    assert.equal(await fs.exists("/new"), false);
    assert.deepEqual(await fs.ls("/"), ["/f", "/gone/deep/x", "/old"]);
    assert.equal((await fs.find("/", "**/x")).length, 1);
    assert.equal((await fs.statfs()).files, 3);
    assert.equal((await fs.grep("changed", "/")).length, 0);
    assert.equal((await fs.readdir("/gone")).length, 1);
    assert.equal((await inside.grep("changed", "/f")).length, 1);
    assert.equal((await inside.find("/", "**/x")).length, 0);
  });
  assert.equal(await fs.readFile("/f", "utf8"), "changed");
});

everywhere("other writers wait for the end", async (workspace) => {
  const { fs } = workspace;
  await fs.writeFile("/f", "0");
  const order = [];
  const begun = deferred();
  const end = deferred();
  const transaction = workspace.transaction(async (inside) => {
    begun.resolve();
    await end.promise;
    await inside.writeFile("/f", `${await inside.readFile("/f", "utf8")} transaction`);
    order.push("transaction");
  });
  await begun.promise;
  const writers = [
    fs.appendFile("/f", " small").then(() => order.push("small")),
    fs.writeFile("/g", inPieces(uniqueBytes("g", 3 * CHUNK_BYTES), 90_000)).then(() => order.push("stream")),
    fs.mkdir("/d").then(() => order.push("mkdir")),
    workspace
      .transaction(async (inside) => assert.match(await inside.readFile("/f", "utf8"), /^0 transaction/))
      .then(() => order.push("second")),
  ];
  await sleep(30);
  assert.deepEqual(order, []);
  assert.equal(await fs.readFile("/f", "utf8"), "0");
  end.resolve();
  await Promise.all([transaction, ...writers]);
  assert.equal(order[0], "transaction");
  assert.equal(await fs.readFile("/f", "utf8"), "0 transaction small");
  assert.ok((await bytesOf(fs.readFile("/g"))).equals(uniqueBytes("g", 3 * CHUNK_BYTES)));
});

everywhere("no update is lost between transactions", async (workspace) => {
  await workspace.fs.writeFile("/count", "0");
  const increment = () =>
    workspace.transaction(async (fs) => {
      const count = Number(await fs.readFile("/count", "utf8"));
      await new Promise(setImmediate);
      await fs.writeFile("/count", String(count + 1));
    });
  await Promise.all(Array.from({ length: 40 }, increment));
  assert.equal(await workspace.fs.readFile("/count", "utf8"), "40");
});

everywhere("changes beside the transaction, in its body, are refused at once", async (workspace) => {
  const { fs } = workspace;
  await fs.writeFile("/f", "f");
  await workspace.transaction(async (inside) => {
    const refused = {
      writeFile: () => fs.writeFile("/f", "x"),
      "writeFile, streamed": () => fs.writeFile("/f", new Blob(["x"])),
      appendFile: () => fs.appendFile("/f", "x"),
      mkdir: () => fs.mkdir("/d"),
      rm: () => fs.rm("/f"),
      rename: () => fs.rename("/f", "/g"),
      symlink: () => fs.symlink("f", "/l"),
      link: () => fs.link("/f", "/g"),
      chmod: () => fs.chmod("/f", 0),
      utimes: () => fs.utimes("/f", 1, 1),
      truncate: () => fs.truncate("/f"),
      copyFile: () => fs.copyFile("/f", "/g"),
      cp: () => fs.cp("/f", "/g"),
      transaction: () => workspace.transaction(() => {}),
      compact: () => workspace.compact(),
      close: () => workspace.close(),
    };
    for (const call of Object.values(refused)) {
      const error = await rejection(call(), "EINVAL");
      assert.match(error.message, /transaction/);
    }
    // Also from what the body starts, as long as it is open.
    await new Promise((done) => setImmediate(done));
    await rejection(
      Promise.resolve().then(() => fs.writeFile("/f", "x")),
      "EINVAL",
    );
    await inside.writeFile("/g", "g");
  });
  assert.deepEqual(await fs.ls("/"), ["/f", "/g"]);
  assert.equal(await fs.readFile("/f", "utf8"), "f");
});

everywhere("what a body leaves behind may change things later", async (workspace) => {
  const end = deferred();
  let later;
  await workspace.transaction(() => {
    later = end.promise.then(() => workspace.fs.writeFile("/f", "later"));
  });
  end.resolve();
  await later;
  assert.equal(await workspace.fs.readFile("/f", "utf8"), "later");
});

everywhere("the fs of a transaction is over with it", async (workspace) => {
  for (const fails of [false, true]) {
    let kept;
    await workspace
      .transaction(async (fs) => {
        kept = fs;
        await fs.mkdir("/d", { recursive: true });
        if (fails) throw new Error("no");
      })
      .catch(() => {});
    const calls = {
      stat: () => kept.stat("/"),
      readFile: () => kept.readFile("/f"),
      readdir: () => kept.readdir("/"),
      find: () => kept.find("/"),
      grep: () => kept.grep("x", "/"),
      statfs: () => kept.statfs(),
      writeFile: () => kept.writeFile("/f", "x"),
      "writeFile, streamed": () => kept.writeFile("/f", new Blob(["x"])),
      mkdir: () => kept.mkdir("/e"),
      rm: () => kept.rm("/d", { recursive: true }),
      cp: () => kept.cp("/d", "/e", { recursive: true }),
    };
    for (const call of Object.values(calls)) await rejection(call(), "ECLOSED");
    assert.deepEqual(
      (await workspace.fs.readdir("/")).map(({ name }) => name),
      ["d", "workspace"],
    );
  }
});

everywhere("calls that a body does not wait for are part of it or refused, never half", async (workspace) => {
  const outcomes = [];
  await workspace.transaction((fs) => {
    for (let at = 0; at < 20; at++) {
      const write = fs.writeFile(`/${at}`, Buffer.alloc(at * 50_000, "x"));
      outcomes.push(
        write.then(
          () => at,
          (error) => {
            assert.equal(error.code, "ECLOSED");
          },
        ),
      );
    }
  });
  const done = (await Promise.all(outcomes)).filter((at) => at !== undefined);
  const there = await workspace.fs.ls("/");
  assert.deepEqual(there, done.map((at) => `/${at}`).sort());
  for (const path of there) assert.equal((await workspace.fs.stat(path)).size, Number(path.slice(1)) * 50_000);
  assert.deepEqual((await workspace.check()).problems, []);
});

everywhere("calls at the same time inside take their turns", async (workspace) => {
  await workspace.transaction(async (fs) => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        await fs.writeFile(`/${at}`, at % 3 ? `${at}` : new Blob([`${at}`]));
        assert.equal(await fs.readFile(`/${at}`, "utf8"), `${at}`);
        await fs.appendFile("/all", `${at}\n`);
      }),
    );
    assert.equal((await fs.readFile("/all", "utf8")).trim().split("\n").length, 50);
  });
  assert.equal((await workspace.fs.ls("/")).length, 51);
});

everywhere("streams inside: written, read, and read on after the end", async (workspace) => {
  const bytes = uniqueBytes("streamed", 5 * CHUNK_BYTES + 77);
  let stream;
  let old;
  await workspace.fs.writeFile("/old", bytes);
  await workspace.transaction(async (fs) => {
    await fs.writeFile("/f", inPieces(bytes, 123_456));
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytes));
    await fs.writeFile("/copy", await fs.readFile("/f"));
    assert.ok((await bytesOf(fs.readFile("/copy"))).equals(bytes));
    stream = await fs.readFile("/f");
    old = await fs.readFile("/old");
    await fs.writeFile("/f", "short");
    await fs.rm("/old");
  });
  assert.ok((await bytesOf(stream)).equals(bytes));
  assert.ok((await bytesOf(old)).equals(bytes));
  assert.equal(await workspace.fs.readFile("/f", "utf8"), "short");
  await workspace.compact();
  assert.deepEqual((await workspace.check()).problems, []);
});

everywhere("a stream from outside is read while a transaction changes the file", async (workspace) => {
  const { fs } = workspace;
  const bytes = uniqueBytes("outside", 4 * CHUNK_BYTES);
  await fs.writeFile("/f", bytes);
  const before = await fs.readFile("/f");
  await workspace.transaction(async (inside) => {
    await inside.writeFile("/f", "new");
    const during = await fs.readFile("/f");
    assert.ok((await bytesOf(before)).equals(bytes));
    assert.ok((await bytesOf(during)).equals(bytes));
  });
  assert.equal(await fs.readFile("/f", "utf8"), "new");
});

test("a transaction of one workspace may change another", async (t) => {
  const [one, other] = [open(t), open(t)];
  await one.transaction(async (fs) => {
    await fs.writeFile("/f", "one");
    await other.fs.writeFile("/f", "other");
    await other.transaction((inside) => inside.writeFile("/g", "other"));
  });
  assert.equal(await one.fs.readFile("/f", "utf8"), "one");
  assert.deepEqual(await other.fs.ls("/"), ["/f", "/g"]);
});

test("two workspaces on one file: one's transaction holds off the other's writers, not its readers", async (t) => {
  const folder = folderFor(t);
  const one = new Workspace({ storage: STORAGES.normal(folder) });
  const other = new Workspace({ storage: STORAGES.normal(folder) });
  await one.fs.writeFile("/f", "old");
  let write;
  await one.transaction(async (fs) => {
    await fs.writeFile("/f", "transaction");
    write = other.fs.appendFile("/f", " and after");
    await sleep(50);
    assert.equal(await other.fs.readFile("/f", "utf8"), "old");
  });
  await write;
  assert.equal(await one.fs.readFile("/f", "utf8"), "transaction and after");
  await one.close();
  await other.close();
});

test("the store of the caller's context goes through a body", async (t) => {
  const workspace = open(t);
  const context = new AsyncLocalStorage();
  await context.run("mine", () =>
    workspace.transaction(async (fs) => {
      assert.equal(context.getStore(), "mine");
      await fs.writeFile("/f", "");
      assert.equal(context.getStore(), "mine");
    }),
  );
});

test("closing waits for an open transaction, which goes on", async (t) => {
  for (const storage of ["memory", "normal"]) {
    for (const fails of [true, false]) {
      const folder = folderFor(t);
      const workspace = new Workspace({ storage: STORAGES[storage](folder) });
      const begun = deferred();
      const end = deferred();
      const events = [];
      const transaction = workspace.transaction(async (fs) => {
        await fs.writeFile("/f", "before close()");
        begun.resolve();
        await end.promise;
        await fs.writeFile("/g", inPieces(uniqueBytes("g", 2 * CHUNK_BYTES), 100_000));
        assert.deepEqual(await fs.ls("/"), ["/f", "/g"]);
        events.push("done");
        if (fails) throw new RangeError("no");
      });
      await begun.promise;
      const closing = workspace.close().then(() => events.push("closed"));
      await rejection(workspace.fs.stat("/"), "ECLOSED");
      await rejection(
        workspace.transaction(() => {}),
        "ECLOSED",
      );
      await sleep(20);
      assert.deepEqual(events, []);
      end.resolve();
      if (fails) await assert.rejects(transaction, RangeError);
      else await transaction;
      await closing;
      assert.deepEqual(events, ["done", "closed"]);
      if (storage === "memory") continue;

      const again = new Workspace({ storage: STORAGES.normal(folder) });
      assert.deepEqual(await again.fs.ls("/"), fails ? [] : ["/f", "/g"]);
      await again.close();
    }
  }
});

test("a read-only workspace has no transactions", async (t) => {
  const folder = folderFor(t);
  const storage = STORAGES.normal(folder);
  const writable = new Workspace({ storage });
  await writable.close();
  const workspace = new Workspace({ storage: { ...storage, readonly: true } });
  await rejection(
    workspace.transaction(() => {}),
    "EROFS",
  );
  await workspace.close();
});
