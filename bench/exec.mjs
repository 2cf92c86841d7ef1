#!/usr/bin/env node
// The benchmark of running code: `npm run bench:exec`, or with choices `npm run bench:exec -- --help`.

import { rivals } from "./exec/rivals.mjs";
import { main } from "./lib/main.mjs";

const HELP = `node bench/exec.mjs [options] [case ...]

  case          only these: NAMES
  --quick       a few minutes: less data, fewer rounds
  --trials N    rounds that count, after one that does not (default 5, quick 3)
  --dir PATH    a directory on the disk to measure (default: the system's for temporary files)
  --save        also write bench/results/<date>-<cpu>-exec.md, or -exec-quick.md; npm run bench:exec does
`;

await main({
  name: "exec",
  help: HELP,
  suffix: process.argv.includes("--quick") ? "-exec-quick" : "-exec",
  rivals,
  async load() {
    const { cases, goalsOf } = await import("./exec/cases/index.mjs");
    const { loadSides } = await import("./exec/drivers/index.mjs");
    return { cases, loadSides, goalsOf };
  },
});
