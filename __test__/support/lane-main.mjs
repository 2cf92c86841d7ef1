// Works on lanes until it is killed. Tells of each operation that is done, on standard output:
// `<base> <index>`, with a system call that has happened before the next operation begins.
//
//   node lane-main.mjs '{ "storage": ..., "seed": ..., "lanes": [states], "operations"?, "compacts"? }'

import { writeSync } from "node:fs";
import { Workspace } from "carrel";
import { perform, step } from "./lane.mjs";

const { storage, seed, lanes, operations = Number.POSITIVE_INFINITY, compacts } = JSON.parse(process.argv[2]);
const workspace = new Workspace({ storage });

async function work(state) {
  let now = state;
  while (now.index < state.index + operations) {
    const { operation, after } = step(seed, now);
    await perform(workspace, now, operation);
    writeSync(1, `${state.base} ${now.index}\n`);
    now = after;
  }
}

async function compactNowAndThen() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await workspace.compact();
  }
}

if (compacts) compactNowAndThen();
await Promise.all(lanes.map(work));
// Killed with everything done, but never closed.
writeSync(1, "idle\n");
setInterval(() => {}, 1_000_000);
