// The consumer examples: vitest and jest over the packed package, in a folder outside the checkout.
// Both come from the npm registry.

import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { pack } from "../scripts/pack.mjs";
import { environmentWithoutRust, root, run, temporaryFolder } from "./support/consumer.mjs";

// A runner that waits for an open handle is cut off here; the examples take seconds, but for a slow registry.
const RUN_MS_MAX = 300_000;

const temporary = temporaryFolder();
let env;
let tarballs;

before(() => {
  tarballs = pack(join(temporary.path, "packages"));
  env = { ...environmentWithoutRust(temporary.path), CI: "1", NO_COLOR: "1" };
});

after(() => temporary.remove());

/** Installs the example with the tarballs in the place of its link to the checkout, and runs its tests. */
function runExample(name) {
  const folder = join(temporary.path, name);
  const filter = (path) => basename(path) !== "node_modules";
  cpSync(join(root, "examples", name), folder, { recursive: true, filter });
  const manifest = join(folder, "package.json");
  const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  assert.deepEqual(dependencies, { carrel: "file:../.." });
  writeFileSync(manifest, JSON.stringify(rest));

  // The runner comes from the registry, with this machine's own settings of npm; what follows needs neither.
  run("npm", ["install", "--prefer-offline", "--loglevel=error"], { cwd: folder, timeout: RUN_MS_MAX });
  const options = { cwd: folder, env, timeout: RUN_MS_MAX };
  run("npm", ["install", "--offline", "--loglevel=error", tarballs.main, tarballs.platform], options);
  return run("npm", ["test"], options);
}

test("the vitest example passes and ends by itself", () => {
  const output = runExample("vitest");
  assert.match(output, /Tests\s+3 passed/);
  assert.doesNotMatch(output, /close timed out|something prevents/i);
});

test("the jest example passes and leaves no open handle", () => {
  const output = runExample("jest");
  assert.match(output, /Tests:\s+2 passed, 2 total/);
  assert.doesNotMatch(output, /open handle|did not exit/i);
});
