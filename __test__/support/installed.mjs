// The package as npm lays it out for somebody who installed carrel alone: without any of the
// libraries that it has adapters for.

import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "./consumer.mjs";

/** Puts carrel, and nothing else, into `folder`/node_modules. */
export function installAlone(folder) {
  const installed = join(folder, "node_modules", "carrel");
  mkdirSync(installed, { recursive: true });
  for (const name of ["package.json", "index.js", "loader.js", "dist"]) {
    cpSync(join(root, name), join(installed, name), { recursive: true });
  }
  for (const name of readdirSync(root).filter((name) => name.endsWith(".node"))) {
    symlinkSync(join(root, name), join(installed, name));
  }
}
