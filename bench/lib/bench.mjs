// What a case works with: sides, scratch directories on the disk under test, rounds and rows.
//
// All sides of a row are measured in the same run, in turns, and each round begins with another side:
// what else the machine does hits them alike. The first round warms up and is not counted.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export class Bench {
  /** Rows in the order in which they were first measured; each with the values of its sides. */
  rows = [];
  notes = [];
  #isWarmUp = false;
  #scratch;

  constructor({ sides, directory, names, trials, isQuick, isLarge }) {
    Object.assign(this, { sides, names, trials, isQuick, isLarge });
    this.#scratch = mkdtempSync(join(directory, "carrel-bench-"));
  }

  /** The directory on the disk under test that everything happens in. */
  get scratch() {
    return this.#scratch;
  }

  /** Whether one of these names was asked for. */
  wants(...names) {
    return this.names.length === 0 || names.some((name) => this.names.includes(name));
  }

  /** Sides that keep files, but for those named. */
  stores({ except = [] } = {}) {
    return this.sides.filter(({ id, isSearchOnly }) => !isSearchOnly && !except.includes(id));
  }

  /** Calls `visit` for each side in each round. */
  async rounds(sides, visit, { trials = this.trials, warmUps = 1 } = {}) {
    for (let round = -warmUps; round < trials; round++) {
      this.#isWarmUp = round < 0;
      const first = (round + warmUps) % sides.length;
      for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
        await this.rest();
        await visit(side);
      }
    }
    this.#isWarmUp = false;
  }

  /** Lets what the last side left behind be finished: its threads, and the disk's queue. */
  async rest() {
    await sleep(20);
    if (process.platform !== "win32") spawnSync("sync");
    await sleep(20);
  }

  /** Opens a store in a directory of its own; `work` gets it, then it is gone. */
  async withStore(side, options, work) {
    const directory = this.directory(side);
    const store = await side.open({ ...options, directory });
    try {
      return await work(store, directory);
    } finally {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** An empty directory. */
  directory(side) {
    const directory = join(this.#scratch, side.id);
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    return directory;
  }

  /** Notes a value of a side in a row. */
  record(row, side, value) {
    if (this.#isWarmUp) return;
    let known = this.rows.find(({ name }) => name === row.name);
    if (!known) {
      known = { ...row, values: {} };
      this.rows.push(known);
    }
    known.values[side.id] ??= [];
    known.values[side.id].push(value);
  }

  /** Notes how long `work` takes for each of `count` things; with no row it only works. */
  async time(row, side, count, work) {
    const start = performance.now();
    const result = await work();
    const micros = (performance.now() - start) * 1000;
    if (row) this.record({ unit: "µs", ...row }, side, micros / count);
    return result;
  }

  /** Notes something that the reader of the table must know. */
  note(sentence) {
    if (!this.notes.includes(sentence)) this.notes.push(sentence);
  }

  removeScratch() {
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

/** The middle one, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Fails when the sides do not agree: then they did not do the same work. */
export function expectEqual(what, side, got, wanted) {
  if (got !== wanted) throw new Error(`${what}: ${side.name} has ${got}, not ${wanted}`);
}
