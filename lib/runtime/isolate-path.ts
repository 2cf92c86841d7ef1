// Where the program is that runs code.
//
// It is `carrel-isolate`, beside the addon: at the top of a checkout, or in the package of the platform of an
// installation. `CARREL_ISOLATE` names another one.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { platformName, thisMachine } from "../../loader.js";

const require = createRequire(import.meta.url);
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

let found: string | undefined;

/** The path of the program; nothing if it is not there. */
export function isolatePath(): string | undefined {
  const chosen = process.env.CARREL_ISOLATE;
  if (chosen) return chosen;
  found ??= find();
  return found;
}

function find(): string | undefined {
  const name = `carrel-isolate${process.platform === "win32" ? ".exe" : ""}`;
  const beside = join(root, name);
  if (existsSync(beside)) return beside;
  try {
    const manifest = require.resolve(`carrel-${platformName(thisMachine())}/package.json`);
    const installed = join(dirname(manifest), name);
    return existsSync(installed) ? installed : undefined;
  } catch {
    return undefined;
  }
}
