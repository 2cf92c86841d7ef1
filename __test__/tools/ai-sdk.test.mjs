// The tools in the AI SDK: the same conversations in version 7 and version 6, through `generateText`
// and `streamText`, with a scripted model.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import * as ai6 from "ai-v6";
import { MockLanguageModelV3 } from "ai-v6/test";
import { WorkspaceError } from "carrel";
import { createToolSet } from "carrel/tools";
import {
  approvals,
  createAITools,
  createDeleteTool,
  createEditTool,
  createFindTool,
  createGrepTool,
  createListTool,
  createReadTool,
  createWriteTool,
  forAISDKTools,
} from "carrel/tools/ai-sdk";
import { root, run } from "../support/consumer.mjs";
import { testSamples } from "../support/library-samples.mjs";
import { PDF, PIXEL as PNG } from "../support/media.mjs";
import { open } from "../support/workspace.mjs";

const VERSIONS = [
  { version: 7, ai: ai7, Model: MockLanguageModelV4 },
  { version: 6, ai: ai6, Model: MockLanguageModelV3 },
];
const ALL = ["read", "ls", "find", "grep", "write", "edit", "delete"];

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

let calls = 0;
const call = (toolName, input) => {
  calls += 1;
  return { type: "tool-call", toolCallId: `call-${calls}`, toolName, input: JSON.stringify(input) };
};
const say = (text) => ({ type: "text", text });

/** What a model answers in one step. */
function turn(content) {
  const unified = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
}

/** The same, piece by piece. */
function streamed({ content, finishReason }) {
  const chunks = [{ type: "stream-start", warnings: [] }];
  for (const [index, part] of content.entries()) {
    const id = part.toolCallId ?? `text-${index}`;
    if (part.type === "tool-call") {
      const half = Math.floor(part.input.length / 2);
      chunks.push(
        { type: "tool-input-start", id, toolName: part.toolName },
        { type: "tool-input-delta", id, delta: part.input.slice(0, half) },
        { type: "tool-input-delta", id, delta: part.input.slice(half) },
        { type: "tool-input-end", id },
        part,
      );
    } else {
      chunks.push({ type: "text-start", id }, { type: "text-delta", id, delta: part.text }, { type: "text-end", id });
    }
  }
  chunks.push({ type: "finish", finishReason, usage });
  return { stream: ReadableStream.from(chunks) };
}

/** A model that answers step by step as `steps` say; a function is given the prompt of its step. */
function scripted(Model, steps) {
  let step = 0;
  const next = ({ prompt }) => {
    const content = steps[step];
    assert.ok(content, `the model was called ${step + 1} times`);
    step += 1;
    return turn(typeof content === "function" ? content(prompt) : content);
  };
  return new Model({
    doGenerate: async (options) => next(options),
    doStream: async (options) => streamed(next(options)),
  });
}

/** The ways to run a conversation; each resolves with what it led to. */
const WAYS = {
  generateText: async (ai, options) => {
    const { text, steps, response, responseMessages } = await ai.generateText({ ...options });
    return { text, steps, messages: responseMessages ?? response.messages };
  },
  streamText: async (ai, options) => {
    const errors = [];
    const result = ai.streamText({ ...options, onError: ({ error }) => errors.push(error) });
    await result.consumeStream();
    if (errors.length > 0) throw errors[0];
    const [text, steps, response] = await Promise.all([result.text, result.steps, result.response]);
    return { text, steps, messages: (await result.responseMessages) ?? response.messages };
  },
};

/** Has a model that answers with `steps` talk to `tools`. */
async function converse({ ai, Model, way }, { tools, steps, ...options }) {
  const model = scripted(Model, steps);
  const messages = options.messages ?? [{ role: "user", content: "go" }];
  const outcome = await WAYS[way](ai, { model, tools, stopWhen: ai.stepCountIs(20), ...options, messages });
  const prompts = [...model.doGenerateCalls, ...model.doStreamCalls].map(({ prompt }) => prompt);
  return { ...outcome, prompts, model, results: outcome.steps.flatMap(({ toolResults }) => toolResults) };
}

/** What the newest message of a prompt tells the model of the results of its calls. */
function told(prompt) {
  const { role, content } = prompt.at(-1);
  assert.equal(role, "tool");
  return content.filter(({ type }) => type === "tool-result").map(({ output }) => output);
}

/** Makes a test for each version and way. */
function inEach(name, body) {
  for (const { version, ai, Model } of VERSIONS) {
    for (const way of Object.keys(WAYS)) {
      test(`${name}, version ${version}, ${way}`, (t) => body(t, { version, ai, Model, way }));
    }
  }
}

/** Collects the warnings that version 7 logs during a test. */
function warningsDuring(t) {
  const warnings = [];
  const before = globalThis.AI_SDK_LOG_WARNINGS;
  globalThis.AI_SDK_LOG_WARNINGS = (logged) => warnings.push(...logged.warnings);
  t.after(() => {
    globalThis.AI_SDK_LOG_WARNINGS = before;
  });
  return warnings;
}

async function project(t, options) {
  const workspace = open(t, "memory", options);
  await workspace.fs.mkdir("/workspace/src");
  await workspace.fs.writeFile("/workspace/src/app.js", 'export const name = "old";\nexport const port = 80;\n');
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  await workspace.fs.writeFile("/workspace/long.txt", `${lines.join("\n")}\n`);
  await workspace.fs.writeFile("/workspace/dot.png", PNG);
  await workspace.fs.writeFile("/workspace/page.pdf", PDF);
  return workspace;
}

describe("a conversation", () => {
  inEach("finds, reads, is refused an edit, makes it, and pages", async (t, major) => {
    const workspace = await project(t);
    const { text, prompts, results } = await converse(major, {
      tools: createAITools({ workspace, read: { includeLineNumbers: false } }),
      steps: [
        [call("find", { pattern: "**/*.js", path: null, limit: "5" })],
        (prompt) => [call("read", { path: told(prompt)[0].value.entries[0].path, offset: null })],
        [call("edit", { path: "/workspace/src/app.js", edits: [{ oldText: "port = 81", newText: "port = 8080" }] })],
        (prompt) => {
          assert.equal(told(prompt)[0].type, "error-text");
          const edits = JSON.stringify([{ oldText: "port = 80", newText: "port = 8080" }]);
          return [call("edit", { path: "/workspace/src/app.js", edits })];
        },
        [call("read", { path: "/workspace/long.txt", limit: "20" })],
        (prompt) => {
          const { nextOffset } = told(prompt)[0].value;
          return [call("read", { path: "/workspace/long.txt", offset: nextOffset })];
        },
        [call("grep", { query: "8080", path: "/workspace" })],
        [call("write", { path: "/workspace/new/notes.md", content: "done\n" })],
        [call("delete", { path: "/workspace/new/notes.md" })],
        [call("ls", { path: "/workspace/src" })],
        [say("finished")],
      ],
    });

    assert.equal(text, "finished");
    const answers = prompts.slice(1).map((prompt) => told(prompt)[0]);
    assert.deepEqual(
      answers.map(({ type }) => type),
      ["json", "text", "error-text", "json", "json", "json", "json", "json", "json", "json"],
    );
    assert.equal(answers[1].value.trimEnd(), 'export const name = "old";\nexport const port = 80;');
    assert.match(answers[2].value, /edits\[0\]|oldText/);
    assert.equal(answers[3].value.editsApplied, 1);
    assert.deepEqual([answers[4].value.startLine, answers[4].value.endLine, answers[4].value.truncated], [1, 20, true]);
    assert.deepEqual([answers[5].value.startLine, answers[5].value.endLine], [21, 30]);
    assert.equal(answers[6].value.matches[0].line, 2);
    assert.equal(answers[8].value.existed, true);
    assert.deepEqual(
      answers[9].value.entries.map(({ name }) => name),
      ["app.js"],
    );
    assert.equal(results[2].output.code, "ENOMATCH");
    assert.equal(
      await workspace.fs.readFile("/workspace/src/app.js", "utf8"),
      'export const name = "old";\nexport const port = 8080;\n',
    );
  });

  inEach("makes several calls in one step", async (t, major) => {
    const workspace = await project(t);
    const names = ["a", "b", "c", "d"].map((name) => `/workspace/${name}.txt`);
    const { prompts } = await converse(major, {
      tools: createAITools({ workspace }),
      steps: [
        [...names.map((path) => call("write", { path, content: path })), call("read", { path: "/workspace/missing" })],
        [...names.map((path) => call("read", { path })), call("read", { path: "/workspace/dot.png" })],
        [say("done")],
      ],
    });
    assert.deepEqual(
      told(prompts[1]).map(({ type }) => type),
      ["json", "json", "json", "json", "error-text"],
    );
    assert.deepEqual(
      told(prompts[2]).map(({ type }) => type),
      ["text", "text", "text", "text", "content"],
    );
    for (const path of names) assert.equal(await workspace.fs.readFile(path, "utf8"), path);
  });

  inEach("has the calls of one step made as if one after the other", async (t, major) => {
    const workspace = await project(t);
    const path = "/workspace/src/app.js";
    const count = (from, to) => call("edit", { path, edits: [{ oldText: `port = ${from}`, newText: `port = ${to}` }] });
    const { prompts } = await converse(major, {
      tools: createAITools({ workspace, read: { includeLineNumbers: false } }),
      steps: [
        [
          call("read", { path }),
          count(80, 81),
          call("read", { path }),
          count(81, 82),
          count(82, 83),
          call("grep", { query: "port =", path }),
          call("delete", { path }),
          call("read", { path }),
          call("write", { path, content: "new" }),
          call("read", { path }),
        ],
        [say("done")],
      ],
    });
    const answers = told(prompts[1]);
    assert.match(answers[0].value, /port = 80/);
    assert.match(answers[2].value, /port = 81/);
    assert.match(answers[5].value.matches[0].text, /port = 83/);
    assert.equal(answers[7].type, "error-text");
    assert.deepEqual(answers[9], { type: "text", value: "new" });
  });

  inEach("is told what is wrong with arguments, and goes on", async (t, major) => {
    const workspace = await project(t);
    const { prompts, text } = await converse(major, {
      tools: createAITools({ workspace }),
      steps: [
        [call("write", { path: "/workspace/a.txt" })],
        [call("write", { path: "/workspace/a.txt", content: "x", mood: "good" })],
        [{ ...call("write", {}), input: '{"path": "/workspace/a.txt", "cont' }],
        [call("write", { path: "/workspace/a.txt", content: "right" })],
        [say("done")],
      ],
    });
    const answers = prompts.slice(1).map((prompt) => told(prompt)[0]);
    assert.deepEqual(
      answers.map(({ type }) => type),
      ["error-text", "error-text", "error-text", "json"],
    );
    assert.match(answers[0].value, /content/);
    assert.match(answers[1].value, /mood/);
    assert.equal(text, "done");
    assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "right");
  });

  inEach("has arguments made right before they are kept", async (t, major) => {
    const workspace = await project(t);
    const edit = { oldText: "80", newText: "81" };
    const { steps } = await converse(major, {
      tools: createAITools({ workspace }),
      steps: [
        [call("edit", { path: "/workspace/src/app.js", edits: JSON.stringify([edit]) })],
        [call("read", { path: "/workspace/long.txt", offset: "3", limit: null })],
        [say("done")],
      ],
    });
    assert.deepEqual(steps[0].toolCalls[0].input, { path: "/workspace/src/app.js", edits: [edit] });
    assert.deepEqual(steps[1].toolCalls[0].input, { path: "/workspace/long.txt", offset: 3 });
  });
});

/** The file in what a model is told, in the form of the version's own models. */
function fileIn(output) {
  assert.equal(output.type, "content");
  const [text, file] = output.value;
  assert.equal(output.value.length, 2);
  assert.equal(text.type, "text");
  const data = file.type === "file" ? file.data.data : file.data;
  return { text: text.text, data: Buffer.from(data, "base64"), mediaType: file.mediaType, name: file.filename };
}

describe("images and PDFs", () => {
  inEach("are shown to the model, without a warning", async (t, major) => {
    const warnings = warningsDuring(t);
    const workspace = await project(t);
    const { prompts, results } = await converse(major, {
      tools: createAITools({ workspace }),
      steps: [
        [call("read", { path: "/workspace/dot.png" })],
        [call("read", { path: "/workspace/page.pdf" })],
        [say("seen")],
      ],
    });
    const [image, page] = prompts.slice(1).map((prompt) => fileIn(told(prompt)[0]));
    assert.deepEqual(image, { ...image, data: PNG, mediaType: "image/png", name: "dot.png" });
    assert.deepEqual(page, { ...page, data: PDF, mediaType: "application/pdf", name: "page.pdf" });
    assert.match(image.text, /\/workspace\/dot\.png/);
    assert.equal(results[0].output.data, PNG.toString("base64"));
    assert.deepEqual(warnings, []);
  });

  inEach("stay in a history that was stored as JSON", async (t, major) => {
    const warnings = warningsDuring(t);
    const workspace = await project(t);
    const tools = createAITools({ workspace });
    const first = await converse(major, {
      tools,
      steps: [[call("read", { path: "/workspace/dot.png" })], [say("seen")]],
    });
    const stored = JSON.parse(JSON.stringify(first.messages));
    const messages = [{ role: "user", content: "go" }, ...stored, { role: "user", content: "and now?" }];
    const second = await converse(major, { tools, messages, steps: [[say("still there")]] });

    const shown = second.prompts[0].find(({ role }) => role === "tool").content[0].output;
    assert.deepEqual(fileIn(shown), fileIn(told(first.prompts[1])[0]));
    assert.equal(second.text, "still there");
    assert.deepEqual(warnings, []);
  });

  for (const { version, ai, Model } of VERSIONS) {
    test(`come back from stored UI messages, version ${version}`, async (t) => {
      warningsDuring(t);
      const workspace = await project(t);
      const tools = createAITools({ workspace });
      const paths = ["/workspace/dot.png", "/workspace/src/app.js", "/workspace/missing", "/workspace/long.txt"];
      const steps = [
        paths.map((path) => call("read", { path, ...(path.includes("long") && { limit: 3 }) })),
        [say("ok")],
      ];
      const model = scripted(Model, steps);
      const user = { id: "m1", role: "user", parts: [{ type: "text", text: "go" }] };
      const result = ai.streamText({
        model,
        tools,
        stopWhen: ai.stepCountIs(5),
        messages: await ai.convertToModelMessages([user]),
      });
      let assistant;
      const stream = ai.readUIMessageStream({ stream: result.toUIMessageStream() });
      for await (const message of stream) assistant = message;

      // What a browser sends back, to a process that never made the calls.
      const stored = JSON.parse(JSON.stringify([user, assistant]));
      await ai.validateUIMessages({ messages: stored });
      const again = await ai.convertToModelMessages(stored, { tools });
      const next = scripted(Model, [[say("still there")]]);
      const { text } = await ai.generateText({
        model: next,
        tools,
        messages: [...again, { role: "user", content: "and now?" }],
      });
      assert.equal(text, "still there");
      const first = told(model.doStreamCalls[1].prompt);
      const replayed = next.doGenerateCalls[0].prompt.find(({ role }) => role === "tool").content;
      assert.deepEqual(fileIn(replayed[0].output), fileIn(first[0]));
      assert.deepEqual(
        replayed.slice(1).map(({ output }) => output),
        first.slice(1),
      );
    });
  }

  test("come back without a warning where version 7 is the only one", () => {
    const code = `
      import { convertToModelMessages, generateText } from "ai";
      import { MockLanguageModelV4 } from "ai/test";
      import { Workspace } from "carrel";
      import { createAITools } from "carrel/tools/ai-sdk";
      globalThis.AI_SDK_LOG_WARNINGS = ({ warnings }) => console.log(warnings);
      const workspace = new Workspace({ storage: ":memory:" });
      const tools = createAITools({ workspace });
      await tools.ls.execute({ path: "/workspace" }, { toolCallId: "0", messages: [], context: undefined });
      const output = { path: "/a.png", kind: "image", name: "a.png", mediaType: "image/png", sizeBytes: 3, text: "Read", data: "AAAA" };
      const part = { type: "tool-read", toolCallId: "1", state: "output-available", input: { path: "/a.png" }, output };
      const messages = await convertToModelMessages([{ role: "assistant", parts: [part] }], { tools });
      const usage = { inputTokens: {}, outputTokens: {} };
      const turn = { content: [], finishReason: { unified: "stop" }, usage, warnings: [] };
      await generateText({ model: new MockLanguageModelV4({ doGenerate: turn }), messages: [...messages, { role: "user", content: "go" }] });
      console.log(messages[1].content[0].output.value[1].type);
      await workspace.close();`;
    assert.equal(run(process.execPath, ["--input-type=module", "--eval", code], { cwd: root }), "file\n");
  });

  test("a history of version 6 is one for version 7", async (t) => {
    warningsDuring(t);
    const workspace = await project(t);
    const tools = createAITools({ workspace });
    const [seven, six] = VERSIONS.map((version) => ({ ...version, way: "generateText" }));
    const steps = () => [[call("read", { path: "/workspace/dot.png" })], [say("seen")]];
    const first = await converse(six, { tools, steps: steps() });
    const messages = [{ role: "user", content: "go" }, ...first.messages, { role: "user", content: "and now?" }];
    const second = await converse(seven, { tools, messages, steps: [[say("still there")]] });
    assert.deepEqual(fileIn(second.prompts[0][2].content[0].output), fileIn(told(first.prompts[1])[0]));
  });
});

describe("what a model is told of an output", () => {
  test("is what the core says, also when the output comes out of a history", async (t) => {
    // Two of the same: one for the tools, one for the core.
    const workspaces = [await project(t, { now: () => 0 }), await project(t, { now: () => 0 })];
    for (const { fs } of workspaces) {
      await fs.writeFile("/workspace/empty.txt", "");
      await fs.writeFile("/workspace/latin1.txt", Buffer.from("Gr\xfc\xdfe\n", "latin1"));
      await fs.writeFile("/workspace/bom.txt", "\ufeffhello\n");
      await fs.writeFile("/workspace/open.txt", "no end of line");
      await fs.writeFile("/workspace/data.bin", Buffer.from([0, 1, 2, 3, 255, 0, 9]));
      await fs.writeFile("/workspace/large.png", Buffer.concat([PNG, Buffer.alloc(5_000_000)]));
      await fs.writeFile("/workspace/wide.txt", `${"x".repeat(400_000)}\nrest\n`);
      await fs.writeFile("/workspace/error.json", '{"error":"not one"}');
    }
    const path = (name) => ({ path: `/workspace/${name}` });
    const inputs = [
      ["read", path("src/app.js")],
      ["read", { ...path("src/app.js"), offset: 1 }],
      ["read", { ...path("src/app.js"), offset: 2 }],
      ["read", { ...path("src/app.js"), limit: 1 }],
      ["read", { ...path("src/app.js"), limit: 2 }],
      ["read", { ...path("src/app.js"), offset: 99 }],
      ["read", path("empty.txt")],
      ["read", path("latin1.txt")],
      ["read", path("bom.txt")],
      ["read", path("open.txt")],
      ["read", path("data.bin")],
      ["read", path("wide.txt")],
      ["read", path("error.json")],
      ["read", path("dot.png")],
      ["read", path("page.pdf")],
      ["read", path("large.png")],
      ["read", path("src")],
      ["read", path("SRC/app.js")],
      ["read", path("srcs/app.js")],
      ["ls", path("")],
      ["ls", path("nowhere")],
      ["find", { pattern: "**" }],
      ["grep", { query: "port" }],
      ["grep", { query: "(", regex: true }],
      ["write", { ...path("a.txt"), content: "x" }],
      ["write", { ...path("src"), content: "x" }],
      ["edit", { ...path("src/app.js"), edits: [{ oldText: "port = 90", newText: "" }] }],
      ["edit", { ...path("src/app.js"), edits: [{ oldText: "export", newText: "" }] }],
      ["edit", { ...path("src/app.js"), edits: [{ oldText: "  export const port = 80;", newText: "x" }] }],
      ["edit", { ...path("src/app.js"), edits: [{ oldText: "80", newText: "81" }] }],
      ["delete", path("src")],
      ["delete", path("nothing")],
    ];
    for (const read of [{}, { includeLineNumbers: false }]) {
      const tools = createAITools({ workspace: workspaces[0], read });
      const core = createToolSet({ workspace: workspaces[1], read });
      for (const [name, input] of inputs) {
        const shown = `${name} ${JSON.stringify(input)}`;
        const output = await tools[name].execute(input, { toolCallId: "1", messages: [] });
        const fresh = tools[name].toModelOutput({ toolCallId: "1", input, output });
        const stored = tools[name].toModelOutput({
          toolCallId: "1",
          input,
          output: JSON.parse(JSON.stringify(output)),
        });
        assert.deepEqual(stored, fresh, shown);

        const { text, isError } = await core.execute(name, input);
        assert.equal(fresh.type === "error-text", isError, shown);
        if (fresh.type === "json") assert.deepEqual(fresh.value, JSON.parse(text), shown);
        else assert.equal(fresh.type === "content" ? fresh.value[0].text : fresh.value, text, shown);
      }
    }
  });

  test("of a tool of another program passes as JSON", (t) => {
    const { ls } = createAITools({ workspace: open(t) });
    for (const output of ["text", 1, true, null, [1], { kind: "image" }]) {
      assert.deepEqual(ls.toModelOutput({ output }), { type: "json", value: output });
    }
  });
});

describe("an abort", () => {
  inEach("ends the conversation with its reason", async (t, major) => {
    const workspace = await project(t);
    const controller = new AbortController();
    const reason = new Error("enough");
    const tools = createAITools({ workspace });
    const { execute } = tools.grep;
    let given;
    tools.grep.execute = (input, options) => {
      given = execute(input, options);
      given.catch(() => {});
      controller.abort(reason);
      return given;
    };
    const running = converse(major, {
      tools,
      abortSignal: controller.signal,
      steps: [[call("grep", { query: "port" })], () => assert.fail("the model was called after the abort")],
    });
    if (major.way === "generateText") await assert.rejects(running);
    else await running.catch(() => {});
    await assert.rejects(given, (error) => error === reason);
  });

  test("before a call leaves everything as it was", async (t) => {
    const workspace = await project(t);
    const { write } = createAITools({ workspace });
    const reason = new Error("not at all");
    const options = { toolCallId: "1", messages: [], abortSignal: AbortSignal.abort(reason) };
    await assert.rejects(write.execute({ path: "/workspace/x", content: "x" }, options), (error) => error === reason);
    assert.equal(await workspace.fs.exists("/workspace/x"), false);
  });

  test("a closed workspace rejects", async (t) => {
    const workspace = await project(t);
    const { read } = createAITools({ workspace });
    await workspace.close();
    await assert.rejects(
      read.execute({ path: "/workspace/x" }, { toolCallId: "1", messages: [] }),
      (error) => error instanceof WorkspaceError && error.code === "ECLOSED",
    );
  });
});

/** The messages that answer the requests of `asked`: `answers` says yes or no to each. */
function answered(asked, answers) {
  const requests = asked.steps.at(-1).content.filter(({ type }) => type === "tool-approval-request");
  const responses = requests.map(({ approvalId }, index) => ({
    type: "tool-approval-response",
    approvalId,
    approved: answers[index],
  }));
  return [{ role: "user", content: "go" }, ...asked.messages, { role: "tool", content: responses }];
}

describe("approval", () => {
  inEach("is asked for, and what is approved runs while the rest does not", async (t, major) => {
    const workspace = await project(t);
    const tools = createAITools({ workspace, approve: ["delete"] });
    const asked = await converse(major, {
      tools,
      ...(major.version === 7 && { toolApproval: approvals(tools) }),
      steps: [
        [call("read", { path: "/workspace/src/app.js" })],
        [
          call("delete", { path: "/workspace/dot.png", recursive: null }),
          call("delete", { path: "/workspace/page.pdf" }),
          call("write", { path: "/workspace/free.txt", content: "needs no approval" }),
        ],
      ],
    });
    assert.equal(asked.steps.length, 2);
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), true);
    assert.equal(await workspace.fs.exists("/workspace/free.txt"), true);

    const { prompts, text } = await converse(major, {
      tools,
      ...(major.version === 7 && { toolApproval: approvals(tools) }),
      messages: answered(asked, [true, false]),
      steps: [[say("done")]],
    });
    const outputs = prompts[0].filter(({ role }) => role === "tool").flatMap(({ content }) => content);
    const types = outputs
      .filter(({ type }) => type === "tool-result")
      .map(({ toolName, output }) => [toolName, output.type]);
    assert.deepEqual(types.sort(), [
      ["delete", "execution-denied"],
      ["delete", "json"],
      ["read", "text"],
      ["write", "json"],
    ]);
    assert.equal(text, "done");
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), false);
    assert.equal(await workspace.fs.exists("/workspace/page.pdf"), true);
  });

  inEach("needs nothing but the option", async (t, major) => {
    const workspace = await project(t);
    const tools = createAITools({ workspace, approve: "mutating" });
    const edits = [{ oldText: "80", newText: "81" }];
    const asked = await converse(major, {
      tools,
      steps: [
        [
          call("write", { path: "/workspace/new.txt", content: "x" }),
          call("edit", { path: "/workspace/src/app.js", edits: JSON.stringify(edits) }),
          call("delete", { path: "/workspace/dot.png" }),
        ],
      ],
    });
    const kinds = asked.steps[0].content.map(({ type }) => type);
    assert.equal(kinds.filter((type) => type === "tool-approval-request").length, 3);
    assert.equal(await workspace.fs.exists("/workspace/new.txt"), false);

    await converse(major, { tools, messages: answered(asked, [false, true, false]), steps: [[say("done")]] });
    assert.equal(await workspace.fs.exists("/workspace/new.txt"), false);
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), true);
    assert.match(await workspace.fs.readFile("/workspace/src/app.js", "utf8"), /port = 81/);
  });

  for (const { version, ai, Model } of VERSIONS) {
    test(`comes from a browser as UI messages, version ${version}`, async (t) => {
      const workspace = await project(t);
      const tools = createAITools({ workspace, approve: "mutating" });
      /** A request of the browser: it sends its messages, and is streamed the answer. */
      const request = async (messages, steps) => {
        const result = ai.streamText({
          model: scripted(Model, steps),
          tools,
          messages: await ai.convertToModelMessages(JSON.parse(JSON.stringify(messages)), { tools }),
          stopWhen: ai.stepCountIs(5),
        });
        const options = { originalMessages: messages };
        let answer;
        const stream = ai.readUIMessageStream({
          stream: result.toUIMessageStream(options),
          ...(messages.at(-1).role === "assistant" && { message: messages.at(-1) }),
        });
        for await (const message of stream) answer = message;
        return answer;
      };
      const user = { id: "m1", role: "user", parts: [{ type: "text", text: "go" }] };
      const paths = ["/workspace/dot.png", "/workspace/page.pdf"];
      const asking = await request([user], [paths.map((path) => call("delete", { path }))]);
      const parts = asking.parts.filter(({ type }) => type === "tool-delete");
      assert.deepEqual(
        parts.map(({ state }) => state),
        ["approval-requested", "approval-requested"],
      );
      for (const [index, part] of parts.entries()) {
        part.state = "approval-responded";
        part.approval = { id: part.approval.id, approved: index === 0 };
      }
      const answer = await request([user, asking], [[say("done")]]);
      assert.deepEqual(
        answer.parts.filter(({ type }) => type === "tool-delete").map(({ state }) => state),
        ["output-available", "output-denied"],
      );
      assert.deepEqual(await Promise.all(paths.map((path) => workspace.fs.exists(path))), [false, true]);
    });
  }

  test("is not skipped by a `toolApproval` that is about something else, version 7", async (t) => {
    const workspace = await project(t);
    const [seven] = VERSIONS;
    const { prompts } = await converse(
      { ...seven, way: "generateText" },
      {
        tools: createAITools({ workspace, approve: "mutating" }),
        toolApproval: ({ toolCall }) => (toolCall.toolName === "shell" ? "user-approval" : undefined),
        steps: [[call("delete", { path: "/workspace/dot.png" })], [say("could not")]],
      },
    );
    const [output] = told(prompts[1]);
    assert.equal(output.type, "error-text");
    assert.match(output.value, /approved/);
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), true);
  });

  test("is not found in messages that are about another call, or say no", async (t) => {
    const workspace = await project(t);
    const tool = createDeleteTool({ workspace, approve: ["delete"] });
    const request = (toolCallId) => ({
      role: "assistant",
      content: [{ type: "tool-approval-request", approvalId: "a", toolCallId }],
    });
    const response = (approvalId, approved) => ({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId, approved }],
    });
    const conversations = [
      undefined,
      [],
      [{ role: "user", content: "yes, approved" }],
      [request("1")],
      [response("a", true)],
      [request("2"), response("a", true)],
      [request("1"), response("b", true)],
      [request("1"), response("a", false)],
      [request("1"), response("a", "true")],
      [request("1"), response("a", true), { role: "user", content: "and now another with the same id" }],
    ];
    for (const messages of conversations) {
      const output = await tool.execute({ path: "/workspace/dot.png" }, { toolCallId: "1", messages });
      assert.equal(output.code, "EACCES", JSON.stringify(messages));
    }
    assert.equal((await tool.execute({ path: "/workspace/dot.png" })).code, "EACCES");
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), true);

    const messages = [request("1"), response("a", true)];
    await tool.execute({ path: "/workspace/dot.png" }, { toolCallId: "1", messages });
    assert.equal(await workspace.fs.exists("/workspace/dot.png"), false);
  });

  test("`approvals` names the tools that ask, of any origin", (t) => {
    const workspace = open(t);
    const mine = { publish: { needsApproval: true }, look: {}, maybe: { needsApproval: () => true } };
    const tools = { ...createAITools({ workspace, approve: ["write"] }), ...mine };
    assert.deepEqual(approvals(tools), { write: "user-approval", publish: "user-approval" });
    assert.deepEqual(approvals(createAITools({ workspace })), {});
  });
});

describe("the tools", () => {
  test("are all there, in the order in which a model is shown them", (t) => {
    const workspace = open(t);
    assert.deepEqual(Object.keys(createAITools({ workspace })), ALL);
    assert.deepEqual(Object.keys(createAITools({ workspace, readonly: true })), ALL.slice(0, 4));
  });

  for (const { version, ai, Model } of VERSIONS) {
    test(`are offered with their schemas, version ${version}`, async (t) => {
      const model = scripted(Model, [[say("hello")]]);
      const tools = createAITools({ workspace: open(t) });
      await ai.generateText({ model, tools, prompt: "go" });
      const offered = model.doGenerateCalls[0].tools;
      assert.deepEqual(offered.map(({ name }) => name).sort(), [...ALL].sort());
      for (const { name, description, inputSchema } of offered) {
        assert.equal(description, tools[name].description);
        assert.equal(inputSchema.type, "object");
        assert.equal(inputSchema.additionalProperties, false);
      }
    });
  }

  for (const { version, ai, Model } of VERSIONS) {
    test(`work in an agent, with all their options, version ${version}`, async (t) => {
      const workspace = await project(t, { audit: true });
      const tools = createAITools({
        workspace,
        root: "/workspace/src",
        rules: [{ path: "generated", access: "read" }],
        requireReadBeforeOverwrite: true,
        read: { maxLines: 1, includeLineNumbers: false },
        write: { maxBytes: 10 },
        edit: { maxDiffLines: 1 },
        auditTag: "tester",
      });
      const agent = new ai.ToolLoopAgent({
        model: scripted(Model, [
          [call("write", { path: "app.js", content: "short" })],
          [call("read", { path: "app.js" })],
          [call("write", { path: "app.js", content: "short" })],
          [call("write", { path: "app.js", content: "much too long" })],
          [call("write", { path: "generated/a.js", content: "x" })],
          [call("read", { path: "/workspace/long.txt" })],
          [say("done")],
        ]),
        tools,
      });
      const { text, steps } = await agent.generate({ prompt: "go" });
      assert.equal(text, "done");
      const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
      assert.equal(outputs[1].endLine, 1);
      assert.equal(outputs[2].bytesWritten, 5);
      for (const index of [0, 3, 4, 5]) assert.equal(typeof outputs[index].error, "string", `call ${index}`);
      assert.equal(outputs[4].code, "EROFS");
      assert.equal(outputs[5].code, "EACCES");
      assert.equal((await workspace.audit.query({ tag: "tester" })).length, 6);
    });
  }

  test("come one by one too", async (t) => {
    const workspace = await project(t);
    const options = { workspace, approve: ["write"] };
    const made = {
      read: createReadTool(options),
      ls: createListTool(options),
      find: createFindTool(options),
      grep: createGrepTool(options),
      write: createWriteTool(options),
      edit: createEditTool(options),
      delete: createDeleteTool(options),
    };
    const all = createAITools(options);
    for (const name of ALL) {
      assert.equal(made[name].description, all[name].description);
      assert.equal(made[name].needsApproval, name === "write");
    }
    const output = await made.ls.execute({ path: "/workspace/src" }, {});
    assert.equal(output.entries[0].name, "app.js");
  });

  test("refuse options that are wrong", (t) => {
    const workspace = open(t);
    const code = (expected) => (error) => error.code === expected;
    assert.throws(() => createAITools(), code("ERR_INVALID_ARG_TYPE"));
    assert.throws(() => createAITools({}), code("ERR_INVALID_ARG_TYPE"));
    assert.throws(() => createAITools({ workspace, approve: "write" }), code("ERR_INVALID_ARG_TYPE"));
    assert.throws(
      () => createAITools({ workspace, approve: ["wirte"] }),
      (error) => {
        assert.ok(error instanceof WorkspaceError);
        assert.equal(error.code, "EINVAL");
        assert.match(error.message, /"wirte"/);
        return true;
      },
    );
    assert.throws(() => createAITools({ workspace, approved: ["write"] }), code("EINVAL"));
    assert.throws(() => createWriteTool({ workspace, readonly: true }), code("EINVAL"));
    createAITools({ workspace, readonly: true, approve: "mutating" });
    createAITools({ workspace, approve: null });
  });
});

describe("forAISDKTools", () => {
  test("calls the tools, and knows which change nothing", async (t) => {
    const workspace = await project(t);
    const bindings = forAISDKTools(createAITools({ workspace }))();
    assert.deepEqual(
      bindings.map(({ name, readOnly }) => [name, readOnly]),
      ALL.map((name, index) => [name, index < 4]),
    );
    const { read, write, edit } = Object.fromEntries(bindings.map((binding) => [binding.name, binding]));
    const written = await write.call({ path: "/workspace/a.txt", content: "hello" });
    assert.equal(written.isError, false);
    assert.equal(written.details.bytesWritten, 5);
    assert.deepEqual(JSON.parse(written.text), written.details);

    const missing = await read.call({ path: "/workspace/none" });
    assert.equal(missing.isError, true);
    assert.equal(missing.text, missing.details.error);
    assert.equal(missing.details.code, "ENOENT");

    await assert.rejects(edit.call({ path: "/workspace/a.txt" }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^Invalid arguments for edit: .*edits/);
      return true;
    });
    await assert.rejects(
      read.call({ path: "/workspace/a.txt" }, { signal: AbortSignal.abort(new Error("no")) }),
      /^Error: no$/,
    );
  });

  test("leaves out what asks for approval and what cannot run, and reads the set anew", async (t) => {
    const workspace = await project(t);
    let tools = createAITools({ workspace, approve: "mutating" });
    const list = forAISDKTools(() => ({ ...tools, client: { inputSchema: {} } }));
    assert.deepEqual(
      list().map(({ name }) => name),
      ["read", "ls", "find", "grep"],
    );
    const [read] = list();
    tools = createAITools({ workspace });
    assert.equal(list().length, ALL.length);
    tools = {};
    assert.deepEqual(list(), []);
    await assert.rejects(read.call({ path: "/workspace/long.txt" }), /no tool read/);
  });

  test("takes tools of others, with schemas of every kind", async () => {
    const schemas = [
      ai7.jsonSchema({ type: "object" }),
      ai6.jsonSchema({ type: "object" }, { validate: numbers }),
      () => ai7.jsonSchema({}, { validate: numbers }),
    ];
    function numbers(value) {
      return typeof value?.n === "number"
        ? { success: true, value }
        : { success: false, error: new Error("n is no number") };
    }
    const double = (inputSchema) => ai7.tool({ description: "", inputSchema, execute: async ({ n }) => n * 2 });
    const [free, checked, lazy] = schemas.map((schema) => forAISDKTools({ double: double(schema) })()[0]);
    assert.deepEqual(await checked.call({ n: 4 }), { text: "8", isError: false, details: 8 });
    assert.deepEqual(await free.call({ n: "4" }), { text: "8", isError: false, details: 8 });
    await assert.rejects(checked.call({ n: "4" }), /^TypeError: Invalid arguments for double: n is no number$/);
    await assert.rejects(lazy.call({}), /Invalid arguments for double/);

    const tools = {
      text: { execute: () => "as it is" },
      nothing: { execute: () => undefined },
      steps: {
        async *execute() {
          yield "first";
          yield { done: true };
        },
      },
      fails: { execute: () => ({ error: "no luck" }) },
      throws: {
        execute: () => {
          throw new Error("broken");
        },
      },
      sometimes: { needsApproval: () => false, execute: () => "?" },
    };
    const bindings = forAISDKTools(tools, { readOnly: ["text"] })();
    assert.deepEqual(
      bindings.map(({ name, readOnly }) => [name, readOnly]),
      [
        ["text", true],
        ["nothing", false],
        ["steps", false],
        ["fails", false],
        ["throws", false],
      ],
    );
    const [text, nothing, steps, fails, throws] = bindings;
    assert.deepEqual(await text.call({}), { text: "as it is", isError: false, details: "as it is" });
    assert.deepEqual(await nothing.call({}), { text: "", isError: false });
    assert.deepEqual(await steps.call({}), { text: '{"done":true}', isError: false, details: { done: true } });
    assert.deepEqual(await fails.call({}), { text: "no luck", isError: true, details: { error: "no luck" } });
    await assert.rejects(throws.call({}), /broken/);
  });

  test("a tool with another `execute` is not taken for one that changes nothing", (t) => {
    const { read } = createAITools({ workspace: open(t) });
    const tools = { same: { ...read, description: "reads" }, other: { ...read, execute: async () => "writes" } };
    assert.deepEqual(
      forAISDKTools(tools)().map(({ readOnly }) => readOnly),
      [true, false],
    );
  });
});

describe("docs/ai-sdk.md", () => {
  const path = "/workspace/add.js";
  const mend = [
    [call("read", { path })],
    [call("edit", { path, edits: [{ oldText: "a - b", newText: "a + b" }] })],
    [say("It subtracted. Now it adds.")],
  ];
  const tidy = [[call("delete", { path: "/workspace/notes.md" })], [say("Then it stays.")]];
  const steps = [[], mend, [], tidy];
  testSamples("docs/ai-sdk.md", ["ai"], (index) => ({ "model.js": modelFile((steps[index] ?? []).map(turn)) }));

  /** `model.js` of the page, with a model that answers with these steps. */
  function modelFile(turns) {
    return `
      import { MockLanguageModelV4 } from "ai/test";
      export const model = new MockLanguageModelV4({ doGenerate: ${JSON.stringify(turns)} });
    `;
  }
});
