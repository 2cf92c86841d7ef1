// 1 GiB in and out: what arrives is what was sent, and memory does not grow with it.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { uniqueBytes } from "../support/chance.mjs";
import { collectGarbage } from "../support/garbage.mjs";
import { open } from "../support/workspace.mjs";

const MIB = 1024 * 1024;
const SIZE = 1024 * MIB;
/** Far above what is in flight, for what the garbage collector and the allocator leave for later. */
const EXTRA_BYTES_MAX = 200 * MIB;

/** Runs `work` and returns by how much the process's memory grew at most. */
async function extraMemory(work) {
  await collectGarbage();
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

/** `size` bytes in pieces of 1 MiB, no two alike, and their hash. */
function numbered(size, hash) {
  return (async function* () {
    const piece = uniqueBytes("large", MIB);
    for (let at = 0; at < size; at += MIB) {
      // In every 64 KiB, so that no chunk is stored twice.
      for (let within = 0; within < MIB; within += 64 * 1024) piece.writeBigUInt64LE(BigInt(at + within), within);
      hash.update(piece);
      yield piece;
    }
  })();
}

async function hashOfStream(stream, pause) {
  const hash = createHash("sha256");
  let length = 0;
  for await (const piece of stream) {
    hash.update(piece);
    length += piece.byteLength;
    if (pause && length % (16 * MIB) === 0) await sleep(pause);
  }
  return { length, hash: hash.digest("hex") };
}

test("1 GiB goes in and comes out in little memory", async (t) => {
  const workspace = open(t, "normal");
  const { fs } = workspace;
  // Code, buffers and caches that are there from now on.
  await fs.writeFile("/warm", numbered(32 * MIB, createHash("sha256")));
  await hashOfStream(await fs.readFile("/warm"));
  await fs.rm("/warm");

  const sent = createHash("sha256");
  const started = performance.now();
  const extraIn = await extraMemory(() => fs.writeFile("/f", numbered(SIZE, sent)));
  const written = performance.now();
  assert.equal((await fs.stat("/f")).size, SIZE);
  const { walBytes } = await fs.statfs();

  let received;
  const extraOut = await extraMemory(async () => {
    received = await hashOfStream(await fs.readFile("/f"));
  });
  const read = performance.now();
  assert.deepEqual(received, { length: SIZE, hash: sent.digest("hex") });

  const rate = (from, to) => `${Math.round(1024 / ((to - from) / 1000))} MiB/s`;
  const mebibytes = (bytes) => `${Math.round(bytes / MIB)} MiB`;
  t.diagnostic(`in: ${rate(started, written)} with ${mebibytes(extraIn)} more memory, WAL of ${mebibytes(walBytes)}`);
  t.diagnostic(`out: ${rate(written, read)} with ${mebibytes(extraOut)} more memory`);
  t.diagnostic(`largest since the start: ${mebibytes(process.resourceUsage().maxRSS * 1024)}`);
  assert.ok(extraIn < EXTRA_BYTES_MAX, `${mebibytes(extraIn)} more memory in`);
  assert.ok(extraOut < EXTRA_BYTES_MAX, `${mebibytes(extraOut)} more memory out`);
  assert.ok(walBytes < 100 * MIB, `a WAL of ${mebibytes(walBytes)}`);
});
