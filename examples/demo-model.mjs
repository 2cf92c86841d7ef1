// The model of the demonstration: a real one if there is a key, else a script.
//
// The script plays an agent that makes an ordinary mistake: it edits from memory, is refused with the
// lines that it should have named, and does it right. What it does depends on what the tools tell it.

import { MockLanguageModelV4 } from "ai/test";

/** What the task is about. */
export const OLD_NAME = "userError";
export const NEW_NAME = "toUserError";

// In this order. A model may be named in CARREL_DEMO_MODEL.
const PROVIDERS = [
  { key: "ANTHROPIC_API_KEY", module: "@ai-sdk/anthropic", provider: "anthropic", model: "claude-sonnet-5-5" },
  { key: "OPENAI_API_KEY", module: "@ai-sdk/openai", provider: "openai", model: "gpt-6-astra" },
  // The gateway is a part of `ai`, and takes the name of a model.
  { key: "AI_GATEWAY_API_KEY", model: "anthropic/claude-sonnet-5.5" },
];

/** The model, what to call it, and what else to say about the choice. */
export async function chooseModel(env = process.env) {
  const notices = [];
  for (const { key, module, provider, model } of PROVIDERS) {
    if (!env[key]) continue;
    const id = env.CARREL_DEMO_MODEL || model;
    if (!module) return { model: id, name: `${id}, through the AI Gateway`, notice: notices[0] };
    const installed = await importIfInstalled(module);
    if (installed) return { model: installed[provider](id), name: `${id}, from ${module}`, notice: notices[0] };
    notices.push(`${key} is set, but ${module} is not installed: npm install --no-save ${module}`);
  }
  const keys = PROVIDERS.map(({ key }) => key).join(", ");
  return { model: scriptedModel(), name: "a script", notice: notices[0] ?? `For a real one set one of ${keys}.` };
}

async function importIfInstalled(module) {
  try {
    return await import(module);
  } catch (error) {
    if (error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${module}'`)) return undefined;
    throw error;
  }
}

function scriptedModel() {
  let step = 0;
  return new MockLanguageModelV4({
    provider: "carrel",
    modelId: "script",
    doGenerate: async ({ prompt }) => {
      const content = SCRIPT[step](resultsOf(prompt));
      step += 1;
      return answer(content);
    },
  });
}

function answer(content) {
  const unified = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: { inputTokens: none, outputTokens: { total: 0, text: 0, reasoning: 0 } },
    warnings: [],
  };
}

/** What the calls gave so far, each with its tool, the newest last. */
function resultsOf(prompt) {
  return prompt
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content)
    .map(({ toolName, output }) => ({ toolName, value: output.value }));
}

const say = (text) => ({ type: "text", text });
let calls = 0;
const call = (toolName, input) => {
  calls += 1;
  return { type: "tool-call", toolCallId: `call-${calls}`, toolName, input: JSON.stringify(input) };
};

/** The matches of the search for the old name. */
function places(results) {
  return results.find(({ toolName }) => toolName === "grep").value.matches;
}

function definition(results) {
  return places(results).find(({ text }) => text.includes(`function ${OLD_NAME}`));
}

/** The module that the agent writes. */
const ANALYSIS = `
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { owner } from "ws:team";

export default async function ({ root }) {
  const lines = new Map();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = await readFile(join(entry.parentPath, entry.name), "utf8");
    lines.set(entry.parentPath, (lines.get(entry.parentPath) ?? 0) + text.split("\\n").length);
  }
  const folders = [...lines].sort((a, b) => b[1] - a[1]);
  for (const [folder, count] of folders) console.log(folder.padEnd(24), String(count).padStart(5), "lines");
  const [[largest]] = folders;
  return { largest, owner: await owner(largest) };
}
`;

/** What the last run of code returned; nothing if it failed. */
function returned(results) {
  return results.findLast(({ toolName }) => toolName === "exec").value.result;
}

const SCRIPT = [
  () => [say("I look where the name is used."), call("find", { path: "lib", pattern: "**/*.ts" })],
  () => [call("grep", { path: "lib", query: OLD_NAME })],
  (results) => {
    const { path, line } = definition(results);
    return [call("read", { path, offset: line - 1, limit: 4 })];
  },
  (results) => {
    const { path, text } = definition(results);
    // From memory, and so without the type that it returns.
    const oldText = text.replace(/\): .*$/, ") {");
    return [call("edit", { path, edits: [{ oldText, newText: oldText.replace(OLD_NAME, NEW_NAME) }] })];
  },
  (results) => {
    const paths = [...new Set(places(results).map(({ path }) => path))];
    const edits = [{ oldText: OLD_NAME, newText: NEW_NAME, replaceAll: true }];
    return [
      say("That was not the text of the file. The name itself will do."),
      ...paths.map((path) => call("edit", { path, edits })),
    ];
  },
  () => [call("grep", { path: "lib", query: OLD_NAME })],
  () => [call("write", { path: "CHANGES.md", content: `# Changes\n\n* \`${OLD_NAME}\` is now \`${NEW_NAME}\`.\n` })],
  () => [
    say("The lines I count with a module of my own."),
    call("exec", { command: ANALYSIS, input: { root: "/workspace/lib" } }),
  ],
  (results) => {
    const counted = returned(results);
    const spread = counted
      ? `Most lines are in ${counted.largest}, which ${counted.owner} looks after.`
      : "How the lines are spread I could not find out.";
    return [say(`Done: ${OLD_NAME} is ${NEW_NAME} everywhere in lib/, and CHANGES.md says so. ${spread}`)];
  },
];
