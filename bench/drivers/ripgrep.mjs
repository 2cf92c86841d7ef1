// ripgrep over the same tree on the disk, its start included: that is what a program that calls it pays.

import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export const name = "ripgrep";
export const version = installedVersion();

/** It only searches. */
export const isSearchOnly = true;

// Everything below the directory, as the other sides have it, whatever the user's own settings say.
const EVERYTHING = ["--no-config", "--no-ignore", "--hidden"];

export function open({ tree }) {
  return {
    find: (directory, glob) => lines([...EVERYTHING, "--files", "--glob", glob, "."], join(tree, directory)),
    grep: (pattern, directory, { isRegex }) =>
      lines(
        [...EVERYTHING, "--line-number", isRegex ? "--regexp" : "--fixed-strings", pattern, "."],
        join(tree, directory),
      ),
    close: async () => {},
  };
}

async function lines(args, cwd) {
  try {
    const { stdout } = await run("rg", args, { cwd, maxBuffer: 2 ** 30 });
    return stdout.split("\n").length - 1;
  } catch (error) {
    // Nothing was found.
    if (error.code === 1) return 0;
    throw error;
  }
}

function installedVersion() {
  const { stdout, error } = spawnSync("rg", ["--version"], { encoding: "utf8" });
  if (error) {
    throw new Error(
      "`rg` is not installed (Debian: apt install ripgrep; macOS: brew install ripgrep; or cargo install ripgrep)",
    );
  }
  return stdout.split(/\s/)[1];
}
