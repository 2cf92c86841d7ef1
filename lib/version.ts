// The version of this package, as its manifest has it.

import { createRequire } from "node:module";

/** The version of carrel, for example `"1.2.3"`. */
export const version: string = (createRequire(import.meta.url)("../package.json") as { version: string }).version;
