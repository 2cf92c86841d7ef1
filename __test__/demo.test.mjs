// The demonstration: does what it says, says it readably with and without a terminal, and leaves
// nothing. It never asks a real model here.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { NEW_NAME, OLD_NAME } from "../examples/demo-model.mjs";
import { root, temporaryFolder } from "./support/consumer.mjs";

const DEMO = join(root, "examples", "demo.mjs");
const KEYS = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AI_GATEWAY_API_KEY", "CARREL_DEMO_MODEL"];

const temporary = temporaryFolder();
after(() => temporary.remove());

/** Runs the demonstration with these variables set, and tells what it printed and left. */
function demonstrate(variables = {}, args = []) {
  const folder = mkdtempSync(join(temporary.path, "run-"));
  const env = { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder };
  for (const name of [...KEYS, "FORCE_COLOR", "NO_COLOR", "NODE_OPTIONS"]) delete env[name];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, DEMO], {
    env: { ...env, ...variables },
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status, output: stdout, errors: stderr, left: readdirSync(folder) };
}

/** Arguments of Node that put modules in the place of others; `sources` has their text by name. */
function instead(sources) {
  const folder = mkdtempSync(join(temporary.path, "modules-"));
  const urls = {};
  for (const [index, [name, source]] of Object.entries(sources).entries()) {
    const file = join(folder, `${index}.mjs`);
    writeFileSync(file, source);
    urls[name] = pathToFileURL(file).href;
  }
  const hooks = `
    const urls = ${JSON.stringify(urls)};
    export async function resolve(name, context, next) {
      return urls[name] ? { url: urls[name], shortCircuit: true } : next(name, context);
    }`;
  const register = `
    import { register } from "node:module";
    register("data:text/javascript,${encodeURIComponent(hooks)}");`;
  return ["--no-warnings", "--import", `data:text/javascript,${encodeURIComponent(register)}`];
}

/** A provider whose model answers as the body of a function says. */
const provider = (name, body) => `
  import { MockLanguageModelV4 } from ${JSON.stringify(import.meta.resolve("ai/test"))};
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let step = 0;
  export const ${name} = (modelId) => new MockLanguageModelV4({ modelId, doGenerate: async ({ prompt }) => { step += 1; ${body} } });`;

const ESCAPE = "\x1b";
const withoutColours = (text) => text.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), "");

describe("with the script", () => {
  let plain;
  let sources;

  before(() => {
    plain = demonstrate();
    const folder = join(root, "lib");
    sources = readdirSync(folder, { recursive: true })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, "utf8"));
  });

  test("it ends well, and leaves nothing", () => {
    assert.equal(plain.status, 0, plain.output + plain.errors);
    assert.equal(plain.errors, "");
    assert.deepEqual(plain.left, []);
  });

  test("each call is shown, the refused one too", () => {
    const using = sources.filter((text) => text.includes(OLD_NAME)).length;
    const shown = [...plain.output.matchAll(/^ {2}([●✗]) (\w+)/gm)].map(([, mark, tool]) => mark + tool);
    assert.deepEqual(shown, [
      "●find",
      "●grep",
      "●read",
      "✗edit",
      ...Array(using).fill("●edit"),
      "●grep",
      "●write",
      "●exec",
    ]);
    assert.match(plain.output, new RegExp(`^ {2}Agent {5}${shown.length} calls in 9 steps$`, "m"));
  });

  test("a refusal is shown with the text that was meant", () => {
    const [, refusal] = /^ {2}✗ edit .*\n((?: {6}.*\n)+)/m.exec(plain.output);
    assert.match(refusal, /not found/);
    assert.match(refusal, new RegExp(`export function ${OLD_NAME}\\(thrown: unknown\\): unknown \\{`));
  });

  test("each diff is shown", () => {
    const definition = (sign, name) => new RegExp(`^ {6}\\${sign} *\\d+ export function ${name}\\(`, "m");
    assert.match(plain.output, definition("-", OLD_NAME));
    assert.match(plain.output, definition("+", NEW_NAME));
  });

  test("the agent's own code counts the lines of the tree, prints them, and calls this program", () => {
    const lines = new Map();
    for (const name of readdirSync(join(root, "lib"), { recursive: true })) {
      const file = join(root, "lib", name);
      if (!statSync(file).isFile()) continue;
      const folder = join("/workspace/lib", dirname(name)).replace(/\/$/, "");
      lines.set(folder, (lines.get(folder) ?? 0) + readFileSync(file, "utf8").split("\n").length);
    }
    const [[largest]] = [...lines].sort((a, b) => b[1] - a[1]);
    for (const [folder, count] of lines) {
      assert.match(plain.output, new RegExp(`^ {6}│ ${folder} +${count} lines$`, "m"));
    }
    const owner = `the ${largest.slice(1).replaceAll("/", " ")} group`;
    assert.ok(plain.output.includes(`returned ${JSON.stringify({ largest, owner })}`));
  });

  test("the whole tree was loaded, and a second process sees what was done", () => {
    const lines = sources.flatMap((text) => text.split("\n")).filter((line) => line.includes(OLD_NAME));
    assert.ok(lines.length > 0);
    assert.match(plain.output, new RegExp(`^ {2}Files {5}lib/ of carrel, ${sources.length} files, in \\d+ ms$`, "m"));
    const seen = `sees ${lines.length} lines with ${NEW_NAME}, 0 with ${OLD_NAME}`;
    assert.match(plain.output, new RegExp(`^ {2}Process 2 ${seen}$`, "m"));
    assert.match(
      plain.output,
      new RegExp(`^ {2}Check {5}every rule of the format holds, for ${sources.length + 1} files$`, "m"),
    );
  });

  test("there are colours where they are wanted, and nowhere else", () => {
    const coloured = demonstrate({ FORCE_COLOR: "1" });
    const untimed = (text) => text.replace(/in \d+ ms/, "");
    assert.ok(coloured.output.includes(`${ESCAPE}[32m`));
    assert.equal(untimed(withoutColours(coloured.output)), untimed(plain.output));
    for (const variables of [{}, { NO_COLOR: "1" }, { FORCE_COLOR: "0" }]) {
      assert.ok(!demonstrate(variables).output.includes(ESCAPE), JSON.stringify(variables));
    }
  });

  test("it says how to have a real model", () => {
    for (const key of KEYS.slice(0, 3)) assert.ok(plain.output.includes(key), key);
  });

  test("a key without its package is named, and the script is played", () => {
    const missing =
      "data:text/javascript,throw Object.assign(new Error(\"Cannot find package '@ai-sdk/openai'\"), { code: 'ERR_MODULE_NOT_FOUND' })";
    const { status, output } = demonstrate(
      { OPENAI_API_KEY: "none" },
      instead({ "@ai-sdk/openai": `await import(${JSON.stringify(missing)})` }),
    );
    assert.equal(status, 0, output);
    assert.match(
      output,
      /OPENAI_API_KEY is set, but @ai-sdk\/openai is not installed: npm install --no-save @ai-sdk\/openai/,
    );
    assert.match(output, /^ {2}Model {5}a script$/m);
  });
});

describe("with a model of a provider", () => {
  test("it is the one that the key is for, with the name that was asked for", () => {
    const body = `
      if (step === 1) return { content: [{ type: "tool-call", toolCallId: "1", toolName: "write", input: JSON.stringify({ path: "a.txt", content: "\\u001b[31mx" }) }],
        finishReason: { unified: "tool-calls" }, usage, warnings: [] };
      return { content: [{ type: "text", text: "I am " + modelId + "\\u001b[2J" }], finishReason: { unified: "stop" }, usage, warnings: [] };`;
    const modules = instead({ "@ai-sdk/anthropic": provider("anthropic", body) });
    const { status, output, errors, left } = demonstrate(
      { ANTHROPIC_API_KEY: "none", CARREL_DEMO_MODEL: "claude-x" },
      modules,
    );
    assert.equal(status, 0, output + errors);
    assert.match(output, /^ {2}Model {5}claude-x, from @ai-sdk\/anthropic$/m);
    assert.match(output, /^ {2}● write {2}a\.txt\n {6}new, 6 bytes$/m);
    assert.match(output, /^ {2}I am claude-x\[2J$/m);
    assert.match(output, /^ {2}Process 2 sees 0 lines with/m);
    assert.deepEqual(left, []);
  });

  test("its failure is a sentence", () => {
    const modules = instead({ "@ai-sdk/anthropic": provider("anthropic", 'throw new Error("the key is not valid");') });
    const { status, errors, left } = demonstrate({ ANTHROPIC_API_KEY: "none" }, modules);
    assert.equal(status, 1);
    assert.equal(errors.trim(), "The demonstration ended early: the key is not valid");
    assert.deepEqual(left, []);
  });
});
