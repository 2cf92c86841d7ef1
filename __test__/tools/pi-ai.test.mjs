// The tools for Pi, through the real pi-ai and pi-agent-core with a scripted model. pi-durable is not
// to be had here; what its harness does with a tool is done by hand, after its source.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent } from "@earendil-works/pi-agent-core";
import {
  createModels,
  fauxAssistantMessage,
  fauxProvider,
  fauxToolCall,
  validateToolArguments,
} from "@earendil-works/pi-ai";
import { anthropicProvider } from "@earendil-works/pi-ai/providers/anthropic";
import { openaiProvider } from "@earendil-works/pi-ai/providers/openai";
import { createAgentTools, createPiTools, createToolRegistrations, forPiTools } from "carrel/tools/pi-ai";
import { testSamples } from "../support/library-samples.mjs";
import { PDF, PIXEL as PNG } from "../support/media.mjs";
import { open } from "../support/workspace.mjs";

const READING = ["read", "ls", "find", "grep"];
const CHANGING = ["write", "edit", "delete"];

/** A model that answers with `steps`: calls, or a function of what it was given that returns them. */
function scripted(steps) {
  const faux = fauxProvider({ models: [{ id: "scripted", input: ["text", "image"] }] });
  const models = createModels();
  models.setProvider(faux.provider);
  const answer = (step) =>
    typeof step === "string"
      ? fauxAssistantMessage(step)
      : fauxAssistantMessage(
          step.map(([name, args], index) => fauxToolCall(name, args, { id: `${name}-${index}-${Math.random()}` })),
          { stopReason: "toolUse" },
        );
  faux.setResponses(
    steps.map((step) => (typeof step === "function" ? (context) => answer(step(resultsOf(context))) : answer(step))),
  );
  return { models, model: faux.getModel(), faux };
}

const resultsOf = ({ messages }) => messages.filter(({ role }) => role === "toolResult");
const textOf = ({ content }) => content.map(({ text }) => text).join("");

/** Runs a loop over pi-ai alone, as a user would write it; resolves with the results of the calls. */
async function converse(pi, steps, context = {}) {
  const { models, model, faux } = scripted(steps);
  const messages = [{ role: "user", content: "go", timestamp: 1 }];
  for (;;) {
    const message = await models.complete(model, { messages, tools: pi.tools });
    assert.notEqual(message.stopReason, "error", message.errorMessage);
    messages.push(message);
    const calls = message.content.filter(({ type }) => type === "toolCall");
    if (calls.length === 0) break;
    for (const call of calls) {
      const result = await pi.execute(call, context);
      messages.push({ role: "toolResult", toolCallId: call.id, toolName: call.name, timestamp: 1, ...result });
    }
  }
  assert.equal(faux.getPendingResponseCount(), 0);
  return resultsOf({ messages });
}

/** Runs pi-agent-core's Agent; resolves with it when it has ended. */
async function run(tools, steps, options = {}) {
  const { models, model, faux } = scripted(steps);
  const agent = new Agent({
    initialState: { model, tools },
    streamFn: (...args) => models.streamSimple(...args),
    ...options,
  });
  await agent.prompt("go");
  return { agent, faux, results: resultsOf(agent.state) };
}

describe("createPiTools", () => {
  test("declares the tools, in order, as plain JSON Schema", (t) => {
    const { tools } = createPiTools({ workspace: open(t) });
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...READING, ...CHANGING],
    );
    for (const { name, description, parameters } of tools) {
      assert.ok(description.length > 20, name);
      assert.equal(parameters.type, "object");
      assert.deepEqual(JSON.parse(JSON.stringify(parameters)), parameters);
    }
    assert.deepEqual(
      createPiTools({ workspace: open(t), readonly: true }).tools.map(({ name }) => name),
      READING,
    );
  });

  test("asks for constrained sampling on read, write and edit, as the option says", (t) => {
    const workspace = open(t);
    const asked = (options) =>
      createPiTools({ workspace, ...options })
        .tools.filter((tool) => "constrainedSampling" in tool)
        .map(({ name, constrainedSampling }) => `${name} ${constrainedSampling.type} ${constrainedSampling.strict}`);
    for (const options of [{}, { constrainedSampling: "prefer" }, { constrainedSampling: null }]) {
      assert.deepEqual(
        asked(options),
        ["read", "write", "edit"].map((name) => `${name} json_schema prefer`),
      );
    }
    assert.deepEqual(
      asked({ constrainedSampling: "require" }),
      ["read", "write", "edit"].map((name) => `${name} json_schema require`),
    );
    assert.deepEqual(asked({ constrainedSampling: false }), []);
    assert.throws(() => createPiTools({ workspace, constrainedSampling: "always" }), {
      name: "WorkspaceError",
      code: "EINVAL",
    });
  });

  test("refuses options that there are not, and a missing workspace", (t) => {
    const workspace = open(t);
    assert.throws(() => createPiTools({ workspace, readOnly: true }), { code: "EINVAL" });
    for (const options of [undefined, null, {}, { workspace: {} }]) {
      assert.throws(() => createPiTools(options), { code: "ERR_INVALID_ARG_TYPE" });
    }
  });

  for (const [name, provider, model] of [
    ["Anthropic", anthropicProvider, "claude-sonnet-4-5"],
    ["OpenAI", openaiProvider, "gpt-5"],
  ]) {
    test(`a request to ${name} takes the schemas in strict mode`, async (t) => {
      const models = createModels();
      models.setProvider(provider());
      const { tools } = createPiTools({ workspace: open(t), constrainedSampling: "require" });
      let payload;
      const message = await models.complete(
        models.getModel(name.toLowerCase(), model),
        { messages: [{ role: "user", content: "go", timestamp: 1 }], tools },
        {
          apiKey: "none",
          onPayload: (sent) => {
            payload = sent;
            throw new Error("this is as far as the test goes");
          },
        },
      );
      assert.match(message.errorMessage, /as far as the test goes/);
      const strict = payload.tools.filter((tool) => tool.strict === true);
      assert.deepEqual(
        strict.map((tool) => tool.name),
        ["read", "write", "edit"],
      );
      assert.equal(payload.tools.length, 7);
    });
  }

  test("a model finds, reads, edits, is refused, and recovers", async (t) => {
    const workspace = open(t);
    await workspace.fs.mkdir("/workspace/src");
    await workspace.fs.writeFile("/workspace/src/add.js", "export const add = (a, b) => a - b;\n");
    const wrong = "export const add = (a, b) => a * b;";
    const pi = createPiTools({ workspace });
    const results = await converse(pi, [
      [["find", { pattern: "**/*.js" }]],
      [["grep", { query: "a - b" }]],
      [["read", { path: "/workspace/src/ad.js" }]],
      (results) => {
        assert.ok(results.at(-1).isError);
        assert.match(textOf(results.at(-1)), /add\.js/);
        return [["read", { path: "/workspace/src/add.js" }]];
      },
      [["edit", { path: "/workspace/src/add.js", edits: [{ oldText: wrong, newText: "" }] }]],
      (results) => {
        assert.ok(results.at(-1).isError);
        assert.match(textOf(results.at(-1)), /a - b/);
        return [["edit", { path: "/workspace/src/add.js", edits: [{ oldText: "a - b", newText: "a + b" }] }]];
      },
      [
        ["write", { path: "/workspace/test/add.js", content: "add(1, 2) === 3;\n" }],
        ["ls", { path: "/workspace/test" }],
        ["delete", { path: "/workspace/test", recursive: true }],
      ],
      "done",
    ]);
    assert.deepEqual(
      results.map(({ toolName, isError }) => `${toolName}${isError ? " fails" : ""}`),
      ["find", "grep", "read fails", "read", "edit fails", "edit", "write", "ls", "delete"],
    );
    const [find, grep, missing, read, refused, edit, write, ls, deleted] = results;
    assert.equal(find.details.entries[0].path, "/workspace/src/add.js");
    assert.deepEqual(JSON.parse(textOf(find)), find.details);
    assert.equal(grep.details.matches[0].line, 1);
    assert.equal(missing.details.code, "ENOENT");
    assert.deepEqual(missing.details.candidates, ["/workspace/src/add.js"]);
    assert.match(textOf(read), /export const add/);
    assert.equal(read.details.totalLines, 1);
    assert.equal(refused.details.code, "ENOMATCH");
    assert.equal(refused.details.nearest.startLine, 1);
    assert.equal(edit.details.editsApplied, 1);
    assert.match(edit.details.diff, /\+1 export const add/);
    assert.equal(write.details.existed, false);
    assert.equal(ls.details.entries[0].name, "add.js");
    assert.deepEqual(deleted.details, { deleted: "/workspace/test", existed: true });
    assert.equal(await workspace.fs.readFile("/workspace/src/add.js", "utf8"), "export const add = (a, b) => a + b;\n");
  });

  test("pages, put together, are the file", async (t) => {
    const workspace = open(t);
    const text = Array.from({ length: 25 }, (_, index) => `line ${index + 1}`).join("\n");
    await workspace.fs.writeFile("/workspace/long.txt", text);
    const pi = createPiTools({ workspace, read: { maxLines: 10, includeLineNumbers: false } });
    const next = (results) => {
      const { nextOffset: offset, nextByteOffset: byteOffset, version } = JSON.parse(textOf(results.at(-1)));
      return [["read", { path: "/workspace/long.txt", offset, byteOffset, version }]];
    };
    const results = await converse(pi, [[["read", { path: "/workspace/long.txt" }]], next, next, "done"]);
    const pages = results.map(({ details }) => details);
    assert.deepEqual(
      pages.map(({ startLine, endLine, truncated }) => [startLine, endLine, truncated]),
      [
        [1, 10, true],
        [11, 20, true],
        [21, 25, false],
      ],
    );
    assert.equal(pages.map(({ content }) => content).join("\n"), text);
  });

  test("an image is an image, and a PDF is a sentence", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/dot.png", PNG);
    await workspace.fs.writeFile("/workspace/paper.pdf", PDF);
    const [image, pdf] = await converse(createPiTools({ workspace }), [
      [["read", { path: "/workspace/dot.png" }]],
      (results) => {
        assert.deepEqual(results[0].content[1], {
          type: "image",
          data: PNG.toString("base64"),
          mimeType: "image/png",
        });
        return [["read", { path: "/workspace/paper.pdf" }]];
      },
      "done",
    ]);
    assert.equal(image.isError, false);
    assert.match(image.content[0].text, /dot\.png/);
    assert.equal(image.details.kind, "image");
    assert.equal(pdf.isError, false);
    assert.equal(pdf.content.length, 1);
    assert.match(pdf.content[0].text, /paper\.pdf.*It cannot be shown here/);
    assert.equal(pdf.details.mediaType, "application/pdf");
    assert.ok(!JSON.stringify([image.details, pdf.details]).includes(PNG.toString("base64")));
  });

  test("arguments that are meant well are taken", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/a.txt", "one\ntwo\n");
    const pi = createPiTools({ workspace });
    const [read, edit] = await converse(pi, [
      [["read", { path: "/workspace/a.txt", offset: null, limit: "1" }]],
      [["edit", { path: "/workspace/a.txt", edits: '[{"oldText":"two","newText":"2"}]' }]],
      "done",
    ]);
    assert.equal(read.details.endLine, 1);
    assert.equal(edit.isError, false, textOf(edit));
    assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "one\n2\n");
  });

  test("execute never rejects", async (t) => {
    const workspace = open(t);
    const pi = createPiTools({ workspace });
    const call = (name, args, more) => ({ type: "toolCall", id: "1", name, arguments: args, ...more });
    const failure = async (...args) => {
      const result = await pi.execute(...args);
      assert.equal(result.isError, true);
      assert.equal(result.content.length, 1);
      assert.equal(result.content[0].type, "text");
      return result;
    };
    const unknown = await failure(call("exec", {}));
    assert.equal(
      unknown.content[0].text,
      `There is no tool "exec". The tools are: ${[...READING, ...CHANGING].join(", ")}.`,
    );
    assert.ok(!("details" in unknown));
    for (const name of ["__proto__", "constructor", "", undefined, 1]) await failure(call(name, {}));

    const wrong = await failure(call("read", { path: 5 }));
    assert.match(wrong.content[0].text, /path/);
    assert.equal(wrong.details.code, "EINVAL");
    for (const args of [undefined, null, {}, [], "x", 7]) await failure(call("read", args));
    const cyclic = {};
    cyclic.path = cyclic;
    await failure(call("read", cyclic));
    await failure(call("read", { path: 1n }));

    const noJSON = await failure(call("write", {}, { argumentsError: "Unexpected end of JSON input" }));
    assert.match(noJSON.content[0].text, /write.*Unexpected end of JSON input/);

    const aborted = await failure(call("ls", { path: "/" }), { abortSignal: AbortSignal.abort() });
    assert.match(aborted.content[0].text, /aborted/);
    const reason = await failure(call("ls", { path: "/" }), { abortSignal: AbortSignal.abort("no time") });
    assert.equal(reason.content[0].text, "no time");
    assert.ok(!("details" in reason));
    await failure(undefined);
    await failure(null);

    await workspace.close();
    const closed = await failure(call("ls", { path: "/" }));
    assert.match(closed.content[0].text, /ECLOSED/);
  });

  test("an abort ends a call under way", async (t) => {
    const workspace = open(t);
    const body = "x".repeat(1 << 20);
    for (let n = 0; n < 30; n++) await workspace.fs.writeFile(`/workspace/${n}.txt`, `${body}${n}`);
    const pi = createPiTools({ workspace });
    const controller = new AbortController();
    const call = { id: "1", name: "grep", arguments: { query: "(x+)+y", regex: true } };
    const running = pi.execute(call, { abortSignal: controller.signal });
    controller.abort(new Error("the user went away"));
    const result = await running;
    assert.deepEqual(result, { content: [{ type: "text", text: "the user went away" }], isError: true });
  });

  test("an abort does not hide a change that has begun", async (t) => {
    const workspace = open(t);
    const controller = new AbortController();
    const call = { id: "1", name: "write", arguments: { path: "/workspace/a.txt", content: "one\n" } };
    const running = createPiTools({ workspace }).execute(call, { abortSignal: controller.signal });
    controller.abort();
    assert.equal((await running).isError, false);
    assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "one\n");
  });
});

describe("createAgentTools", () => {
  test("says what may run at the same time, and what may run again", (t) => {
    const tools = createAgentTools({ workspace: open(t) });
    for (const { name, label, executionMode, replay } of tools) {
      assert.ok(label.length > 0);
      const isReader = READING.includes(name);
      assert.equal(executionMode, isReader ? "parallel" : "sequential", name);
      assert.equal(replay, isReader ? "safe" : "never", name);
    }
    assert.equal(tools.length, 7);
    assert.equal(createAgentTools({ workspace: open(t), readonly: true }).length, 4);
  });

  test("an agent reads, edits, is refused, recovers, and sees an image", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/a.txt", "one\ntwo\n");
    await workspace.fs.writeFile("/workspace/dot.png", PNG);
    const tools = createAgentTools({ workspace });
    const { agent, results, faux } = await run(tools, [
      [["read", { path: "/workspace/a.txt" }]],
      [["edit", { path: "/workspace/a.txt", edits: [{ oldText: "three", newText: "3" }] }]],
      (results) => {
        assert.equal(results.at(-1).isError, true);
        return [["edit", { path: "/workspace/a.txt", edits: '[{"oldText":"two","newText":"2"}]' }]];
      },
      [["read", { path: "/workspace/dot.png" }]],
      (results) => {
        assert.equal(results.at(-1).content[1].type, "image");
        return "done";
      },
    ]);
    assert.equal(agent.state.messages.at(-1).stopReason, "stop");
    assert.equal(faux.getPendingResponseCount(), 0);
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [false, true, false, false],
    );
    // A failure keeps its fields, for a user interface.
    assert.equal(results[1].details.code, "ENOMATCH");
    assert.equal(results[2].details.editsApplied, 1);
    assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "one\n2\n");
  });

  test("a turn that changes and reads does so in its order", async (t) => {
    const workspace = open(t);
    const tools = createAgentTools({ workspace });
    const path = "/workspace/n.txt";
    const { results } = await run(tools, [
      [
        ["write", { path, content: "1\n" }],
        ["read", { path }],
        ["edit", { path, edits: [{ oldText: "1", newText: "2" }] }],
        ["read", { path }],
        ["delete", { path }],
        ["read", { path }],
      ],
      "done",
    ]);
    assert.match(results[1].details.content, /1$/m);
    assert.match(results[3].details.content, /2$/m);
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [false, false, false, false, false, true],
    );
  });

  test("wrong arguments are refused in our words, and text that is no JSON in Pi's", async (t) => {
    const tools = createAgentTools({ workspace: open(t) });
    const { results } = await run(tools, [
      [["read", { path: 5 }]],
      [["write", { path: "/workspace/a", body: "x" }]],
      [["read", {}]],
      "done",
    ]);
    assert.ok(results.every(({ isError }) => isError));
    assert.match(textOf(results[0]), /^Invalid arguments for read: .*path/);
    assert.match(textOf(results[1]), /^Invalid arguments for write: .*content/);
    assert.match(textOf(results[2]), /path/);
    const [read] = tools;
    const call = { type: "toolCall", id: "1", name: "read", arguments: {}, argumentsError: "Unexpected token" };
    assert.throws(
      () => validateToolArguments(read, { ...call, arguments: read.prepareArguments(call.arguments) }),
      /Unexpected token/,
    );
  });

  test("arguments that the tools take pass Pi's own check, and unchanged", (t) => {
    const tools = createAgentTools({ workspace: open(t) });
    const samples = {
      read: { path: "/a", offset: 2, byteOffset: 10, limit: 3, version: "v" },
      ls: { path: "/a", limit: 1, offset: 0 },
      find: { path: "/a", pattern: "", exclude: ["b"], limit: 1000, offset: 7 },
      grep: {
        path: "/a",
        query: "x",
        include: ["*.js"],
        exclude: [],
        regex: true,
        ignoreCase: false,
        context: 10,
        outputMode: "count",
        limit: 5,
        offset: 1,
      },
      write: { path: "/a", content: "", ifUnchanged: "v" },
      edit: { path: "/a", edits: [{ oldText: "a", newText: "", replaceAll: true }] },
      delete: { path: "/a", recursive: true },
    };
    for (const tool of tools) {
      const args = tool.prepareArguments(samples[tool.name]);
      assert.deepEqual(args, samples[tool.name]);
      const call = { type: "toolCall", id: "1", name: tool.name, arguments: args };
      assert.deepEqual(validateToolArguments(tool, call), args);
    }
  });

  test("arguments that are made right pass Pi's own check", (t) => {
    const tools = createAgentTools({ workspace: open(t), constrainedSampling: false });
    for (const [name, args] of [
      ["read", { file_path: "/a", offset: "1", limit: "7", version: null }],
      ["read", '{"path": "/a"}'],
      ["ls", { path: "/a", limit: 5000, offset: "0" }],
      ["find", { pattern: "*", exclude: "node_modules", limit: 1e9 }],
      ["grep", { pattern: "x", glob: "*.js", regex: "true", context: 99, output_mode: "Files" }],
      ["write", { path: "/a", contents: "" }],
      ["edit", { path: "/a", oldText: "a", newText: "b" }],
      ["edit", { path: "/a", edits: { old_string: "a", new_string: "b" } }],
      ["edit", { path: "/a", edits: ['{"oldText":"a","newText":"b","replaceAll":null}'] }],
      ["delete", { path: "/a", recursive: "false" }],
    ]) {
      const tool = tools.find((tool) => tool.name === name);
      const made = tool.prepareArguments(args);
      const call = { type: "toolCall", id: "1", name, arguments: made };
      assert.deepEqual(validateToolArguments(tool, call), made, `${name} ${JSON.stringify(args)}`);
    }
  });

  test("approval: a call that is blocked changes nothing", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/a.txt", "one\n");
    const tools = createAgentTools({ workspace });
    const asked = [];
    const { results } = await run(
      tools,
      [
        [["delete", { path: "/workspace/a.txt" }]],
        (results) => {
          assert.match(textOf(results.at(-1)), /The user refused/);
          return [["read", { path: "/workspace/a.txt" }]];
        },
        "done",
      ],
      {
        beforeToolCall: async ({ toolCall, args }) => {
          if (tools.find(({ name }) => name === toolCall.name).replay === "safe") return undefined;
          asked.push([toolCall.name, args]);
          return { block: true, reason: "The user refused." };
        },
      },
    );
    assert.deepEqual(asked, [["delete", { path: "/workspace/a.txt" }]]);
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [true, false],
    );
    assert.ok(await workspace.fs.exists("/workspace/a.txt"));
  });

  test("an abort of the agent ends the call under way", async (t) => {
    const workspace = open(t);
    const body = "x".repeat(1 << 20);
    for (let n = 0; n < 30; n++) await workspace.fs.writeFile(`/workspace/${n}.txt`, `${body}${n}`);
    const { models, model } = scripted([[["grep", { query: "(x+)+y", regex: true }]], "never asked for"]);
    const agent = new Agent({
      initialState: { model, tools: createAgentTools({ workspace }) },
      streamFn: (...args) => models.streamSimple(...args),
    });
    agent.subscribe(({ type }) => {
      if (type === "tool_execution_start") setImmediate(() => agent.abort());
    });
    await agent.prompt("go");
    const [result] = resultsOf(agent.state);
    assert.equal(result.isError, true);
    assert.match(textOf(result), /abort/i);
    assert.equal(agent.state.messages.at(-1).stopReason, "aborted");
  });
});

describe("createToolRegistrations", () => {
  /** What pi-durable does with one call: prepare, check, record the intent, execute. */
  async function perform(tools, name, args, context = {}) {
    const tool = tools.find((tool) => tool.name === name);
    const call = { type: "toolCall", id: "call-1", name, arguments: tool.prepareArguments(args) };
    const api = { callId: "call-1", output() {}, diagnostic() {} };
    return await tool.execute(validateToolArguments(tool, call), api, context);
  }

  test("what may run again is what changes nothing", (t) => {
    const tools = createToolRegistrations({ workspace: open(t) });
    assert.deepEqual(
      tools.filter(({ replay }) => replay === "safe").map(({ name }) => name),
      READING,
    );
    assert.deepEqual(
      tools.filter(({ replay }) => replay === "unsafe").map(({ name }) => name),
      CHANGING,
    );
  });

  test("results have content and output, and are JSON", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/dot.png", PNG);
    const tools = createToolRegistrations({ workspace });
    const written = await perform(tools, "write", { path: "/workspace/a.txt", content: "one\n" });
    assert.equal(written.isError, false);
    assert.equal(written.output, written.content[0].text);
    assert.equal(written.details.bytesWritten, 4);
    const read = await perform(tools, "read", { path: "/workspace/a.txt", limit: null });
    assert.match(read.output, /one/);
    const image = await perform(tools, "read", { path: "/workspace/dot.png" });
    assert.equal(image.content[1].mimeType, "image/png");
    assert.match(image.output, /\n\[image: image\/png\]$/);
    const failed = await perform(tools, "read", { path: "/workspace/b.txt" });
    assert.equal(failed.isError, true);
    assert.equal(failed.details.code, "ENOENT");
    for (const result of [written, read, image, failed]) {
      assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
    }
  });

  test("no page is cut by the harness", async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/long.txt", "line\n".repeat(20_000));
    const tools = createToolRegistrations({ workspace, read: { maxLines: 10_000 } });
    const { output } = await perform(tools, "read", { path: "/workspace/long.txt" });
    for (const { outputLimits } of tools) {
      assert.ok(Buffer.byteLength(output) < outputLimits.maxBytes);
      assert.ok(output.split("\n").length < outputLimits.maxLines);
    }
  });

  test("an aborted context rejects with its reason", async (t) => {
    const tools = createToolRegistrations({ workspace: open(t) });
    const context = { abortSignal: AbortSignal.abort(new Error("shut down")) };
    await assert.rejects(perform(tools, "ls", { path: "/" }, context), { message: "shut down" });
    await assert.rejects(perform(tools, "ls", { path: 5 }), /Invalid arguments for ls/);
  });
});

describe("forPiTools", () => {
  for (const make of [createPiTools, createAgentTools]) {
    test(`binds what ${make.name} makes`, async (t) => {
      const workspace = open(t);
      await workspace.fs.writeFile("/workspace/dot.png", PNG);
      const bindings = forPiTools(make({ workspace }))();
      assert.deepEqual(
        bindings.filter(({ readOnly }) => readOnly).map(({ name }) => name),
        READING,
      );
      assert.deepEqual(
        bindings.filter(({ readOnly }) => !readOnly).map(({ name }) => name),
        CHANGING,
      );
      const call = (name, input, context) => bindings.find((binding) => binding.name === name).call(input, context);
      const written = await call("write", { path: "/workspace/a.txt", content: "one\n" });
      assert.equal(written.isError, false);
      assert.equal(written.details.bytesWritten, 4);
      assert.match((await call("read", { path: "/workspace/a.txt" }, {})).text, /one/);
      assert.match((await call("read", { path: "/workspace/dot.png" })).text, /\n\[image: image\/png\]$/);
      const failed = await call("read", { path: "/workspace/b.txt" });
      assert.equal(failed.isError, true);
      assert.equal(failed.details.code, "ENOENT");
      await assert.rejects(call("ls", { path: "/" }, { signal: AbortSignal.abort(new Error("stop")) }), {
        message: "stop",
      });
    });
  }

  test("prepares, validates and executes foreign tools, anew each time", async () => {
    const calls = [];
    const tool = {
      name: "count",
      description: "counts",
      parameters: { type: "object", properties: { to: { type: "integer" } }, required: ["to"] },
      prepareArguments: (args) => ({ to: args.till }),
      execute: async (id, params, signal) => {
        calls.push([id, params, signal]);
        if (params.to < 0) throw new Error("cannot count down");
        return {
          content: [{ type: "text", text: "1" }, { type: "image", data: "", mimeType: "image/png" }, { type: "audio" }],
          details: { at: new Date(0), nothing: undefined },
          structuredContent: [1],
        };
      },
    };
    let list = [tool];
    const bind = forPiTools(() => list, { validate: validateToolArguments, readOnly: ["count"] });
    const [binding] = bind();
    assert.equal(binding.readOnly, true);
    const { signal } = new AbortController();
    assert.deepEqual(await binding.call({ till: "3" }, { signal }), {
      text: "1\n[image: image/png]\n[audio]",
      isError: false,
      details: { at: "1970-01-01T00:00:00.000Z" },
      structuredContent: [1],
    });
    assert.deepEqual(calls[0].slice(1), [{ to: 3 }, signal]);
    await binding.call({ till: 4 });
    assert.notEqual(calls[0][0], calls[1][0]);
    await assert.rejects(binding.call({ till: "many" }), /Validation failed/);
    await assert.rejects(binding.call({ till: -1 }), { message: "cannot count down" });
    assert.equal(calls.length, 3);
    list = [];
    assert.deepEqual(bind(), []);
    assert.equal(forPiTools([tool])()[0].readOnly, false);
  });
});

describe("docs/pi.md", () => {
  const path = "/workspace/add.js";
  const mend = [
    [["read", { path }]],
    [["edit", { path, edits: [{ oldText: "a - b", newText: "a + b" }] }]],
    "It subtracted. Now it adds.",
  ];
  const tidy = [[["delete", { path: "/workspace/notes.md" }]], "What shall I do instead?"];
  const harness = `export const registry = {
    install({ tools }) {
      if (tools.length !== 7) throw new Error("these are not all");
    },
  };`;
  testSamples("docs/pi.md", ["@earendil-works/pi-ai", "@earendil-works/pi-agent-core"], (index) => ({
    "harness.js": harness,
    "model.js": modelFile([[], mend, tidy, mend][index] ?? []),
  }));

  /** `model.js` of the page, with a model that answers with these steps. */
  function modelFile(steps) {
    return `
      import { createModels, fauxAssistantMessage, fauxProvider, fauxToolCall } from "@earendil-works/pi-ai";
      const faux = fauxProvider();
      export const models = createModels();
      models.setProvider(faux.provider);
      export const model = faux.getModel();
      faux.setResponses(${JSON.stringify(steps)}.map((step) =>
        typeof step === "string"
          ? fauxAssistantMessage(step)
          : fauxAssistantMessage(step.map(([name, args]) => fauxToolCall(name, args)), { stopReason: "toolUse" }),
      ));
    `;
  }
});
