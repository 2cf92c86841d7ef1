#!/usr/bin/env node
// The benchmark of the file system: `npm run bench:fs`, or with choices `npm run bench:fs -- --help`.

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installRivals, root } from "./lib/setup.mjs";

const HELP = `node bench/fs.mjs [options] [case ...]

  case          only these: NAMES
  --quick       a few minutes: less data, fewer rounds
  --large       also a million files
  --trials N    rounds that count, after one that does not (default 5, quick 3)
  --dir PATH    a directory on the disk to measure (default: the system's for temporary files)
  --save        also write bench/results/<date>-<cpu>.md
`;

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
    trials: { type: "string" },
    dir: { type: "string", default: tmpdir() },
    save: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

installRivals();
const { cases } = await import("./cases/index.mjs");
const known = cases.flatMap((one) => one.names);
const unknown = names.filter((name) => !known.includes(name));
if (options.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`bench: there is no case ${unknown.join(", ")}\n`);
  console.log(HELP.replace("NAMES", known.join(" ")));
  process.exit(options.help ? 0 : 1);
}

const { Bench } = await import("./lib/bench.mjs");
const { goalsOf } = await import("./lib/goals.mjs");
const { load, machine } = await import("./lib/machine.mjs");
const { report } = await import("./lib/report.mjs");
const { loadSides } = await import("./drivers/index.mjs");

const directory = realpathSync(options.dir);
const about = machine(directory);
const { sides, why } = await loadSides();
for (const [name, reason] of why) console.log(`bench: no column for ${name}: ${reason}`);
const bench = new Bench({
  sides,
  directory,
  names,
  trials: Number(options.trials ?? (options.quick ? 3 : 5)),
  isQuick: options.quick,
  isLarge: options.large,
});
try {
  for (const one of cases.filter((one) => bench.wants(...one.names))) {
    const start = performance.now();
    console.log(`bench: ${one.names.join(", ")} ...`);
    await one.run(bench);
    console.log(`bench: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  }
} finally {
  bench.removeScratch();
}

about.loadAfter = load();
const { rows } = bench;
const goals = goalsOf(rows);
const text = report({ rows, notes: bench.notes, sides, why, machine: about, goals });
console.log(`\n${text}`);

mkdirSync(join(root, "target"), { recursive: true });
const json = join(root, "target", "bench-fs.json");
writeFileSync(json, `${JSON.stringify({ machine: about, rows, goals, notes: bench.notes }, null, 2)}\n`);
console.log(`\nbench: every value is in ${json}`);
if (options.save) {
  const cpu = about.cpu.toLowerCase().replace(/\W+/g, "-").replace(/^-|-$/g, "");
  const file = join(root, "bench", "results", `${about.date}-${cpu}.md`);
  mkdirSync(join(root, "bench", "results"), { recursive: true });
  writeFileSync(file, `# ${about.date}\n\n${text}\n`);
  console.log(`bench: saved as ${file}`);
}
