// The demonstration: `npm run demo`.
//
// An agent works on a real source tree, carrel's own lib/, in a workspace: it searches, reads, is
// refused an edit, makes it, and each of its calls is shown with what came of it. Then it writes a module
// of its own that analyses the tree, in an isolate, and calls a function of this program; what that prints
// is shown while it runs. At last a second process opens the same file and finds the work done. The model is scripted unless there is a key for a real
// one, see demo-model.mjs. Works in a temporary directory, which is removed at the end.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { generateText, isStepCount } from "ai";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { createAITools } from "carrel/tools/ai-sdk";
import { chooseModel, NEW_NAME, OLD_NAME } from "./demo-model.mjs";
import { bold, dim, plain, shownCall, shownOutput, shownText, wrapped } from "./demo-screen.mjs";

const SCRIPT = fileURLToPath(import.meta.url);
const SOURCE = fileURLToPath(new URL("../lib", import.meta.url));
const TREE = "/workspace/lib";
const TASK =
  `Rename the function ${OLD_NAME} to ${NEW_NAME} wherever it occurs in lib/, check that the old name is gone, ` +
  "and note the change in CHANGES.md. Then tell with code of your own how the lines of lib/ are spread over its " +
  "folders, and who looks after the largest one.";
// Before the text of a fact.
const FACT = " ".repeat(12);
// For a model that finds no end.
const STEPS_MAX = 30;

/** What the agent's code can import as `ws:team`: a function of this program. */
const team = {
  owner: Object.assign(async ([folder]) => `the ${String(folder).replaceAll("/", " ").trim()} group`, {
    description: "owner(folder): who looks after a folder of the source",
  }),
};

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function fact(name, text) {
  const [first, ...more] = wrapped(text, FACT.length);
  console.log(`  ${bold(name.padEnd(FACT.length - 2))}${first}`);
  for (const line of more) console.log(FACT + line);
}

/** Copies a folder of the disk into the workspace: all of it in one transaction. */
async function load(workspace) {
  const entries = await readdir(SOURCE, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    // Node.js 20 before 20.12 has no `parentPath`.
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const start = performance.now();
  await workspace.transaction(async (fs) => {
    for (const file of files) {
      const path = `${TREE}/${relative(SOURCE, file).split(sep).join("/")}`;
      await fs.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await fs.writeFile(path, await readFile(file));
    }
  });
  fact("Files", `lib/ of carrel, ${plural(files.length, "file")}, in ${(performance.now() - start).toFixed(0)} ms`);
}

/** Shows a step of the agent: what the model said, each call, and what came of it. */
function showStep({ content }) {
  const results = new Map();
  for (const part of content) {
    if (part.type === "tool-result") results.set(part.toolCallId, part.output);
    if (part.type === "tool-error") results.set(part.toolCallId, { error: plain(part.error?.message ?? part.error) });
  }
  for (const part of content) {
    if (part.type === "text" && part.text.trim() !== "") console.log(`\n${shownText(part.text)}`);
    if (part.type === "tool-call") console.log(shownCall(part, results.get(part.toolCallId)));
  }
}

/** The tools; what code prints is shown as it comes. */
function toolsOf(workspace) {
  const tools = createAITools({ workspace, root: "/workspace" });
  const { exec } = tools;
  return { ...tools, exec: { ...exec, execute: (input, options) => live(exec.execute(input, options)) } };
}

async function* live(snapshots) {
  let shown = "";
  for await (const snapshot of snapshots) {
    const { stdout } = snapshot;
    if (typeof stdout === "string" && stdout.startsWith(shown)) {
      const news = stdout.slice(shown.length);
      if (news !== "") process.stdout.write(shownOutput(news));
      shown = stdout;
    }
    yield snapshot;
  }
}

/** What the second process does: it opens the file and looks. */
async function secondProcess(database) {
  const workspace = new Workspace({ storage: { path: database, readonly: true } });
  const count = async (name) => (await workspace.fs.grep(name, TREE)).length;
  console.log(
    `sees ${plural(await count(NEW_NAME), "line")} with ${NEW_NAME}, ${await count(OLD_NAME)} with ${OLD_NAME}`,
  );
  await workspace.close();
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
  const backend = new JavaScriptBackend({ modules: { "ws:team": team } });
  const workspace = new Workspace({ storage: database, backends: [backend] });
  try {
    console.log(`\n${bold("carrel")}: files, file tools and a runtime for AI agents, in one SQLite file\n`);
    await load(workspace);
    const { model, name, notice } = await chooseModel();
    fact("Model", name);
    if (notice) for (const line of wrapped(notice, FACT.length)) console.log(dim(FACT + line));
    fact("Task", TASK);

    const { steps } = await generateText({
      model,
      tools: toolsOf(workspace),
      stopWhen: isStepCount(STEPS_MAX),
      prompt: TASK,
      onStepEnd: showStep,
    });

    const calls = steps.flatMap(({ toolCalls }) => toolCalls);
    console.log("");
    fact("Agent", `${plural(calls.length, "call")} in ${plural(steps.length, "step")}`);
    const { ok, problems, files } = await workspace.check();
    if (!ok) throw new Error(JSON.stringify(problems));
    await workspace.close();
    fact("Process 2", await runSecondProcess(database));
    fact("Check", `every rule of the format holds, for ${plural(files, "file")}`);
    console.log("\n  Next: docs/ai-sdk.md, and the quick start in README.md\n");
  } finally {
    await workspace.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const [database] = process.argv.slice(2);
if (database) {
  await secondProcess(database);
} else {
  await demonstrate().catch((error) => {
    console.error(`\n  The demonstration ended early: ${plain(error?.message ?? error)}\n`);
    process.exitCode = 1;
  });
}
