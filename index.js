// The native binding for this machine. What it holds is described in index.d.ts.

import { createRequire } from "node:module";
import { loadBinding, thisMachine } from "./loader.js";

const require = createRequire(import.meta.url);

export default loadBinding({ machine: thisMachine(), version: require("./package.json").version, require });
