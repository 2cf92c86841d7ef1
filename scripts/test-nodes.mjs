// Runs the package's tests with every supported Node.js, all on the same addon.
//
// The Nodes are packages of the npm registry that hold nothing but the program, so they come
// without install scripts and without a version manager. They stay in target/nodes/.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root, setUp } from "./setup.mjs";
import { packageTests, runPackageTests } from "./test.mjs";

const VERSIONS = ["20.20.2", "22.23.5", "24.22.3", "26.12.1"];

const folder = join(root, "target", "nodes");

/** The program of one version; fetched when it is not there. */
function nodeProgram(version) {
  if (process.versions.node === version) return process.execPath;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const alias = `node-${version}`;
  const program = join(folder, "node_modules", alias, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (!existsSync(program)) {
    console.log(`carrel: fetching Node.js ${version}`);
    mkdirSync(folder, { recursive: true });
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
    const { status } = spawnSync(
      "npm",
      ["install", "--ignore-scripts", "--loglevel=error", `${alias}@npm:node-${platform}-${process.arch}@${version}`],
      { cwd: folder, stdio: "inherit", shell: process.platform === "win32" },
    );
    if (status !== 0) throw new Error(`Node.js ${version} could not be installed`);
  }
  return program;
}

setUp();
const files = process.argv.length > 2 ? process.argv.slice(2) : packageTests();
const lines = VERSIONS.map((version) => {
  const node = nodeProgram(version);
  console.log(`carrel: tests on Node.js ${version}`);
  // First on PATH too, for the tests that start `node` or `npm`.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  return { version, ...runPackageTests(files, { node, env }) };
});
for (const { version, passed, failed } of lines) console.log(`Node.js ${version}: ${passed} passed, ${failed} failed`);
process.exitCode = lines.some(({ failed }) => failed > 0) ? 1 : 0;
