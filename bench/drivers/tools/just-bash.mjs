// grep and find of just-bash, a shell in JavaScript, over its own files in memory.

import { Bash, InMemoryFs } from "just-bash";
import { versionOf } from "../../lib/setup.mjs";

export const name = "just-bash";
export const version = versionOf("just-bash");
export const isSearchOnly = true;

/** It stops what is long; the cases are. */
const MUCH = 2 ** 31 - 1;
const executionLimits = {
  maxExecutionTimeMs: 600_000,
  maxFileSystemBytes: MUCH,
  maxInputBytes: MUCH,
  maxLiveBytes: MUCH,
  maxOutputSize: MUCH,
  maxTraversalEntries: MUCH,
  maxTraversalWork: MUCH,
  maxWorkUnits: MUCH,
};

export function open() {
  let bash;
  const lines = async (...args) => {
    const [command, ...rest] = args;
    const { stdout, stderr, exitCode } = await bash.exec(command, { args: rest });
    // grep ends with 1 if there is nothing.
    if (exitCode > 1 || stderr !== "") throw new Error(stderr || `exit code ${exitCode}`);
    return stdout.split("\n").length - 1;
  };
  return {
    async fill(files) {
      bash = new Bash({ fs: new InMemoryFs(Object.fromEntries(files)), executionLimits });
    },
    find: (path, glob) => lines("find", path, "-path", `${path}/${glob.replace("**/", "*")}`),
    grep: (path, query, { isRegex, only }) =>
      lines("grep", `-r${only === "files" ? "l" : "n"}${isRegex ? "E" : "F"}`, "--", query, path),
    close: async () => {},
  };
}
