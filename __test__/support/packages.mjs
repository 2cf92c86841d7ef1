// The npm packages that tests run in isolates: those of `runtime/packages/package.json`, with the versions of its lock
// file. They are no dependencies of this package, and are installed when a test first needs them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where they are installed. */
export const packagesFolder = fileURLToPath(new URL("../runtime/packages", import.meta.url));

/** Whether the installed version of each is the wanted one. */
function areInstalled() {
  const read = (path) => JSON.parse(readFileSync(join(packagesFolder, path), "utf8"));
  return Object.entries(read("package.json").dependencies).every(([name, version]) => {
    const manifest = `node_modules/${name}/package.json`;
    return existsSync(join(packagesFolder, manifest)) && read(manifest).version === version;
  });
}

/** Installs what is missing. */
export function installPackages() {
  if (areInstalled()) return;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync(npm, options, { cwd: packagesFolder, shell: process.platform === "win32" });
  assert.equal(status, 0, String(stderr));
}
