#!/usr/bin/env node
// The benchmark of the tools: `npm run bench:tools`, or with choices `npm run bench:tools -- --help`.

import { main } from "./lib/main.mjs";

const HELP = `node bench/tools.mjs [options] [case ...]

  case          only these: NAMES
  --quick       about a minute: fewer rounds
  --trials N    rounds that count, after one that does not (default 5, quick 3)
  --dir PATH    a directory on the disk to measure (default: the system's for temporary files)
  --save        also write bench/results/<date>-<cpu>-tools.md
`;

await main({
  name: "tools",
  help: HELP,
  suffix: "-tools",
  async load() {
    const { cases, goalsOf } = await import("./cases/tools/index.mjs");
    const { loadSides } = await import("./drivers/tools/index.mjs");
    return { cases, loadSides, goalsOf };
  },
});
