// Runs the tests: Rust's with cargo, the package's with Node's own runner.
//
//   npm test                                  everything
//   npm test -- __test__/package.test.mjs     the named files only; tests/*.rs too
//
// The last line says `N passed, N failed`, over both.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setUp, skipsIsolate } from "./setup.mjs";
import { v8Environment } from "./v8.mjs";

// Against a test that never ends; the longest takes a few minutes on a slow machine.
const TEST_MS_MAX = 15 * 60 * 1000;

/** Every test file of the package, relative to the root. */
export function packageTests() {
  return readdirSync(join(root, "__test__"), { recursive: true })
    .filter((name) => name.endsWith(".test.mjs"))
    .sort()
    .map((name) => join("__test__", name));
}

/** Whether a test file starts runs: those are left out of a set-up without the isolate program. */
function needsIsolate(file) {
  return readFileSync(join(root, file), "utf8").includes("JavaScriptBackend") || /runtime|package|examples/.test(file);
}

/** Runs `files` with the Node.js at `node`. */
export function runPackageTests(files, { node = process.execPath, env = process.env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "carrel-test-"));
  const report = join(folder, "report.tap");
  // Two reporters: one to read, one to count from.
  const args = [
    "--test",
    `--test-timeout=${TEST_MS_MAX}`,
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
  ];
  args.push("--test-reporter=tap", `--test-reporter-destination=${report}`, ...files);
  try {
    const { status } = spawnSync(node, args, { cwd: root, env, stdio: "inherit" });
    const tap = readFileSync(report, "utf8");
    const counted = (what) => Number([...tap.matchAll(new RegExp(`^# ${what} (\\d+)$`, "gm"))].at(-1)?.[1] ?? 0);
    return outcome(status, counted("pass"), counted("fail") + counted("cancelled"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runRustTests(targets) {
  const args = ["test", "--release", "--no-fail-fast", ...targets.flatMap((name) => ["--test", name])];
  if (!skipsIsolate) args.push("--workspace");
  const env = skipsIsolate ? process.env : v8Environment();
  const cargo = spawn("cargo", args, { cwd: root, env, stdio: ["inherit", "pipe", "inherit"] });
  let output = "";
  cargo.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    process.stdout.write(text);
  });
  const status = await new Promise((resolve) => cargo.on("close", resolve));
  const results = [...output.matchAll(/^test result: \S+ (\d+) passed; (\d+) failed/gm)];
  const sum = (group) => results.reduce((total, result) => total + Number(result[group]), 0);
  return outcome(status, sum(1), sum(2));
}

/** A runner that failed without a failed test (it did not compile, it died) counts as one failure. */
function outcome(status, passed, failed) {
  return { passed, failed: status === 0 ? failed : Math.max(failed, 1) };
}

async function main(files) {
  setUp();
  const rust = files.filter((file) => file.endsWith(".rs")).map((file) => basename(file, ".rs"));
  const node = files.filter((file) => !file.endsWith(".rs"));

  const outcomes = [];
  if (files.length === 0 || rust.length > 0) outcomes.push(await runRustTests(rust));
  if (files.length === 0 || node.length > 0) {
    const chosen = node.length > 0 ? node : packageTests();
    const skipped = skipsIsolate ? chosen.filter(needsIsolate) : [];
    outcomes.push(runPackageTests(chosen.filter((file) => !skipped.includes(file))));
    for (const file of skipped) console.log(`skipped, since the isolate program was left out: ${file}`);
  }

  const passed = outcomes.reduce((total, it) => total + it.passed, 0);
  const failed = outcomes.reduce((total, it) => total + it.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
