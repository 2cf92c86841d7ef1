#!/usr/bin/env node
// The benchmark of the file system: `npm run bench:fs`, or with choices `npm run bench:fs -- --help`.

import { main } from "./lib/main.mjs";

const HELP = `node bench/fs.mjs [options] [case ...]

  case          only these: NAMES
  --quick       a few minutes: less data, fewer rounds
  --large       also a million files
  --trials N    rounds that count, after one that does not (default 5, quick 3)
  --dir PATH    a directory on the disk to measure (default: the system's for temporary files)
  --save        also write bench/results/<date>-<cpu>.md
`;

await main({
  name: "fs",
  help: HELP,
  options: { large: { type: "boolean", default: false } },
  async load() {
    const { cases } = await import("./cases/index.mjs");
    const { loadSides } = await import("./drivers/index.mjs");
    const { goalsOf } = await import("./lib/goals.mjs");
    return { cases, loadSides, goalsOf };
  },
});
