// The demonstration: `npm run demo`.
//
// A source tree goes into a workspace; it is searched, copied, edited and streamed out again, and a
// second process opens the same file and finds all of it. Each line says what happened and how long
// it took. Works in a temporary directory, which is removed at the end.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { Workspace } from "carrel";

const SCRIPT = fileURLToPath(import.meta.url);
const SOURCE = join(dirname(dirname(SCRIPT)), "node_modules", "typescript");
const TREE = "/workspace/typescript";
const BACKUP = "/workspace/backup";
// Few enough to keep memory small, enough for one flush of the disk to serve many of them.
const WRITES_AT_ONCE = 64;

// Renamed in the tree, as an agent would do it.
const OLD_NAME = "getTokenPosOfNode";
const NEW_NAME = "startOfNode";

const isColourful = process.stdout.isTTY && process.stdout.hasColors();
const paint = (code) => (text) => (isColourful ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, green] = [paint(1), paint(2), paint(32)];

/** Runs one step of the demonstration; `work` returns what to say, the first line being the result. */
async function step(name, work) {
  const start = performance.now();
  const [result, ...details] = await work();
  const time = `${(performance.now() - start).toFixed(1)} ms`;
  console.log(`  ${bold(name.padEnd(14))} ${green(time.padStart(9))}  ${result}`);
  for (const detail of details) console.log(dim(`${" ".repeat(28)}${detail}`));
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
const place = (match) => `${match.path.slice(TREE.length + 1)}:${match.line}`;
const shorten = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Every file of a folder on the disk, with its path in the workspace. */
async function filesOnDisk(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      // Node.js 20 before 20.12 has no `parentPath`.
      const file = join(entry.parentPath ?? entry.path, entry.name);
      return { file, path: `${TREE}/${relative(folder, file).split(sep).join("/")}` };
    });
}

async function load(workspace) {
  const files = await filesOnDisk(SOURCE);
  const folders = new Set(files.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
  for (const folder of folders) await workspace.fs.mkdir(folder, { recursive: true });

  let bytes = 0;
  const queue = files.values();
  const write = async () => {
    for (const { file, path } of queue) {
      const content = await readFile(file);
      bytes += content.length;
      await workspace.fs.writeFile(path, content, { mode: (await stat(file)).mode });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
  return [`${plural(files.length, "file")}, ${size(bytes)}, each of them safe from a power cut`];
}

async function renameEverywhere(workspace) {
  const changed = await workspace.transaction(async (fs) => {
    const matches = await fs.grep(OLD_NAME, TREE, { include: "**/*.{js,ts}" });
    const paths = [...new Set(matches.map((match) => match.path))];
    for (const path of paths) {
      const text = await fs.readFile(path, "utf8");
      await fs.writeFile(path, text.replaceAll(OLD_NAME, NEW_NAME));
    }
    return paths;
  });
  const summary = `${OLD_NAME} is now ${NEW_NAME} in ${plural(changed.length, "file")}`;
  return [`${summary}, all or nothing`, ...changed.map((path) => path.slice(TREE.length + 1))];
}

async function streamOut(workspace, folder) {
  const files = await workspace.fs.readdir(BACKUP, { recursive: true });
  const largest = files.filter((entry) => entry.isFile).reduce((one, other) => (other.size > one.size ? other : one));
  const path = `${largest.parentPath}/${largest.name}`;
  const copy = join(folder, largest.name);
  await pipeline(Readable.fromWeb(await workspace.fs.readFile(path)), createWriteStream(copy));

  const original = join(SOURCE, path.slice(BACKUP.length + 1));
  if ((await sha256(copy)) !== (await sha256(original))) throw new Error(`${copy} is not what ${original} is`);
  return [`${size(largest.size)} to the disk, byte for byte the original`, path];
}

async function sha256(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** What the second process does: it opens the file, looks, and leaves a note. */
async function secondProcess(database) {
  const workspace = new Workspace({ storage: database });
  const renamed = await workspace.fs.grep(NEW_NAME, TREE);
  const old = await workspace.fs.grep(OLD_NAME, TREE);
  await workspace.fs.writeFile("/workspace/note.txt", `process ${process.pid} was here`);
  await workspace.close();
  console.log(`sees ${plural(renamed.length, "line")} with ${NEW_NAME}, ${old.length} with ${OLD_NAME}`);
}

/** Starts this script again and returns what it printed. */
async function runSecondProcess(database) {
  const child = spawn(process.execPath, [SCRIPT, database], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8")) output += text;
  const [code, signal] = await closed;
  if (code !== 0) throw new Error(`the second process ended with ${code ?? signal}`);
  return output.trim();
}

async function demonstrate() {
  const folder = await mkdtemp(join(tmpdir(), "carrel-demo-"));
  const database = join(folder, "agent.db");
  let workspace;
  console.log(`\n${bold("carrel")}: a file system for agents in one SQLite file\n`);
  try {
    await step("open", async () => {
      workspace = new Workspace({ storage: database });
      return ["a new workspace, agent.db in a temporary directory"];
    });
    await step("load", () => load(workspace));
    await step("find", async () => {
      const found = await workspace.fs.find(TREE, "**/*.d.ts");
      return [`${plural(found.length, "file")} match **/*.d.ts`];
    });
    await step("grep", async () => {
      const matches = await workspace.fs.grep(OLD_NAME, TREE, { include: "**/*.{js,ts}" });
      const about = `${plural(matches.length, "line")} with ${OLD_NAME} in ${plural(matches.filesSearched, "file")}`;
      return [about, ...matches.slice(0, 3).map((match) => `${place(match)}  ${shorten(match.text.trim())}`)];
    });
    await step("grep, regex", async () => {
      const matches = await workspace.fs.grep(String.raw`^export (async )?function \w+`, TREE, { regex: true });
      return [`${plural(matches.length, "line")} begin an exported function`];
    });
    await step("copy", async () => {
      const before = await workspace.fs.statfs();
      await workspace.fs.cp(TREE, BACKUP, { recursive: true });
      const after = await workspace.fs.statfs();
      const stored = after.storedBytes - before.storedBytes;
      return [`the whole tree to ${BACKUP}, ${stored} bytes of contents more to store`];
    });
    await step("edit", () => renameEverywhere(workspace));
    await step("stream out", () => streamOut(workspace, folder));
    await step("close", async () => {
      await workspace.close();
      return [`one file on the disk, ${size((await stat(database)).size)}`];
    });
    await step("second process", async () => [await runSecondProcess(database)]);
    await step("open again", async () => {
      workspace = new Workspace({ storage: database });
      return [`its note says: ${await workspace.fs.readFile("/workspace/note.txt", "utf8")}`];
    });
    await step("check", async () => {
      const report = await workspace.check();
      if (!report.ok) throw new Error(JSON.stringify(report.problems));
      return [`every rule of the format holds, for ${plural(report.files, "file")} and ${size(report.bytes)}`];
    });
  } finally {
    await workspace?.close();
    await rm(folder, { recursive: true, force: true });
  }
  console.log("\n  Next: the quick start in README.md\n");
}

const [database] = process.argv.slice(2);
await (database ? secondProcess(database) : demonstrate());
