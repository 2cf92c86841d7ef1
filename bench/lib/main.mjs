// What every benchmark does: choices, what is compared, rounds, the table, its files.

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installRivals, root } from "./setup.mjs";

const OPTIONS = {
  quick: { type: "boolean", default: false },
  trials: { type: "string" },
  dir: { type: "string", default: tmpdir() },
  save: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
};

/**
 * Runs the benchmark `name` with the choices of the command line. `help` has NAMES where the cases go;
 * `load` gives what is only there when everything is installed: the cases, `loadSides`, and `goalsOf`.
 * The saved result has `suffix` in its name. `rivals` is where the package with what carrel is compared
 * with is, if that is not the one of all benchmarks.
 */
export async function main({ name, help, options: more = {}, suffix = "", rivals, load }) {
  const { values: options, positionals: names } = parseArgs({
    allowPositionals: true,
    options: { ...OPTIONS, ...more },
  });

  installRivals(rivals);
  const { cases, loadSides, goalsOf } = await load();
  const known = cases.flatMap((one) => one.names);
  const unknown = names.filter((name) => !known.includes(name));
  if (options.help || unknown.length > 0) {
    if (unknown.length > 0) console.error(`bench: there is no case ${unknown.join(", ")}\n`);
    console.log(help.replace("NAMES", known.join(" ")));
    process.exit(options.help ? 0 : 1);
  }

  const { Bench } = await import("./bench.mjs");
  const { load: loadNow, machine } = await import("./machine.mjs");
  const { report } = await import("./report.mjs");

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

  about.loadAfter = loadNow();
  const { rows, notes } = bench;
  const goals = goalsOf(rows);
  const text = report({ rows, notes, sides, why, machine: about, goals });
  console.log(`\n${text}`);

  mkdirSync(join(root, "target"), { recursive: true });
  const json = join(root, "target", `bench-${name}.json`);
  writeFileSync(json, `${JSON.stringify({ machine: about, rows, goals, notes }, null, 2)}\n`);
  console.log(`\nbench: every value is in ${json}`);
  if (options.save) {
    const cpu = about.cpu.toLowerCase().replace(/\W+/g, "-").replace(/^-|-$/g, "");
    const file = join(root, "bench", "results", `${about.date}-${cpu}${suffix}.md`);
    mkdirSync(join(root, "bench", "results"), { recursive: true });
    writeFileSync(file, `# ${about.date}\n\n${text}\n`);
    console.log(`bench: saved as ${file}`);
  }
}
