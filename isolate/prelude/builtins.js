/**
 * The modules that code can import by name, with and without `node:`.
 */

import { overrideFiles } from "./fs-overrides.js";
import { PUBLIC } from "./public.js";
import { process, require } from "./realm.js";

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
