// What carrel is compared with is installed by the benchmark itself, so that neither the package nor
// its tests depend on it.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const bench = dirname(dirname(fileURLToPath(import.meta.url)));

/** The checkout. */
export const root = dirname(bench);

/** Installs what the lock file in a directory says, unless it is there. */
export function installRivals(directory = bench) {
  if (isInstalled(directory)) return;
  console.log(`bench: installing what carrel is compared with, into ${relative(root, directory)}/node_modules`);
  console.log("bench: (a few minutes where something must be compiled)");
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], {
    cwd: directory,
    stdio: "inherit",
    // Windows finds npm only through its shell.
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    // Without them there still are carrel, Node.js and, for files, ripgrep to look at.
    console.error(`bench: npm ci failed${error ? ` (${error.message})` : ""}; the columns stay empty`);
  }
}

function isInstalled(directory) {
  const installed = readJson(join(directory, "node_modules/.package-lock.json"))?.packages;
  if (!installed) return false;
  return Object.entries(readJson(join(directory, "package-lock.json")).packages).every(
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

/** The version of a package that is installed here, `undefined` if it is not. */
export function versionOf(name) {
  return readJson(join(bench, `node_modules/${name}/package.json`))?.version;
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
