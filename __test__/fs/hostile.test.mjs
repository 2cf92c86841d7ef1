// What a program does that means no harm, and some that do: buffers that go away, loops that never
// wait, a close() at a bad moment.

import assert from "node:assert/strict";
import { createReadStream, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Workspace } from "carrel";

const folder = mkdtempSync(join(tmpdir(), "carrel-hostile-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const typeError = { name: "TypeError", code: "ERR_INVALID_ARG_TYPE" };
const never = () => new Promise(() => {});

for (const storage of [
  ":memory:",
  join(folder, "file.db"),
  { path: join(folder, "normal.db"), durability: "normal" },
]) {
  describe(typeof storage === "string" ? storage.replace(folder, "") : storage.durability, () => {
    async function opened(t) {
      const workspace = new Workspace({ storage });
      t.after(() => workspace.close());
      await workspace.fs.rm("/workspace", { recursive: true, force: true });
      await workspace.fs.mkdir("/workspace");
      return workspace;
    }

    test("a loop that awaits calls lets timers have their turn", async (t) => {
      const { fs } = await opened(t);
      await fs.writeFile("/workspace/small", "x");
      const calls = {
        stat: () => fs.stat("/workspace/small"),
        "readFile as text": () => fs.readFile("/workspace/small", "utf8"),
        "readFile as a stream": async () => new Response(await fs.readFile("/workspace/small")).text(),
        "readFile of a directory": () => fs.readFile("/workspace").catch(() => {}),
        writeFile: () => fs.writeFile("/workspace/small", "y"),
        "writeFile of what is no content": () => fs.writeFile("/workspace/small", 7).catch(() => {}),
        "watch, ended at once": () => fs.watch("/workspace").return(),
      };
      for (const [name, call] of Object.entries(calls)) {
        let hasFired = false;
        setTimeout(() => {
          hasFired = true;
        }, 10);
        const giveUp = performance.now() + 10_000;
        while (!hasFired && performance.now() < giveUp) await call();
        assert.ok(hasFired, name);
      }
    });

    test("bytes that are gone before they are written leave the old file", async (t) => {
      const { fs } = await opened(t);
      await fs.writeFile("/workspace/file", "old");

      const moved = new Uint8Array(5_000_000).fill(1);
      const writing = fs.writeFile("/workspace/file", moved);
      structuredClone(moved, { transfer: [moved.buffer] });
      await assert.rejects(writing, typeError);

      const shrinking = new ArrayBuffer(5_000_000, { maxByteLength: 5_000_000 });
      const resized = fs.writeFile("/workspace/file", new Uint8Array(shrinking));
      shrinking.resize(10);
      await assert.rejects(resized, typeError);

      for (const gone of [moved, moved.buffer, new Proxy(new Uint8Array(3), {}), Object.create(Uint8Array.prototype)]) {
        await assert.rejects(fs.writeFile("/workspace/file", gone), typeError);
      }
      const pieces = (async function* () {
        yield new Uint8Array(10);
        yield moved;
      })();
      await assert.rejects(fs.writeFile("/workspace/file", pieces), typeError);
      assert.equal(await fs.readFile("/workspace/file", "utf8"), "old");
    });

    test("a BYOB read that wants more than there is gets the rest", async (t) => {
      const { fs } = await opened(t);
      for (const size of [1000, 600_000]) {
        await fs.writeFile("/workspace/file", new Uint8Array(size).fill(1));
        const reader = (await fs.readFile("/workspace/file")).getReader({ mode: "byob" });
        const want = Math.ceil(size * 0.6);
        assert.equal((await reader.read(new Uint8Array(want), { min: want })).value.length, want);
        let rest = 0;
        for (;;) {
          const { value, done } = await reader.read(new Uint8Array(want), { min: want });
          rest += value?.length ?? 0;
          if (done) break;
        }
        assert.equal(rest, size - want);
      }
    });

    test("streams of Node are destroyed when the write is refused", async (t) => {
      const { fs } = await opened(t);
      const open = () => readdirSync("/proc/self/fd").length;
      const before = open();
      const streams = Array.from({ length: 50 }, () => createReadStream(process.execPath));
      await Promise.all(
        streams.map((stream, index) =>
          assert.rejects(
            fs.writeFile(["/no/x", "/workspace", 7, "relative"][index % 4], stream, index % 5 ? {} : { nope: 1 }),
          ),
        ),
      );
      for (const stream of streams) assert.ok(stream.destroyed);
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(open() < before + 25, `${open()} descriptors, ${before} before`);
    });

    test("a stream from a transaction that was rolled back says so", async (t) => {
      const workspace = await opened(t);
      let stream;
      const body = async (fs) => {
        await fs.writeFile("/workspace/file", new Uint8Array(2_000_000));
        stream = await fs.readFile("/workspace/file");
        throw new Error("no");
      };
      await assert.rejects(workspace.transaction(body), { message: "no" });
      await assert.rejects(new Response(stream).arrayBuffer(), { code: "ECLOSED" });
    });

    test("close() waits for content at hand and for transactions, not for sources", async (t) => {
      const workspace = await opened(t);
      const { fs } = workspace;
      const bytes = fs.writeFile("/workspace/bytes", new Uint8Array(3_000_000));
      const blob = fs.appendFile("/workspace/blob", new Blob([new Uint8Array(3_000_000)]));
      const text = fs.writeFile("/workspace/text", "x".repeat(3_000_000));
      const transaction = workspace.transaction(async (inside) => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await inside.writeFile("/workspace/inside", new Uint8Array(1_000_000));
        return "done";
      });
      let isCancelled = false;
      const source = new ReadableStream({
        pull: never,
        cancel() {
          isCancelled = true;
        },
      });
      const stuck = assert.rejects(fs.writeFile("/workspace/stuck", source), { code: "ECLOSED" });
      const filtered = assert.rejects(fs.cp("/workspace", "/copy", { recursive: true, filter: never }), {
        code: "ECLOSED",
      });

      await workspace.close();
      await Promise.all([bytes, blob, text, stuck, filtered]);
      assert.equal(await transaction, "done");
      assert.ok(isCancelled);
      await assert.rejects(fs.stat("/workspace"), { code: "ECLOSED" });
      if (storage === ":memory:") return;

      const again = new Workspace({ storage });
      t.after(() => again.close());
      const sizes = await Promise.all(
        ["bytes", "blob", "text", "inside"].map(async (name) => (await again.fs.stat(`/workspace/${name}`)).size),
      );
      assert.deepEqual(sizes, [3_000_000, 3_000_000, 3_000_000, 1_000_000]);
      assert.equal(await again.fs.exists("/workspace/stuck"), false);
      assert.deepEqual((await again.check()).problems, []);
    });

    test("what an options object inherits is nobody's option", async (t) => {
      const { fs } = await opened(t);
      Object.prototype.extra = 1;
      try {
        await fs.mkdir("/workspace/a/b", { recursive: true });
      } finally {
        delete Object.prototype.extra;
      }
      await assert.rejects(fs.mkdir("/workspace/c", { extra: 1 }), { code: "EINVAL" });
    });
  });
}

test("a clock that tells no time", async (t) => {
  for (const [now, error] of [
    [() => "1", typeError],
    [() => undefined, typeError],
    [async () => 1, typeError],
    [() => Number.NaN, { code: "EINVAL" }],
  ]) {
    const workspace = new Workspace({ storage: ":memory:", now });
    t.after(() => workspace.close());
    await assert.rejects(workspace.fs.writeFile("/workspace/file", "x"), error);
    await assert.rejects(workspace.fs.writeFile("/workspace/file", new Uint8Array(1_000_000)), error);
    assert.equal(await workspace.fs.exists("/workspace/file"), false);
  }
});
