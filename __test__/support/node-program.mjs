// Runs one program in this process of Node as carrel runs it: its default export is called with the input, and the
// result goes to descriptor 3 as JSON. `node-program-hooks.mjs` finds both.

import input from "carrel:input" with { type: "json" };
import * as program from "carrel:program";
import { writeSync } from "node:fs";

if ("default" in program) {
  const { default: entry } = program;
  const value = await (typeof entry === "function" ? entry(input) : entry);
  if (value !== undefined) writeSync(3, JSON.stringify(value));
}
