// readFile: text, ranges, and what cannot be read. For its streams see streams.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { uniqueBytes } from "../support/chance.mjs";
import { bytesOf, open, rejection } from "../support/workspace.mjs";

const CHUNK_BYTES = 512 * 1024;

test("UTF-8 may be spelled in any case; without a name it is a stream", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "\u00e9");
  for (const name of ["utf8", "utf-8", "UTF8", "UTF-8", "Utf8", "uTf-8"]) {
    assert.equal(await fs.readFile("/f", name), "\u00e9");
    assert.equal(await fs.readFile("/f", { encoding: name }), "\u00e9");
  }
  for (const options of [undefined, null, {}, { encoding: null }, { encoding: undefined }, { byteOffset: 1 }]) {
    const stream = await fs.readFile("/f", options);
    assert.ok(stream instanceof ReadableStream);
    await stream.cancel();
  }
});

test("bytes that are no UTF-8 become U+FFFD; a byte order mark stays", async (t) => {
  const { fs } = open(t);
  const rows = [
    ["", ""],
    ["efbbbf", "\ufeff"],
    ["efbbbf61efbbbf", "\ufeffa\ufeff"],
    ["c3a9", "\u00e9"],
    ["f09f9880", "\u{1f600}"],
    ["80", "\ufffd"],
    ["61ff62", "a\ufffdb"],
    ["c3", "\ufffd"],
    ["c361", "\ufffda"],
    // The longest part that could have become a character is one U+FFFD, as the WHATWG has it.
    ["f09f98", "\ufffd"],
    ["f09f9861", "\ufffda"],
    ["eda080", "\ufffd\ufffd\ufffd"],
    ["c080", "\ufffd\ufffd"],
    ["f4908080", "\ufffd\ufffd\ufffd\ufffd"],
    ["fffe6100", "\ufffd\ufffda\0"],
  ];
  for (const [hex, text] of rows) {
    const bytes = Buffer.from(hex, "hex");
    await fs.writeFile("/f", bytes);
    assert.equal(await fs.readFile("/f", "utf8"), text, hex);
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), text, hex);
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytes), hex);
  }
});

for (const storage of ["memory", "normal"]) {
  test(`ranges (${storage})`, async (t) => {
    const { fs } = open(t, storage);
    for (const size of [0, 10, 70_000, CHUNK_BYTES, 2 * CHUNK_BYTES + 10]) {
      const bytes = uniqueBytes(size, size);
      await fs.writeFile("/f", bytes);
      const edges = [0, 1, 9, 10, 11, 69_999, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 9];
      const far = Number.MAX_SAFE_INTEGER;
      for (const byteOffset of [undefined, ...edges, far]) {
        for (const byteLength of [undefined, 0, 1, 100, CHUNK_BYTES, CHUNK_BYTES + 7, far]) {
          const start = byteOffset ?? 0;
          const expected = bytes.subarray(start, byteLength === undefined ? undefined : start + byteLength);
          const label = `${byteLength} bytes from ${byteOffset} of ${size}`;
          const range = { byteOffset, byteLength };
          assert.ok((await bytesOf(fs.readFile("/f", range))).equals(expected), label);
          const text = await fs.readFile("/f", { ...range, encoding: "utf8" });
          assert.equal(text, expected.toString("utf8"), label);
        }
      }
    }
  });
}

test("a range that cuts a character has U+FFFD in its place", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "a\u{1f600}b");
  assert.equal(await fs.readFile("/f", { encoding: "utf8", byteOffset: 1, byteLength: 4 }), "\u{1f600}");
  assert.equal(await fs.readFile("/f", { encoding: "utf8", byteLength: 3 }), "a\ufffd");
  assert.equal(await fs.readFile("/f", { encoding: "utf8", byteOffset: 3 }), "\ufffd\ufffdb");
});

test("characters across the ends of chunks are whole", async (t) => {
  const { fs } = open(t);
  const text = `${"x".repeat(CHUNK_BYTES - 2)}\u{1f600}${"\u00e9".repeat(CHUNK_BYTES)}`;
  await fs.writeFile("/f", text);
  assert.equal(await fs.readFile("/f", "utf8"), text);
});

test("what cannot be read", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/f", "x");
  await fs.symlink("d", "/to directory");
  await fs.symlink("missing", "/broken");
  await fs.symlink("b", "/a");
  await fs.symlink("a", "/b");
  await fs.symlink("f/", "/to file, by a slash");
  const rows = {
    "/d": "EISDIR",
    "/to directory": "EISDIR",
    "/missing": "ENOENT",
    "/missing/x": "ENOENT",
    "/broken": "ENOENT",
    "/f/x": "ENOTDIR",
    "/to file, by a slash": "ENOTDIR",
    "/a": "ELOOP",
    "/a/x": "ELOOP",
  };
  for (const [path, code] of Object.entries(rows)) {
    for (const options of [undefined, "utf8", { byteOffset: 1 }]) {
      const error = await rejection(fs.readFile(path, options), code);
      assert.equal(error.path, path);
      assert.equal(error.syscall, "open");
      assert.match(error.message, new RegExp(`, open '${path}'$`));
    }
  }
});

test("reading changes nothing", async (t) => {
  let clock = 1000;
  const { fs } = open(t, "memory", { now: () => clock++ });
  await fs.writeFile("/f", "x");
  const before = await fs.stat("/f");
  await fs.readFile("/f", "utf8");
  await bytesOf(fs.readFile("/f"));
  await fs.readdir("/");
  await fs.grep("x", "/");
  assert.deepEqual(await fs.stat("/f"), before);
  assert.equal(clock, 1001);
});

test("a file too long for a string says how to read it", async (t) => {
  const { fs } = open(t, "normal");
  await fs.writeFile("/f", "");
  await fs.truncate("/f", 2 ** 29);
  const error = await rejection(fs.readFile("/f", "utf8"), "EFBIG");
  assert.match(error.message, /stream|ranges/);
  assert.equal((await fs.readFile("/f", { encoding: "utf8", byteLength: 1000 })).length, 1000);
});
