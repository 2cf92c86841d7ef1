// Finds the static library of V8 that the crate `v8` links.
//
// Looked for in this order:
//   1. RUSTY_V8_ARCHIVE, as the crate itself understands it
//   2. the cache of an earlier set-up or source build
//   3. a folder shared/v8 beside the checkout
//   4. the release of the crate's own project, which the crate downloads by itself
//   5. a build from the crate's source (`v8-source.mjs`), which takes hours
//
// Run by itself it runs cargo with what was found:  node scripts/v8.mjs clippy -p carrel-isolate

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Version of the crate, as Cargo.lock pins it. */
export function v8Version() {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  return /name = "v8"\nversion = "([^"]+)"/.exec(lock)[1];
}

/** Cargo's name for this machine. */
export function target() {
  const { stdout } = spawnSync("rustc", ["-vV"], { encoding: "utf8" });
  return /^host: (.+)$/m.exec(stdout)[1];
}

/** Where a library that was built here is kept, for all checkouts. */
export function cache() {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(base, "carrel", `v8-${v8Version()}-${target()}`);
}

/** The environment for cargo in which the crate finds its library. */
export function v8Environment() {
  if (process.env.RUSTY_V8_ARCHIVE) return process.env;
  for (const folder of [cache(), join(dirname(root), "shared", "v8")]) {
    if (hasLibrary(folder)) return { ...process.env, RUSTY_V8_ARCHIVE: folder };
  }
  if (isReleaseReachable()) return process.env;
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "v8-source.mjs")], { stdio: "inherit" });
  if (status !== 0) {
    console.error(
      "carrel: there is no V8 library. Set RUSTY_V8_ARCHIVE to one, or CARREL_SKIP_ISOLATE=1 to build without runs.",
    );
    process.exit(1);
  }
  return { ...process.env, RUSTY_V8_ARCHIVE: cache() };
}

function hasLibrary(folder) {
  return existsSync(folder) && readdirSync(folder).some((name) => name === `librusty_v8_release_${target()}.a.gz`);
}

/** Asks in a process of its own, since everything here is synchronous. */
function isReleaseReachable() {
  const url = `https://github.com/denoland/rusty_v8/releases/download/v${v8Version()}/librusty_v8_release_${target()}.a.gz`;
  const ask = `fetch(${JSON.stringify(url)}, { method: "HEAD", signal: AbortSignal.timeout(15000) })
    .then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))`;
  return spawnSync(process.execPath, ["-e", ask]).status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { status } = spawnSync("cargo", process.argv.slice(2), { cwd: root, env: v8Environment(), stdio: "inherit" });
  process.exitCode = status ?? 1;
}
