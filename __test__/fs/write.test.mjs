// writeFile, appendFile and truncate.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { inPieces, uniqueBytes } from "../support/chance.mjs";
import { bytesOf, open, rejection, treeOf } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

/** The same bytes in every form that content may have. */
const FORMS = {
  Uint8Array: (bytes) => new Uint8Array(bytes),
  Buffer: (bytes) => Buffer.from(bytes),
  "a part of an ArrayBuffer": (bytes) => {
    const wider = new Uint8Array(bytes.length + 5).fill(1);
    wider.set(bytes, 2);
    return wider.subarray(2, -3);
  },
  ArrayBuffer: (bytes) => new Uint8Array(bytes).buffer,
  SharedArrayBuffer: (bytes) => {
    const shared = new SharedArrayBuffer(bytes.length);
    new Uint8Array(shared).set(bytes);
    return shared;
  },
  Int8Array: (bytes) => new Int8Array(new Uint8Array(bytes).buffer),
  Uint16Array: (bytes) => new Uint16Array(new Uint8Array(bytes).buffer),
  Float64Array: (bytes) => new Float64Array(new Uint8Array(bytes).buffer),
  DataView: (bytes) => {
    const wider = new Uint8Array(bytes.length + 16);
    wider.set(bytes, 7);
    return new DataView(wider.buffer, 7, bytes.length);
  },
  Blob: (bytes) => new Blob([bytes.subarray(0, 3), bytes.subarray(3)]),
  "web stream": (bytes) => ReadableStream.from(inPieces(bytes, 1000)),
  "byte stream": (bytes) => new Blob([bytes]).stream(),
  "Response body": (bytes) => new Response(bytes).body ?? ReadableStream.from([]),
  "Node Readable": (bytes) => Readable.from(inPieces(bytes, 70_000), { objectMode: false }),
  "async iterable": (bytes) => inPieces(bytes, 3333),
  "async iterable of buffers": async function* (bytes) {
    for await (const piece of inPieces(bytes, 9000)) yield new Uint8Array(piece).buffer;
  },
  "async iterable of views": async function* (bytes) {
    yield new DataView(new ArrayBuffer(0));
    for await (const piece of inPieces(bytes, 800)) yield new DataView(new Uint8Array(piece).buffer);
    yield new Uint8Array(0);
  },
};

for (const storage of ["memory", "normal"]) {
  test(`content of every form and size is what is read back (${storage})`, async (t) => {
    const { fs } = open(t, storage);
    for (const [form, make] of Object.entries(FORMS)) {
      for (const size of [0, 8, 2048, 65_536, 65_544, CHUNK_BYTES, CHUNK_BYTES + 8, 3 * CHUNK_BYTES + 800]) {
        const bytes = uniqueBytes(`${form} ${size}`, size);
        assert.equal(await fs.writeFile("/f", make(bytes)), undefined);
        assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytes), `${form} of ${size} bytes`);
        assert.equal((await fs.stat("/f")).size, size);
        assert.equal(await fs.appendFile("/f", make(bytes)), undefined);
        const twice = Buffer.concat([bytes, bytes]);
        assert.ok((await bytesOf(fs.readFile("/f"))).equals(twice), `${form} of ${size} bytes, appended`);
      }
    }
  });
}

test("text is stored as UTF-8", async (t) => {
  const { fs } = open(t);
  const rows = [
    ["", ""],
    ["plain", "706c61696e"],
    ["\ufeffx", "efbbbf78"],
    ["\u00e9\u{1f600}\0\n", "c3a9f09f9880000a"],
    // What is no character becomes U+FFFD, as `TextEncoder` has it.
    ["\ud800x", "efbfbd78"],
    ["x\udc00", "78efbfbd"],
    ["\ufffd", "efbfbd"],
  ];
  for (const [text, hex] of rows) {
    await fs.writeFile("/f", text);
    assert.equal((await bytesOf(fs.readFile("/f"))).toString("hex"), hex);
    await fs.appendFile("/f", text);
    assert.equal((await bytesOf(fs.readFile("/f"))).toString("hex"), hex + hex);
  }
});

test("long text is stored as UTF-8 wherever it is cut", async (t) => {
  const { fs } = open(t);
  // Characters of four bytes and two units, shifted so that cuts would fall into them.
  for (const shift of ["", "x", "xy", "\u00e9"]) {
    const text = shift + "\u{1f600}\u00e9z".repeat(200_000);
    await fs.writeFile("/f", text);
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(Buffer.from(text)), JSON.stringify(shift));
    assert.equal(await fs.readFile("/f", "utf8"), text);
  }
  await fs.writeFile("/f", `\ud800${"x".repeat(2 ** 20)}\udc00`);
  assert.equal((await fs.stat("/f")).size, 3 + 2 ** 20 + 3);
});

test("bytes are taken in the call: what happens to them later does not matter", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    for (const size of [100, 65_536, 100_000, CHUNK_BYTES]) {
      const bytes = uniqueBytes("taken", size);
      const written = Buffer.from(bytes);
      const done = fs.writeFile("/f", written);
      written.fill(0);
      await done;
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytes), `${storage} ${size}`);
    }
  }
});

test("modes", async (t) => {
  const { fs } = open(t);
  const modeOf = async (path) => (await fs.stat(path)).mode;
  for (const [path, content] of [
    ["/small", "x"],
    ["/streamed", new Blob(["x"])],
    ["/large", Buffer.alloc(CHUNK_BYTES + 1)],
  ]) {
    await fs.writeFile(path, content);
    assert.equal(await modeOf(path), 0o644, "of a new file");
    await fs.chmod(path, 0o751);
    await fs.writeFile(path, content);
    assert.equal(await modeOf(path), 0o751, "kept");
    await fs.appendFile(path, content, { mode: 0o600 });
    assert.equal(await modeOf(path), 0o751, "kept by appendFile whatever it is given");
    await fs.writeFile(path, content, { mode: 0o600 });
    assert.equal(await modeOf(path), 0o600, "given");
    await fs.rm(path);
    await fs.writeFile(path, content, { mode: 0o4000 });
    assert.equal(await modeOf(path), 0o4000, "of a new file, given");
    await fs.rm(path);
    await fs.appendFile(path, content, { mode: 0 });
    assert.equal(await modeOf(path), 0, "of a new file, given to appendFile");
  }
});

test("exclusive writes only where nothing is", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "old");
  await fs.mkdir("/d");
  await fs.symlink("f", "/l");
  await fs.symlink("missing", "/broken");
  const before = await treeOf(fs, "/");
  for (const path of ["/f", "/d", "/l", "/broken", "/"]) {
    for (const content of ["new", new Blob(["new"]), Buffer.alloc(CHUNK_BYTES + 1)]) {
      const error = await rejection(fs.writeFile(path, content, { exclusive: true }), "EEXIST");
      assert.equal(error.path, path);
      assert.equal(error.syscall, "open");
    }
  }
  assert.deepEqual(await treeOf(fs, "/"), before);
  await fs.writeFile("/new", "x", { exclusive: true });
  await fs.writeFile("/new 2", new Blob(["x"]), { exclusive: true });
  assert.deepEqual(await fs.ls("/new"), ["/new"]);
  assert.equal(await fs.readFile("/new 2", "utf8"), "x");
});

test("of exclusive writers at the same time one succeeds", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    const contents = Array.from({ length: 20 }, (_, at) => `writer ${at}`);
    const results = await Promise.allSettled(
      contents.map((text, at) => fs.writeFile("/f", at % 2 ? text : new Blob([text]), { exclusive: true })),
    );
    const won = results.flatMap(({ status }, at) => (status === "fulfilled" ? [contents[at]] : []));
    assert.equal(won.length, 1);
    assert.equal(await fs.readFile("/f", "utf8"), won[0]);
    for (const { reason } of results) if (reason) assert.equal(reason.code, "EEXIST");
  }
});

test("a file that is written keeps its inode and its other names", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "old");
  await fs.link("/f", "/g");
  const { inode, birthtime } = await fs.stat("/f");
  for (const content of ["new", new Blob(["newer"]), Buffer.alloc(2 * CHUNK_BYTES, "x"), ""]) {
    await fs.writeFile("/f", content);
    const stat = await fs.stat("/g");
    assert.deepEqual([stat.inode, stat.birthtime, stat.nlink], [inode, birthtime, 2]);
    assert.ok((await bytesOf(fs.readFile("/g"))).equals(await bytesOf(fs.readFile("/f"))));
  }
});

test("where a write goes", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "f");
  await fs.symlink("f", "/to file");
  await fs.symlink("../new", "/d/to nothing");
  await fs.symlink("d/to nothing", "/to link to nothing");
  await fs.symlink("missing/new", "/to missing directory");
  await fs.symlink("d", "/to directory");
  await fs.symlink("d/", "/to directory, by a slash");
  await fs.symlink("new directory/", "/to new directory");
  await fs.symlink("loop", "/loop");
  const rows = [
    // asked for, code or the path that has the content then
    ["/d", "EISDIR"],
    ["/to directory", "EISDIR"],
    ["/to directory, by a slash", "EISDIR"],
    ["/to new directory", "EISDIR"],
    ["/f/x", "ENOTDIR"],
    ["/to file/x", "ENOTDIR"],
    ["/missing/x", "ENOENT"],
    ["/to missing directory", "ENOENT"],
    ["/loop", "ELOOP"],
    ["/loop/x", "ELOOP"],
    ["/f", "/f"],
    ["/f/", "/f"],
    ["/missing/../f", "/f"],
    ["/to file", "/f"],
    ["/d/to nothing", "/new"],
    ["/to link to nothing", "/new"],
    ["/to directory/g", "/d/g"],
  ];
  for (const [path, result] of rows) {
    for (const method of ["writeFile", "appendFile"]) {
      for (const content of [() => `${method} ${path}`, () => new Blob([`${method} ${path}`])]) {
        if (result.startsWith("/")) {
          await fs.rm(result, { force: true });
          await fs[method](path, content());
          assert.equal(await fs.readFile(result, "utf8"), `${method} ${path}`);
        } else {
          const before = await treeOf(fs, "/");
          const error = await rejection(fs[method](path, content()), result);
          assert.equal(error.syscall, "open");
          assert.equal(error.path, path);
          assert.deepEqual(await treeOf(fs, "/"), before);
        }
      }
    }
  }
});

for (const storage of ["memory", "normal"]) {
  test(`readers see the old file or the new one, never a mixture (${storage})`, async (t) => {
    const { fs } = open(t, storage);
    for (const size of [5, 4096, 100_000, CHUNK_BYTES + 100_000]) {
      const versions = [uniqueBytes("one", size), uniqueBytes("two", size - 3), uniqueBytes("three", size + 1)];
      const known = new Set(versions.map((bytes) => bytes.toString("latin1")));
      await fs.writeFile("/f", versions[0]);
      let isWriting = true;
      const write = async () => {
        for (let round = 0; round < 12; round++) {
          const bytes = versions[round % 3];
          await fs.writeFile("/f", round % 2 ? bytes : inPieces(bytes, 50_000));
        }
        isWriting = false;
      };
      let reads = 0;
      const read = async () => {
        while (isWriting) {
          const bytes = await bytesOf(fs.readFile("/f"));
          assert.ok(known.has(bytes.toString("latin1")), `a mixture of ${bytes.length} bytes`);
          reads += 1;
          await new Promise(setImmediate);
        }
      };
      await Promise.all([write(), read(), read()]);
      assert.ok(reads > 0);
    }
  });
}

test("appends across the ends of chunks are the concatenation", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    const whole = uniqueBytes("appended", 4 * CHUNK_BYTES);
    let at = 0;
    for (const size of [0, 1, CHUNK_BYTES - 2, 1, 0, 1, 1, CHUNK_BYTES - 2, 300_000, 0, 224_288, 7, 400_000]) {
      const piece = whole.subarray(at, at + size);
      await fs.appendFile("/f", size % 2 ? piece : inPieces(piece, 90_000));
      at += size;
      assert.equal((await fs.stat("/f")).size, at);
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(whole.subarray(0, at)), `${storage}, ${at} bytes`);
    }
  }
});

test("appends at the same time are all there, each in one piece", async (t) => {
  for (const storage of ["memory", "normal"]) {
    const { fs } = open(t, storage);
    const lines = Array.from({ length: 200 }, (_, at) => `${"ab"[at % 2].repeat(at)} ${at}\n`);
    await Promise.all(lines.map((line, at) => fs.appendFile("/f", at % 5 ? line : new Blob([line]))));
    const found = (await fs.readFile("/f", "utf8")).split(/(?<=\n)/);
    assert.deepEqual(found.sort(), lines.sort());
  }
});

test("truncate cuts, and fills up with zeros", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  const sizes = [0, 1, 2048, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 5 * CHUNK_BYTES + 5];
  for (const from of sizes) {
    const bytes = uniqueBytes("truncated", from);
    for (const to of sizes) {
      await fs.writeFile("/f", bytes);
      await fs.copyFile("/f", "/copy");
      await fs.truncate("/f", to);
      const expected = Buffer.concat([bytes.subarray(0, to), Buffer.alloc(Math.max(0, to - from))]);
      assert.ok((await bytesOf(fs.readFile("/f"))).equals(expected), `${from} to ${to}`);
      assert.ok((await bytesOf(fs.readFile("/copy"))).equals(bytes), `the copy, ${from} to ${to}`);
    }
  }
  await fs.truncate("/f");
  assert.equal((await fs.stat("/f")).size, 0);
  await fs.rm("/copy");
  assert.equal((await fs.statfs()).bytes, 0);
  assert.deepEqual((await workspace.check()).problems, []);
});

test("a long file of zeros takes the place of one chunk, and 1 TiB is the end", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "");
  const size = 2 ** 31;
  await fs.truncate("/f", size);
  assert.equal((await fs.stat("/f")).size, size);
  const usage = await fs.statfs();
  assert.equal(usage.bytes, size);
  assert.ok(usage.storedBytes <= CHUNK_BYTES);
  const tail = await bytesOf(fs.readFile("/f", { byteOffset: size - 3 }));
  assert.deepEqual([...tail], [0, 0, 0]);
  await fs.appendFile("/f", "end");
  assert.equal(await fs.readFile("/f", { encoding: "utf8", byteOffset: size }), "end");
  const error = await rejection(fs.truncate("/f", 2 ** 40 + 1), "EFBIG");
  assert.equal(error.path, "/f");
  assert.equal((await fs.stat("/f")).size, size + 3);
});
