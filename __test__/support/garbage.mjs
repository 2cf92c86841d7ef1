// Collects garbage now, finalizers included.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

export async function collectGarbage() {
  for (let round = 0; round < 3; round++) {
    collect();
    // Finalizers run in turns of their own.
    await new Promise(setImmediate);
  }
}
