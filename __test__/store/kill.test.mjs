// A process that writes is killed at any moment. What it had acknowledged is there, the operation
// it was at has happened or has not, and the database is sound.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Workspace } from "carrel";
import { chance, hashOf, seed } from "../support/chance.mjs";
import { folderFor } from "../support/ending.mjs";
import { actualTree, contentsOf, expectedTree, newLane, step } from "../support/lane.mjs";

const ROUNDS = 300;
const CHUNK_BYTES = 512 * 1024;
const SMALL_BYTES = 2 * 1024;
const program = fileURLToPath(new URL("../support/lane-main.mjs", import.meta.url));

/**
 * Lets a process work on lanes and kills it: some milliseconds after it has begun to work or, where
 * `isEarly`, after it was started. Resolves with the number of operations acknowledged for each lane.
 */
function killedWriter(storage, lanes, { isEarly, milliseconds, compacts }) {
  const child = spawn(process.execPath, [program, JSON.stringify({ storage, seed, lanes, compacts })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => setTimeout(() => child.kill("SIGKILL"), milliseconds);
  let acknowledged = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    if (acknowledged === "" && !isEarly) kill();
    acknowledged += text;
  });
  if (isEarly) kill();
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      if (signal !== "SIGKILL") return reject(new Error(`the writer failed: exit ${code}`));
      const lines = acknowledged.split("\n");
      resolve(lanes.map(({ base }) => lines.filter((line) => line.startsWith(`${base} `)).length));
    });
  });
}

test(`a killed writer leaves what it acknowledged (${ROUNDS} rounds)`, async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const path = join(folderFor(t), "killed.db");
  const first = new Workspace({ storage: path });
  let lanes = ["/workspace/a", "/workspace/b", "/workspace/c", "/workspace/d"].map(newLane);
  for (const { base } of lanes) await first.fs.mkdir(base);
  await first.close();

  const dice = chance(seed, "kill");
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const writers = dice.happens(0.3) ? [lanes.slice(0, 2), lanes.slice(2)] : [lanes];
    const acknowledged = await Promise.all(
      writers.map((its) => {
        const storage = { path, durability: dice.pick(["full", "normal"]) };
        const isEarly = dice.happens(0.15);
        const milliseconds = isEarly ? 20 + dice.below(90) : dice.below(100);
        return killedWriter(storage, its, { isEarly, milliseconds, compacts: dice.happens(0.2) });
      }),
    );

    const workspace = new Workspace({ storage: { path, durability: "normal" } });
    const about = `SEED=${seed} round ${round}`;
    assert.deepEqual((await workspace.check()).problems, [], about);
    lanes = await Promise.all(
      lanes.map(async (lane, number) => {
        let state = lane;
        for (let done = acknowledged.flat()[number]; done > 0; done--) state = step(seed, state).after;
        total += state.index - lane.index;
        const actual = await actualTree(workspace.fs, lane);
        const { operation, after } = step(seed, state);
        if (isEqual(actual, expectedTree(after))) return after;
        const sentence = `${about}, ${lane.base} after ${state.index} operations, the next being ${JSON.stringify(operation)}`;
        assert.deepEqual(actual, expectedTree(state), sentence);
        return state;
      }),
    );
    // What a killed process leaves is not collected in the moments that these processes live.
    if (round % 20 === 19) await workspace.compact();
    await workspace.close();
  }
  // A writer that does nothing would pass everything above.
  assert.ok(total > 10 * ROUNDS, `only ${total} operations were made`);
  t.diagnostic(`${total} operations acknowledged`);

  const workspace = new Workspace({ storage: path });
  await workspace.compact();
  const { bytes, storedBytes } = await workspace.fs.statfs();
  const contents = lanes.flatMap(contentsOf);
  assert.equal(
    bytes,
    contents.reduce((sum, content) => sum + content.length, 0),
  );
  const needed = chunkBytes(contents);
  assert.ok(storedBytes >= needed.least && storedBytes <= needed.most, `${storedBytes} of ${JSON.stringify(needed)}`);
  assert.deepEqual((await workspace.check()).problems, []);
  await workspace.close();
});

function isEqual(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * What contents take: equal chunks once, but for small ones, which are stored once or once for each
 * file, depending on whether one is a copy of the other.
 */
function chunkBytes(contents) {
  const sizes = new Map();
  let small = 0;
  for (const content of contents) {
    for (let at = 0; at < content.length; at += CHUNK_BYTES) {
      const chunk = content.subarray(at, at + CHUNK_BYTES);
      if (chunk.length <= SMALL_BYTES && sizes.has(hashOf(chunk))) small += chunk.length;
      sizes.set(hashOf(chunk), chunk.length);
    }
  }
  const least = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { least, most: least + small };
}
