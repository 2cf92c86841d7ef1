// What carrel is compared with is installed by the benchmark itself, so that neither the package nor
// its tests depend on it.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const bench = dirname(dirname(fileURLToPath(import.meta.url)));

/** The checkout. */
export const root = dirname(bench);

/** Installs what the lock file says, unless it is there. */
export function installRivals() {
  if (isInstalled()) return;
  console.log("bench: installing what carrel is compared with, into bench/node_modules");
  console.log("bench: (a few minutes where better-sqlite3 must be compiled)");
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], {
    cwd: bench,
    stdio: "inherit",
    // Windows finds npm only through its shell.
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    // Without them there still are carrel, node and ripgrep to look at.
    console.error(`bench: npm ci failed${error ? ` (${error.message})` : ""}; the columns stay empty`);
  }
}

function isInstalled() {
  const installed = readJson("node_modules/.package-lock.json")?.packages;
  if (!installed) return false;
  return Object.entries(readJson("package-lock.json").packages).every(
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

/** The version of a package that is installed here, `undefined` if it is not. */
export function versionOf(name) {
  return readJson(`node_modules/${name}/package.json`)?.version;
}

function readJson(path) {
  const file = join(bench, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
