// What an installation weighs.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/setup.mjs";

export const names = ["addon"];

const OURS = [".", /^carrel\..*\.node$/];
const THEIRS = {
  sqlite: ["bench/node_modules/better-sqlite3/build/Release", /^better_sqlite3\.node$/],
  agentfs: ["bench/node_modules/@tursodatabase", /\.node$/],
};

export async function run(bench) {
  for (const side of bench.stores()) {
    const place = side.id === "carrel" ? OURS : THEIRS[side.id];
    const bytes = place && sizeOf(...place);
    if (bytes) bench.record({ name: "addon, stripped", unit: "MiB" }, side, bytes / 2 ** 20);
  }
}

function sizeOf(folder, pattern) {
  const found = readdirSync(join(root, folder), { recursive: folder !== "." }).find((file) =>
    pattern.test(file.split(/[\\/]/).at(-1)),
  );
  return found && statSync(join(root, folder, found)).size;
}
