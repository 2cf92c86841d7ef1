// One program, run by carrel on a workspace and by Node on a directory: what it printed, how it ended, what it gave.
//
// A program is an ES module. Its first line may be a comment `// options: {…}` with the `input`, `stdin` and `env` of the
// run as JSON. Node's directory has a path as long as `/workspace`, so that `inspect` breaks lines at the same places.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The Node whose library the prelude is made of. */
export const node24 = join(
  root,
  `isolate/prelude/node_modules/node-${process.platform}-${process.arch}/bin/node${process.platform === "win32" ? ".exe" : ""}`,
);

/** Why programs cannot be compared here; false if they can. */
export const cannotCompare =
  (process.env.CARREL_SKIP_ISOLATE === "1" && "built without the isolate") ||
  (process.platform === "win32" && "paths are compared, and those of Windows are others") ||
  (!existsSync(node24) && "the prelude's Node is not installed");

function optionsOf(source) {
  const found = /^\/\/ options: (.*)/.exec(source);
  return found ? JSON.parse(found[1]) : {};
}

/** The report of an uncaught error as Node starts and ends it, without what carrel leaves out: source line and version. */
function withoutReport(text) {
  return text
    .replace(/^(?:file:\/\/|node:|\/)\S*:\d+\n[\s\S]*?^\s*\^+\n\n?/m, "")
    .replace(/\n+Node\.js v[\d.]+\n$/, "\n")
    .replace(/^\(Use `node --trace-[a-z]+ \.\.\.` to show where the .*\)\n/gm, "")
    .replace(/^\n/, "");
}

/** Text without the frames that are not the program's own, and without process ids. */
function normalized(text) {
  return text.replace(/\n *at (?!.*\/workspace\/).*?:\d+:\d+\)?/g, "").replace(/\(node:\d+\)/g, "(node:1)");
}

function outcome({ exitCode, stdout, stderr, value }) {
  const report = exitCode === 0 ? stderr : withoutReport(stderr);
  return { exitCode, stdout: normalized(stdout), stderr: normalized(report), value };
}

/** Runs it in a process of Node, in an empty directory that is its `/workspace`. */
export async function runInNode(source) {
  const { input = null, stdin = "", env = {} } = optionsOf(source);
  const folder = join("/tmp", randomBytes(4).toString("base64url").slice(0, 5).replaceAll(/[-_]/g, "0"));
  mkdirSync(folder);
  try {
    const [hooks, main] = ["node-program-hooks.mjs", "node-program.mjs"].map((name) => new URL(name, import.meta.url));
    const child = spawn(node24, ["--import", hooks.href, fileURLToPath(main)], {
      cwd: folder,
      env: { ...env, TZ: "UTC" },
      stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    });
    const collect = async (stream) =>
      Buffer.concat(await stream.toArray())
        .toString()
        .replaceAll(folder, "/workspace");
    child.stdin.on("error", () => {}).end(stdin);
    child.stdio[4].on("error", () => {}).end(JSON.stringify({ source, input }));
    const ended = new Promise((resolve, reject) => child.on("exit", resolve).on("error", reject));
    const [exitCode, stdout, stderr, value] = await Promise.all([
      ended,
      collect(child.stdout),
      collect(child.stderr),
      collect(child.stdio[3]),
    ]);
    return outcome({ exitCode, stdout, stderr, value: value === "" ? null : JSON.parse(value) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs it in an isolate, in an empty workspace. */
export async function runInCarrel(source, options) {
  const { input, stdin, env } = optionsOf(source);
  const backend = new JavaScriptBackend({ warm: 0, ...options });
  const workspace = new Workspace({ storage: ":memory:", backends: [backend] });
  try {
    const run = await workspace.runtime.exec(source, { encoding: "utf8", input, stdin, env, output: false });
    const { exitCode, stdout, stderr, value = null } = await run.result();
    return outcome({ exitCode, stdout, stderr, value });
  } finally {
    await workspace.close();
  }
}
