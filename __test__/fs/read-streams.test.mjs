// The streams of readFile: byte streams that go at the consumer's pace and show the file as it was.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Workspace } from "carrel";
import { chance, hashOf, inPieces, uniqueBytes } from "../support/chance.mjs";
import { collectGarbage } from "../support/garbage.mjs";
import { bytesOf, eventually, folderFor, open, rejection, STORAGES } from "../support/workspace.mjs";

const KIB = 1024;
const CHUNK_BYTES = 512 * KIB;

/** Sizes around all that is treated in another way. */
const SIZES = [0, 1, 2 * KIB, 64 * KIB, 64 * KIB + 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES + 300_001];

/** One test for a workspace in memory and one for a workspace in a file. */
function both(name, body) {
  for (const storage of ["memory", "normal"]) test(`${name} (${storage})`, (t) => body(open(t, storage), t));
}

both("pieces are large, at most a chunk, and the consumer's own", async (workspace) => {
  const { fs } = workspace;
  const check = async (bytes) => {
    const pieces = [];
    for await (const piece of await fs.readFile("/f")) pieces.push(piece);
    assert.ok(Buffer.concat(pieces).equals(bytes), `${bytes.length}`);
    for (const [at, piece] of pieces.entries()) {
      assert.ok(piece instanceof Uint8Array && !Buffer.isBuffer(piece));
      assert.ok(piece.byteLength > 0 && piece.byteLength <= CHUNK_BYTES, `${piece.byteLength} of ${bytes.length}`);
      if (at < pieces.length - 1) assert.ok(piece.byteLength >= 64 * KIB, `${piece.byteLength} of ${bytes.length}`);
      // A buffer shared with anything else could not be handed on.
      assert.equal(piece.buffer.byteLength, piece.byteLength);
      structuredClone(piece, { transfer: [piece.buffer] });
    }
  };
  for (const size of SIZES) {
    const bytes = uniqueBytes(size, size);
    await fs.writeFile("/f", bytes);
    await check(bytes);
    await check(bytes);
    // Also while nothing can be written, so that what is read cannot be pinned.
    await workspace.transaction(() => check(bytes));
  }
});

both("changing a piece changes nothing else", async ({ fs }) => {
  for (const size of SIZES.slice(1)) {
    const bytes = uniqueBytes(size, size);
    await fs.writeFile("/f", bytes);
    await fs.copyFile("/f", "/copy");
    const other = await fs.readFile("/f");
    for (let round = 0; round < 2; round++) {
      for await (const piece of await fs.readFile("/f")) piece.fill(0x55);
    }
    assert.ok((await bytesOf(fs.readFile("/f"))).equals(bytes));
    assert.ok((await bytesOf(fs.readFile("/copy"))).equals(bytes));
    assert.ok((await bytesOf(other)).equals(bytes));
    assert.equal(await fs.readFile("/f", "utf8"), bytes.toString());
  }
});

both("BYOB readers get the bytes in views of any size and type", async ({ fs }) => {
  const dice = chance("views");
  for (const size of SIZES) {
    const bytes = uniqueBytes(size, size);
    await fs.writeFile("/f", bytes);
    for (const lengths of [[100_003], [CHUNK_BYTES], [3 * CHUNK_BYTES], [1, 64, 4096, 700_000], [777]]) {
      // Few bytes at a time of a long file tell no more.
      const expected = lengths[0] < 1000 ? bytes.subarray(0, 200_000) : bytes;
      const reader = (await fs.readFile("/f", { byteLength: expected.length })).getReader({ mode: "byob" });
      const pieces = [];
      for (;;) {
        const length = dice.pick(lengths);
        const offset = dice.below(3);
        const { done, value } = await reader.read(new Uint8Array(new ArrayBuffer(length + 5), offset, length));
        assert.ok(value instanceof Uint8Array);
        assert.equal(value.byteOffset, offset);
        if (done) {
          assert.equal(value.byteLength, 0);
          break;
        }
        assert.ok(value.byteLength > 0 && value.byteLength <= length);
        pieces.push(value.slice());
      }
      assert.ok(Buffer.concat(pieces).equals(expected), `${size} in ${lengths}`);
      assert.equal((await reader.read(new Uint8Array(8))).done, true);
      await reader.closed;
    }
  }
  const reader = (await fs.readFile("/f", { byteLength: 600_000 })).getReader({ mode: "byob" });
  const { value } = await reader.read(new DataView(new ArrayBuffer(10), 2, 4));
  assert.ok(value instanceof DataView);
  const words = await reader.read(new Uint32Array(4));
  assert.ok(words.value instanceof Uint32Array);
  await reader.cancel();
});

both("readers of both kinds may take turns", async ({ fs }) => {
  const bytes = uniqueBytes("turns", 3 * CHUNK_BYTES);
  await fs.writeFile("/f", bytes);
  const stream = await fs.readFile("/f");
  const pieces = [];
  for (let turn = 0, done = false; !done; turn++) {
    const reader = stream.getReader(turn % 2 ? { mode: "byob" } : {});
    const result = await reader.read(...(turn % 2 ? [new Uint8Array(40_000)] : []));
    done = result.done;
    if (result.value) pieces.push(result.value.slice());
    reader.releaseLock();
  }
  assert.ok(Buffer.concat(pieces).equals(bytes));
});

both("nothing is read before it is asked for, and little ahead of it", async ({ fs }) => {
  await fs.writeFile("/f", inPieces(uniqueBytes("ahead", 32 * 1024 * KIB), 1024 * KIB));
  await collectGarbage();
  const held = () => process.memoryUsage().arrayBuffers;
  const before = held();
  const stream = await fs.readFile("/f");
  await sleep(50);
  await collectGarbage();
  assert.ok(held() - before < CHUNK_BYTES, `${held() - before} bytes before the first read`);
  const reader = stream.getReader();
  let { value } = await reader.read();
  await sleep(100);
  value = undefined;
  await collectGarbage();
  assert.ok(held() - before < 3 * CHUNK_BYTES, `${held() - before} bytes after the first read`);
  // The slow consumer still gets all of it.
  let length = CHUNK_BYTES;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length % (8 * 1024 * KIB) === 0) await sleep(5);
  }
  assert.equal(length, 32 * 1024 * KIB);
  assert.equal(value, undefined);
});

both("web and Node consumers", async ({ fs }) => {
  for (const size of [0, 100, 70_000, 3 * CHUNK_BYTES + 17]) {
    const text = "\u00e9 text \u{1f600}\n".repeat(Math.ceil(size / 14)).slice(0, size);
    const bytes = Buffer.from(text);
    await fs.writeFile("/f", text);
    const read = () => fs.readFile("/f");
    const sink = () => {
      const pieces = [];
      return { pieces, writable: new WritableStream({ write: (piece) => void pieces.push(piece.slice()) }) };
    };
    const consumers = {
      "Response bytes": async () => Buffer.from(await new Response(await read()).arrayBuffer()),
      "Response text": async () => Buffer.from(await new Response(await read()).text()),
      "Response blob": async () => Buffer.from(await (await new Response(await read()).blob()).arrayBuffer()),
      pipeTo: async () => {
        const { pieces, writable } = sink();
        await (await read()).pipeTo(writable);
        return Buffer.concat(pieces);
      },
      tee: async () => {
        const [left, right] = (await read()).tee();
        const [first, second] = await Promise.all([bytesOf(left), bytesOf(right)]);
        assert.ok(first.equals(second));
        return first;
      },
      TextDecoderStream: async () => {
        let decoded = "";
        for await (const part of (await read()).pipeThrough(new TextDecoderStream())) decoded += part;
        return Buffer.from(decoded);
      },
      compression: async () =>
        bytesOf((await read()).pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))),
      "Readable.fromWeb": async () => Buffer.concat(await Readable.fromWeb(await read()).toArray()),
      pipeline: async () => {
        const pieces = [];
        const write = (piece, _, done) => {
          pieces.push(Buffer.from(piece));
          setImmediate(done);
        };
        await pipeline(Readable.fromWeb(await read()), new Writable({ write, highWaterMark: 1 }));
        return Buffer.concat(pieces);
      },
      "another file": async () => {
        await fs.writeFile("/g", await read());
        return bytesOf(fs.readFile("/g"));
      },
      "the same file": async () => {
        await fs.writeFile("/f", await read());
        return bytesOf(read());
      },
      "a part of the file": async () => {
        await fs.appendFile("/f", await read());
        const twice = await bytesOf(read());
        assert.ok(twice.equals(Buffer.concat([bytes, bytes])));
        await fs.truncate("/f", bytes.length);
        return bytesOf(read());
      },
    };
    for (const [name, consume] of Object.entries(consumers)) {
      assert.ok((await consume()).equals(bytes), `${name}, ${size}`);
    }
  }
});

/** What may happen to a file while it is read. */
const EVENTS = {
  overwritten: (fs, path) => fs.writeFile(path, "new"),
  "overwritten at the same length": async (fs, path) => fs.writeFile(path, Buffer.alloc((await fs.stat(path)).size, 7)),
  "overwritten by a stream": (fs, path) => fs.writeFile(path, inPieces(uniqueBytes("new", 3 * CHUNK_BYTES), 100_000)),
  "appended to": async (fs, path) => {
    await fs.appendFile(path, "tail");
    await fs.appendFile(path, uniqueBytes("tail", CHUNK_BYTES));
  },
  emptied: (fs, path) => fs.truncate(path),
  shortened: (fs, path) => fs.truncate(path, 100),
  "shortened and filled up": async (fs, path) => {
    const { size } = await fs.stat(path);
    await fs.truncate(path, 100);
    await fs.truncate(path, size);
  },
  removed: (fs, path) => fs.rm(path),
  "removed with its directory": (fs) => fs.rm("/d", { recursive: true }),
  replaced: async (fs, path) => {
    await fs.writeFile("/other", "other");
    await fs.rename("/other", path);
  },
  moved: (fs) => fs.rename("/d", "/moved"),
  "copied over": async (fs, path) => {
    await fs.writeFile("/other", "other");
    await fs.cp("/other", path);
  },
};

for (const [event, happens] of Object.entries(EVENTS)) {
  both(`a stream shows the file as it was when it is ${event}, and compacted`, async (workspace) => {
    const { fs } = workspace;
    for (const size of [1, 64 * KIB, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES + 77]) {
      const bytes = uniqueBytes(`${event} ${size}`, size);
      await fs.mkdir("/d", { recursive: true });
      await fs.writeFile("/d/f", bytes);
      const unread = await fs.readFile("/d/f");
      const reader = (await fs.readFile("/d/f")).getReader();
      const part = await fs.readFile("/d/f", { byteOffset: size >> 1 });
      const pieces = [(await reader.read()).value];

      await happens(fs, "/d/f");
      await workspace.compact();

      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
      }
      assert.ok(Buffer.concat(pieces).equals(bytes), `begun, ${size}`);
      assert.ok((await bytesOf(unread)).equals(bytes), `unread, ${size}`);
      assert.ok((await bytesOf(part)).equals(bytes.subarray(size >> 1)), `a part, ${size}`);
      for (const path of ["/d", "/moved", "/other"]) await fs.rm(path, { recursive: true, force: true });
    }
    await eventually(async () => {
      await workspace.compact();
      return (await fs.statfs()).storedBytes === 0;
    });
    assert.deepEqual((await workspace.check()).problems, []);
  });
}

test("a stream shows the file as it was whatever another workspace does to it", async (t) => {
  const folder = folderFor(t);
  const one = new Workspace({ storage: STORAGES.normal(folder) });
  const other = new Workspace({ storage: STORAGES.normal(folder) });
  const bytes = uniqueBytes("shared", 6 * CHUNK_BYTES);
  await one.fs.writeFile("/f", bytes);
  for (const isRead of [false, true]) {
    const reader = (await one.fs.readFile("/f")).getReader();
    const pieces = isRead ? [(await reader.read()).value] : [];
    await other.fs.writeFile("/f", "changed");
    await other.compact();
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    assert.ok(Buffer.concat(pieces).equals(bytes));
    await one.fs.writeFile("/f", bytes);
  }
  await one.close();
  await other.close();
});

both("what a stream held is free when it ends, is cancelled or fails", async (workspace) => {
  const { fs } = workspace;
  const endings = {
    "read to the end": (stream) => bytesOf(stream),
    "cancelled unread": (stream) => stream.cancel(),
    "cancelled with a reason": (stream) => stream.cancel(new Error("enough")),
    "cancelled after a piece": async (stream) => {
      const reader = stream.getReader();
      await reader.read();
      await reader.cancel();
      assert.deepEqual(await reader.read(), { done: true, value: undefined });
    },
    "cancelled while a piece is read": async (stream) => {
      const reader = stream.getReader();
      const piece = reader.read();
      await reader.cancel();
      await piece;
    },
    "cancelled by a BYOB reader while a piece is read": async (stream) => {
      const reader = stream.getReader({ mode: "byob" });
      const piece = reader.read(new Uint8Array(1000));
      await reader.cancel();
      await piece;
    },
    "left in a loop": async (stream) => {
      for await (const piece of stream) if (piece.byteLength > 0) break;
    },
    "piped into a sink that fails": async (stream) => {
      const reason = new Error("full");
      const sink = new WritableStream({
        write() {
          throw reason;
        },
      });
      await assert.rejects(stream.pipeTo(sink), reason);
    },
    "destroyed as a Node stream": async (stream) => {
      const readable = Readable.fromWeb(stream);
      for await (const _ of readable) break;
      assert.equal(readable.destroyed, true);
    },
    "both branches cancelled": async (stream) => {
      const [left, right] = stream.tee();
      await Promise.all([left.cancel(), right.cancel()]);
    },
  };
  for (const [ending, end] of Object.entries(endings)) {
    await fs.writeFile("/f", uniqueBytes(ending, 4 * CHUNK_BYTES));
    const stream = await fs.readFile("/f");
    await fs.rm("/f");
    await end(stream);
    await eventually(async () => (await fs.statfs()).storedBytes === 0, `${ending}: storage is freed`);
  }
  assert.deepEqual((await workspace.check()).problems, []);
});

both("a stream that nobody holds any more is let go", async (workspace) => {
  const { fs } = workspace;
  await fs.writeFile("/f", uniqueBytes("abandoned", 4 * CHUNK_BYTES));
  const abandon = async (isBegun) => {
    const reader = (await fs.readFile("/f")).getReader();
    if (isBegun) await reader.read();
  };
  for (let at = 0; at < 20; at++) await abandon(at % 2 === 0);
  await fs.rm("/f");
  await eventually(async () => {
    await collectGarbage();
    await workspace.compact();
    return (await fs.statfs()).storedBytes === 0;
  });
});

test("a process ends although a stream is open", async (t) => {
  const folder = folderFor(t);
  const program = `
    import { Workspace } from "carrel";
    const workspace = new Workspace({ storage: process.argv[1] });
    await workspace.fs.writeFile("/f", Buffer.alloc(3_000_000));
    globalThis.unread = await workspace.fs.readFile("/f");
    globalThis.begun = (await workspace.fs.readFile("/f")).getReader();
    await globalThis.begun.read();
    process.stdout.write("end");
  `;
  for (const storage of [":memory:", `${folder}/database`]) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program, storage],
      { timeout: 20_000, cwd: new URL("../..", import.meta.url) },
    );
    assert.equal(stdout, "end");
  }
});

both("many streams at the same time", async (workspace) => {
  const { fs } = workspace;
  const contents = Array.from({ length: 10 }, (_, at) => uniqueBytes(at, (at + 1) * 150_000));
  for (const [at, bytes] of contents.entries()) await fs.writeFile(`/${at}`, bytes);
  const streams = await Promise.all(Array.from({ length: 200 }, (_, at) => fs.readFile(`/${at % 10}`)));
  await fs.writeFile("/0", "changed while they are open");
  const hashes = contents.map(hashOf);
  // One piece of each in turn.
  const readers = streams.map((stream) => ({ reader: stream.getReader(), pieces: [] }));
  let open = readers.length;
  while (open > 0) {
    await Promise.all(
      readers.map(async (it) => {
        if (!it.reader) return;
        const { done, value } = await it.reader.read();
        if (!done) return it.pieces.push(value);
        it.reader = undefined;
        open -= 1;
      }),
    );
  }
  for (const [at, { pieces }] of readers.entries()) assert.equal(hashOf(Buffer.concat(pieces)), hashes[at % 10]);
  assert.deepEqual((await workspace.check()).problems, []);
});

both("a stream that is open when the workspace closes fails with ECLOSED", async (workspace) => {
  const { fs } = workspace;
  await fs.writeFile("/f", uniqueBytes("closed", 6 * CHUNK_BYTES));
  await fs.writeFile("/small", "small");
  const small = await fs.readFile("/small");
  const unread = await fs.readFile("/f");
  const reader = (await fs.readFile("/f")).getReader();
  await reader.read();
  await workspace.close();
  await rejection(bytesOf(unread), "ECLOSED");
  // What was read before may still come.
  const rest = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read());
  };
  await rejection(rest(), "ECLOSED");
  await rejection(reader.closed, "ECLOSED");
  // What was at hand when it was opened needs no workspace.
  assert.equal((await bytesOf(small)).toString(), "small");
});
