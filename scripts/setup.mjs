// Makes the checkout ready to run: dependencies, addon, isolate program, compiled TypeScript.
//
// `CARREL_SKIP_ISOLATE=1` leaves the isolate program out, and with it V8: `exec` then says that it is
// missing, and everything else works.
//
// Each step compares what is there with what it is made from and does nothing when they agree, so
// that every script of package.json can begin with it. The contents of files decide; neither npm
// nor cargo nor tsc is started to find out.
//
// Runs before anything is installed, hence with Node's own modules only.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { platformName, thisMachine } from "../loader.js";
import { v8Environment } from "./v8.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The addon of this machine, as `napi build --platform` names it. */
export const addon = `carrel.${platformName(thisMachine())}.node`;

/** The program in which runs execute, beside the addon, where it is looked for. */
export const isolateProgram = `carrel-isolate${process.platform === "win32" ? ".exe" : ""}`;

/** Whether runs are left out of this set-up. */
export const skipsIsolate = process.env.CARREL_SKIP_ISOLATE === "1";

// What the last build was made from, and what it left. In target/, so that a removed target/
// or a fresh clone means a build.
const stampFile = join(root, "target", "setup.json");

export function setUp() {
  if (!dependenciesInstalled()) {
    step("installing the dependencies", "npm", ["ci", "--loglevel=error"]);
  }

  const stamp = readStamp();

  const rust = digest(["Cargo.toml", "Cargo.lock", "build.rs", ".cargo", "src", "wire", "scripts/index.d.ts.header"]);
  const built = [addon, "index.d.ts"];
  if (stamp.rust !== rust || stamp.addon !== fingerprint(built)) {
    requireCargo();
    step("building the addon (a few minutes the first time)", bin("napi"), [
      "build",
      "--platform",
      "--release",
      "--no-js",
      "--dts",
      "index.d.ts",
    ]);
    writeStamp({ ...stamp, rust, addon: fingerprint(built) });
  }

  if (!skipsIsolate) setUpIsolate();

  const typescript = digest(["tsconfig.json", "package-lock.json", "lib", "index.d.ts"]);
  if (stamp.typescript !== typescript || stamp.dist !== fingerprint(["dist"])) {
    step("compiling lib/ to dist/", bin("tsc"), []);
    removeOrphans();
    writeStamp({ ...readStamp(), typescript, dist: fingerprint(["dist"]) });
  }
}

/** The prelude, bundled from Node's library and ours, and the program that has it in its snapshot. */
function setUpIsolate() {
  const prelude = digest(["isolate/prelude", "lib/runtime/values.ts"].flatMap(withoutDependencies));
  if (readStamp().prelude !== prelude || !existsSync(join(root, "target/prelude/prelude.js"))) {
    const locked = digest(["isolate/prelude/package-lock.json"]);
    if (readStamp().preludeDependencies !== locked || !existsSync(join(root, "isolate/prelude/node_modules"))) {
      step("installing what the prelude is made of", "npm", ["ci", "--prefix", "isolate/prelude", "--loglevel=error"]);
      writeStamp({ ...readStamp(), preludeDependencies: locked });
    }
    step("bundling the prelude", process.execPath, ["isolate/prelude/build.mjs", "target/prelude/prelude.js"]);
    writeStamp({ ...readStamp(), prelude });
  }

  const isolate = digest(
    ["Cargo.toml", "Cargo.lock", ".cargo", "wire", "isolate/Cargo.toml", "isolate/build.rs", "isolate/src"].concat(
      "target/prelude/prelude.js",
    ),
  );
  if (readStamp().isolate !== isolate || readStamp().isolateProgram !== fingerprint([isolateProgram])) {
    requireCargo();
    const env = v8Environment();
    step(
      "building the isolate program (a minute or two the first time)",
      "cargo",
      ["build", "--release", "--locked", "--package", "carrel-isolate"],
      env,
    );
    // Not written over in place: a process that runs the old one goes on with it.
    rmSync(join(root, isolateProgram), { force: true });
    copyFileSync(join(root, "target", "release", isolateProgram), join(root, isolateProgram));
    writeStamp({ ...readStamp(), isolate, isolateProgram: fingerprint([isolateProgram]) });
  }
}

function withoutDependencies(path) {
  return filesUnder(path, new Set(["node_modules"]));
}

/** Does node_modules hold what the lock file says? npm keeps its own record of what it installed. */
function dependenciesInstalled() {
  const installed = readJson("node_modules/.package-lock.json")?.packages;
  if (!installed) return false;
  const locked = readJson("package-lock.json").packages;
  return Object.entries(locked).every(
    // Optional packages are those of other platforms, for the most part.
    ([path, { version, optional }]) => path === "" || optional || installed[path]?.version === version,
  );
}

/** One hash over the names and contents of all files at `paths`. */
function digest(paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap((path) => filesUnder(path))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** Names, sizes and times of the files at `paths`: tells whether somebody else wrote or removed one. */
function fingerprint(paths) {
  return paths
    .flatMap((path) => filesUnder(path))
    .map((file) => {
      const { size, mtimeMs } = statSync(join(root, file));
      return `${file} ${size} ${mtimeMs}`;
    })
    .join("\n");
}

function filesUnder(path, without = new Set()) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stats) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(join(root, path))
    .filter((name) => !without.has(name))
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`, without));
}

/** A module whose source is gone must not stay importable, nor be packed. */
function removeOrphans() {
  for (const file of filesUnder("dist")) {
    const source = file.replace(/^dist/, "lib").replace(/(\.d\.ts|\.js)$/, ".ts");
    if (!existsSync(join(root, source))) rmSync(join(root, file));
  }
}

function readStamp() {
  return readJson("target/setup.json") ?? {};
}

function writeStamp(stamp) {
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify(stamp, null, 2)}\n`);
}

function readJson(path) {
  const file = join(root, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

function requireCargo() {
  if (spawnSync("cargo", ["--version"]).error) {
    fail(
      "carrel's addon is written in Rust and `cargo` was not found: install Rust from https://rustup.rs, then run this again.",
    );
  }
}

/** A program of node_modules, by its full path: setup also runs outside `npm run`. */
function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

function step(what, command, args, env = process.env) {
  console.log(`carrel: ${what}`);
  const start = performance.now();
  // Windows finds npm and the programs of node_modules only through its shell.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) fail(`carrel: ${what} failed${error ? `: ${error.message}` : ""}`);
  console.log(`carrel: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) setUp();
