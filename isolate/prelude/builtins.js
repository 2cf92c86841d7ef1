/**
 * The modules that code can import by name, with and without `node:`.
 */

import { overrideFiles } from "./fs-overrides.js";
import { process, require } from "./realm.js";

const PUBLIC = [
  "assert",
  "assert/strict",
  "async_hooks",
  "buffer",
  "console",
  "constants",
  "crypto",
  "diagnostics_channel",
  "events",
  "fs",
  "fs/promises",
  "os",
  "path",
  "path/posix",
  "path/win32",
  "perf_hooks",
  "punycode",
  "querystring",
  "readline",
  "readline/promises",
  "stream",
  "stream/consumers",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "sys",
  "timers",
  "timers/promises",
  "url",
  "util",
  "util/types",
  "zlib",
];

/** From the name without `node:` to a function that gives the module's exports. */
export const builtins = { __proto__: null, process: () => process };
for (const id of PUBLIC) builtins[id] = () => require(id);

let areFilesReady = false;
for (const id of ["fs", "fs/promises"]) {
  builtins[id] = () => {
    if (!areFilesReady) overrideFiles(require);
    areFilesReady = true;
    return require(id);
  };
}
