/**
 * `error.stack`: V8's frames without those of the prelude, in Node's format.
 *
 * The prelude is one script, so its frames are known by the script's name.
 */

import { callbacks } from "./bindings/loop.js";
import { primordials } from "./primordials.js";

const { ArrayPrototypePush, StringPrototypeStartsWith, globalThis } = primordials;

/** Name that the executable gives the script. */
const SCRIPT = "node:";

function isOfPrelude(site) {
  const name = site.getFileName();
  return typeof name === "string" && StringPrototypeStartsWith(name, SCRIPT);
}

/** For V8's callback: what `error.stack` is. */
export function prepareStackTrace(error, sites) {
  const visible = [];
  for (let index = 0; index < sites.length; index++) {
    if (!isOfPrelude(sites[index])) ArrayPrototypePush(visible, sites[index]);
  }
  return callbacks.prepareStackTrace(globalThis, error, visible);
}
