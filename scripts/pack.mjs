// Packs carrel and the platform package of this machine, as a release does.
//
//   node scripts/pack.mjs [folder]     default: target/packages
//
// Works on a copy: the binaries have to lie in npm/<platform>/ and the manifest changes while npm
// packs, and neither may disturb the checkout.

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { platformName, thisMachine } from "../loader.js";
import { addon, isolateProgram, root } from "./setup.mjs";

const NOT_COPIED = new Set(["node_modules", "target", ".git"]);

/** Returns the tarballs' paths. */
export function pack(destination) {
  mkdirSync(destination, { recursive: true });
  const copy = mkdtempSync(join(tmpdir(), "carrel-pack-"));
  try {
    cpSync(root, copy, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
    const platform = join(copy, "npm", platformName(thisMachine()));
    for (const file of [addon, isolateProgram]) copyFileSync(join(root, file), join(platform, file));
    // What the isolate program has inside is under licences of its own; npm packs files of this name.
    for (const file of readdirSync(join(root, "target", "prelude")).filter((name) => name.startsWith("LICENSE"))) {
      copyFileSync(join(root, "target", "prelude", file), join(platform, file));
    }
    return { main: npmPack(copy, destination), platform: npmPack(platform, destination) };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function npmPack(folder, destination) {
  const args = ["pack", "--json", "--loglevel=error", "--pack-destination", destination];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm pack failed in ${folder}:\n${stderr}`);
  return join(destination, JSON.parse(stdout)[0].filename);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { main, platform } = pack(resolve(process.argv[2] ?? join(root, "target", "packages")));
  console.log(`${main}\n${platform}`);
}
