// Finds the native binding: which binary this machine needs, where it is, and what to say when
// there is none.
//
// A platform is written as napi-rs names it: `linux-x64-gnu`, `darwin-arm64`. The binary is
// either `carrel.<platform>.node` beside this file (a checkout) or the package `carrel-<platform>`
// (an installation, where it is an optional dependency of `carrel`).
//
// Nothing is loaded by importing this file; everything about the machine comes in as an argument,
// so a test can be any machine.

import { readFileSync } from "node:fs";

/** Every platform that has a package. */
export const platforms = [
  "linux-x64-gnu",
  "linux-arm64-gnu",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64-msvc",
  "win32-arm64-msvc",
];

/** `libc` counts on Linux only: "gnu" or "musl". */
export function platformName({ platform, arch, libc }) {
  const abi = { linux: libc, win32: "msvc" }[platform];
  return [platform, arch, abi].filter(Boolean).join("-");
}

/** This machine, as the other functions want it. */
export function thisMachine() {
  const { platform, arch } = process;
  if (platform !== "linux") return { platform, arch };
  return { platform, arch, libc: detectLibc({ report: processReport(), readLdd }) };
}

/**
 * The C library that this Node.js is linked with: "gnu" or "musl".
 *
 * A report of Node.js names the version of glibc when there is one. Where there are no reports,
 * the text of ldd tells: musl's names musl.
 */
export function detectLibc({ report, readLdd }) {
  if (report?.header) return report.header.glibcVersionRuntime ? "gnu" : "musl";
  try {
    return readLdd().includes("musl") ? "musl" : "gnu";
  } catch {
    return "gnu";
  }
}

/**
 * Loads the binding for `machine` ({ platform, arch, libc }) through `require`.
 *
 * `version` is carrel's own. A platform package of another version is refused, because the
 * JavaScript and the binary of a release belong together.
 */
export function loadBinding({ machine, version, require }) {
  const name = platformName(machine);
  const here = `${machine.platform} ${machine.arch}${machine.platform === "linux" ? ` (${machine.libc})` : ""}`;
  if (!platforms.includes(name)) {
    throw binaryError(`carrel has no binary for ${here}. It runs on ${platforms.join(", ")}.`);
  }

  const local = `./carrel.${name}.node`;
  if (resolves(require, local)) return load(require, local, here);

  const packageName = `carrel-${name}`;
  if (!resolves(require, `${packageName}/package.json`)) {
    const other = platforms.find((it) => resolves(require, `carrel-${it}/package.json`));
    const found = other ? ` (found: carrel-${other}, which is for another platform)` : "";
    throw binaryError(
      `carrel's binary for ${here} is not installed${found}: run \`npm install\` on this machine ` +
        `without --omit=optional, or add the package ${packageName}@${version}.`,
    );
  }
  const installed = require(`${packageName}/package.json`).version;
  if (installed !== version) {
    throw binaryError(
      `carrel ${version} needs ${packageName} ${version}, but ${installed} is installed: ` +
        "install carrel again, so that both come from one release.",
    );
  }
  return load(require, packageName, here);
}

function processReport() {
  const { report } = process;
  if (!report) return undefined;
  // Otherwise the report asks the name server about every open connection.
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return report.getReport();
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

function readLdd() {
  return readFileSync("/usr/bin/ldd", "latin1");
}

function resolves(require, request) {
  try {
    require.resolve(request);
    return true;
  } catch {
    return false;
  }
}

function load(require, request, here) {
  try {
    return require(request);
  } catch (cause) {
    // Node.js adds a list of its own callers below the first line.
    const [reason] = cause.message.split("\n");
    throw binaryError(`carrel's binary ${request} cannot be loaded on ${here}: ${reason}`, cause);
  }
}

function binaryError(message, cause) {
  const error = new Error(message, cause && { cause });
  error.code = "ERR_CARREL_BINARY";
  return error;
}
