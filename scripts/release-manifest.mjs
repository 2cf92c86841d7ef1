// Adds the platform packages to package.json for the time of `npm pack` and `npm publish`.
//
// They cannot stay in the committed file: `npm ci` wants every dependency in the lock file, and a
// version that is about to be published is in no registry yet. npm runs `prepack` and `postpack`
// around both commands; after one that was killed, `remove` (or git) restores the file.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { platforms } from "../loader.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(root, "package.json");
const manifest = JSON.parse(readFileSync(file, "utf8"));

if (process.argv[2] === "add") {
  for (const part of ["dist/index.js", "dist/index.d.ts", "index.d.ts"]) {
    if (!existsSync(join(root, part))) throw new Error(`${part} is missing: run \`npm run build\` first`);
  }
  manifest.optionalDependencies = Object.fromEntries(platforms.map((name) => [`carrel-${name}`, manifest.version]));
} else {
  delete manifest.optionalDependencies;
}

// Renamed into place, so that a program started meanwhile never reads half a manifest.
writeFileSync(`${file}.new`, `${JSON.stringify(manifest, null, 2)}\n`);
renameSync(`${file}.new`, file);
