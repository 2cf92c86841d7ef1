// A project of somebody who uses carrel: an empty folder outside the checkout, Node.js and npm, no Rust.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** A folder outside the checkout; `remove` it at the end. */
export function temporaryFolder() {
  const path = mkdtempSync(join(realpathSync(tmpdir()), "carrel-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The environment of a machine whose PATH holds this Node.js, npm and a shell, made in `folder`. */
export function environmentWithoutRust(folder) {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "node"));
  symlinkSync(npmProgram(), join(bin, "npm"));
  symlinkSync("/bin/sh", join(bin, "sh"));
  const env = { ...process.env, PATH: bin };
  // npm hands its settings, and cargo its own, to what they start: those are the checkout's.
  for (const name of Object.keys(env)) if (/^(npm_|CARGO|RUST|NODE_)/i.test(name)) delete env[name];
  return env;
}

function npmProgram() {
  const { npm_execpath: running = "", PATH } = process.env;
  if (running.endsWith("npm-cli.js")) return running;
  const folder = PATH.split(delimiter).find((entry) => existsSync(join(entry, "npm")));
  return realpathSync(join(folder, "npm"));
}

/** Runs a program to its end and returns what it printed; throws when it failed. */
export function run(command, args, options) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    ...options,
  });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(" ")}: ${error ?? signal ?? `exit ${status}`}\n${stdout}\n${stderr}`);
  }
  return stdout + stderr;
}
