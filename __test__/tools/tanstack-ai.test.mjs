// The tools for TanStack AI, through the real `chat` with a scripted adapter.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chat, maxIterations } from "@tanstack/ai";
import { createTanStackTools, TanStackToolError } from "carrel/tools/tanstack-ai";
import { testSamples } from "../support/library-samples.mjs";
import { PDF, PIXEL as PNG } from "../support/media.mjs";
import { open } from "../support/workspace.mjs";

const READING = ["read", "ls", "find", "grep"];
const CHANGING = ["write", "edit", "delete"];

/**
 * An adapter whose model answers with `steps`: a text, calls, or a function of the results so far that
 * returns one of these. `requests` are the options of each request.
 */
function scripted(steps) {
  const left = [...steps];
  const requests = [];
  let ids = 0;
  return {
    kind: "text",
    name: "scripted",
    model: "scripted",
    "~types": {},
    requests,
    left,
    structuredOutput: async () => assert.fail("nothing structured was asked for"),
    async *chatStream(options) {
      requests.push(options);
      const next = left.shift();
      const step = typeof next === "function" ? next(resultsOf(options.messages)) : next;
      const event = (type, more) => ({ type, timestamp: Date.now(), ...more });
      const run = { runId: options.runId ?? "run", threadId: options.threadId ?? "thread" };
      yield event("RUN_STARTED", run);
      if (typeof step === "string") {
        yield event("TEXT_MESSAGE_START", { messageId: "text", role: "assistant" });
        yield event("TEXT_MESSAGE_CONTENT", { messageId: "text", delta: step });
        yield event("TEXT_MESSAGE_END", { messageId: "text" });
        yield event("RUN_FINISHED", { ...run, finishReason: "stop" });
        return;
      }
      for (const [index, [name, args]] of step.entries()) {
        const toolCallId = `call-${ids++}`;
        yield event("TOOL_CALL_START", { toolCallId, toolCallName: name, toolName: name, index });
        yield event("TOOL_CALL_ARGS", { toolCallId, delta: typeof args === "string" ? args : JSON.stringify(args) });
        yield event("TOOL_CALL_END", { toolCallId });
      }
      yield event("RUN_FINISHED", { ...run, finishReason: "tool_calls" });
    },
  };
}

/** What was given to the model for its calls, in order. */
const resultsOf = (messages) => messages.filter(({ role }) => role === "tool").map(({ content }) => content);

const go = [{ role: "user", content: "go" }];

/** Runs `chat`; resolves with its events, and the results that the model had been given in the end. */
async function converse(tools, steps, options = {}) {
  const adapter = scripted(steps);
  const events = [];
  const stream = chat({ adapter, messages: go, tools, agentLoopStrategy: maxIterations(20), ...options });
  for await (const event of stream) events.push(event);
  return { events, adapter, results: resultsOf(adapter.requests.at(-1).messages) };
}

const ofType = (events, type) => events.filter((event) => event.type === type);
const isErrorEvent = (event) => event.metadata?.tanstack?.state === "output-error";

test("tools come as a list or by name", (t) => {
  const workspace = open(t);
  const list = createTanStackTools({ workspace });
  assert.deepEqual(
    list.map(({ name }) => name),
    [...READING, ...CHANGING],
  );
  assert.deepEqual(
    createTanStackTools({ workspace, format: "array", readonly: true }).map(({ name }) => name),
    READING,
  );
  const named = createTanStackTools({ workspace, format: "object" });
  assert.deepEqual(Object.keys(named), [...READING, ...CHANGING]);
  for (const [name, tool] of Object.entries(named)) assert.equal(tool.name, name);
  assert.deepEqual(
    Object.values(named).map(({ description }) => description),
    list.map(({ description }) => description),
  );
});

test("approve and lazy mark the tools that they name", (t) => {
  const workspace = open(t);
  const marked = (options, field) =>
    createTanStackTools({ workspace, ...options })
      .filter((tool) => tool[field])
      .map(({ name }) => name);
  for (const [approve, expected] of [
    [undefined, []],
    [null, []],
    [[], []],
    ["mutating", CHANGING],
    [
      ["delete", "read"],
      ["read", "delete"],
    ],
  ]) {
    assert.deepEqual(marked({ approve }, "needsApproval"), expected);
  }
  assert.deepEqual(marked({ approve: "mutating", readonly: true }, "needsApproval"), []);
  assert.deepEqual(marked({ approve: ["write"], readonly: true }, "needsApproval"), []);
  assert.deepEqual(marked({ lazy: "all" }, "lazy"), [...READING, ...CHANGING]);
  assert.deepEqual(marked({ lazy: ["grep"] }, "lazy"), ["grep"]);
  assert.deepEqual(marked({}, "lazy"), []);
});

test("refuses options that there are not", (t) => {
  const workspace = open(t);
  for (const options of [
    { format: "map" },
    { approve: "all" },
    { approve: ["wrte"] },
    { approve: ["toString"] },
    { lazy: "mutating" },
    { lazy: ["publish"] },
    { approves: "mutating" },
  ]) {
    assert.throws(() => createTanStackTools({ workspace, ...options }), { name: "WorkspaceError", code: "EINVAL" });
  }
  assert.throws(() => createTanStackTools({ workspace, streamEventName: 1 }), { code: "ERR_INVALID_ARG_TYPE" });
  createTanStackTools({ workspace, streamEventName: "output" });
  for (const options of [undefined, null, {}, { workspace: {} }]) {
    assert.throws(() => createTanStackTools(options), { code: "ERR_INVALID_ARG_TYPE" });
  }
});

test("a model finds, reads, edits, is refused, and recovers", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/src");
  await workspace.fs.writeFile("/workspace/src/add.js", "export const add = (a, b) => a - b;\n");
  const wrong = "export const add = (a, b) => a * b;";
  const { events, results, adapter } = await converse(createTanStackTools({ workspace }), [
    [["find", { pattern: "**/*.js" }]],
    [["grep", { query: "a - b" }]],
    [["read", { path: "/workspace/src/ad.js" }]],
    (results) => {
      assert.match(JSON.parse(results.at(-1)).error, /add\.js/);
      return [["read", { path: "/workspace/src/add.js" }]];
    },
    [["edit", { path: "/workspace/src/add.js", edits: [{ oldText: wrong, newText: "" }] }]],
    (results) => {
      assert.match(JSON.parse(results.at(-1)).error, /a - b/);
      return [["edit", { path: "/workspace/src/add.js", edits: [{ oldText: "a - b", newText: "a + b" }] }]];
    },
    [
      ["write", { path: "/workspace/test/add.js", content: "add(1, 2) === 3;\n" }],
      ["ls", { path: "/workspace/test" }],
      ["delete", { path: "/workspace/test", recursive: true }],
    ],
    "done",
  ]);
  assert.equal(adapter.left.length, 0);
  assert.deepEqual(
    adapter.requests[0].tools.map(({ name }) => name),
    [...READING, ...CHANGING],
  );
  const [find, grep, , read, , edit, write, ls, deleted] = results;
  assert.equal(JSON.parse(find).entries[0].path, "/workspace/src/add.js");
  assert.equal(JSON.parse(grep).matches[0].line, 1);
  assert.match(read, /^1\texport const add = \(a, b\) => a - b;/);
  assert.equal(JSON.parse(edit).editsApplied, 1);
  assert.equal(JSON.parse(write).existed, false);
  assert.equal(JSON.parse(ls).entries[0].name, "add.js");
  assert.deepEqual(JSON.parse(deleted), { deleted: "/workspace/test", existed: true });
  assert.equal(await workspace.fs.readFile("/workspace/src/add.js", "utf8"), "export const add = (a, b) => a + b;\n");
  assert.deepEqual(ofType(events, "TOOL_CALL_RESULT").map(isErrorEvent), [
    false,
    false,
    true,
    false,
    true,
    false,
    false,
    false,
    false,
  ]);
  assert.deepEqual(ofType(events, "RUN_ERROR"), []);
});

test("middleware is given a failure with all its fields", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a.txt", "one line of text\n");
  const infos = [];
  await converse(
    createTanStackTools({ workspace }),
    [
      [["edit", { path: "/workspace/a.txt", edits: [{ oldText: "one line of test", newText: "2" }] }]],
      [["edit", { path: "/workspace/a.txt", edits: [{ oldText: "one line of text", newText: "1" }] }]],
      "done",
    ],
    { middleware: [{ name: "look", onAfterToolCall: (_, info) => void infos.push(info) }] },
  );
  assert.deepEqual(
    infos.map(({ ok }) => ok),
    [false, true],
  );
  const { error } = infos[0];
  assert.ok(error instanceof TanStackToolError);
  assert.equal(error.code, "ENOMATCH");
  assert.equal(error.failure.code, "ENOMATCH");
  assert.equal(error.failure.nearest.startLine, 1);
  assert.equal(infos[1].result.editsApplied, 1);
});

test("a text reaches the model as it is, whatever is in it", async (t) => {
  const workspace = open(t);
  const texts = [
    '{\n  "name": "x",\n  "version": "1.0.0"\n}\n',
    "[1, 2,   3]",
    '"quoted"',
    "1e3",
    "null",
    '{"pendingExecution": true}',
    '{"error": "no error"}',
    '[{"type": "text", "content": "a part"}]',
    "plain\ttext\n",
    "\n",
    "",
  ];
  const path = (index) => `/workspace/${index}.txt`;
  for (const [index, text] of texts.entries()) await workspace.fs.writeFile(path(index), text);
  const tools = createTanStackTools({ workspace, read: { includeLineNumbers: false } });
  const { results, adapter } = await converse(tools, [
    texts.map((_, index) => ["read", { path: path(index) }]),
    texts.map((text, index) => ["edit", { path: path(index), edits: [{ oldText: text, newText: "new" }] }]),
    "done",
  ]);
  assert.equal(adapter.left.length, 0);
  const contentOf = (result) => {
    try {
      return JSON.parse(result).content;
    } catch {
      return result;
    }
  };
  const trimmed = (text) => text.replace(/\n$/, "");
  assert.deepEqual(
    results.slice(0, texts.length).map((result) => trimmed(contentOf(result))),
    texts.map(trimmed),
  );
});

test("pages, put together, are the file", async (t) => {
  const workspace = open(t);
  const text = Array.from({ length: 25 }, (_, index) => `line ${index + 1}`).join("\n");
  await workspace.fs.writeFile("/workspace/long.txt", text);
  const tools = createTanStackTools({ workspace, read: { maxLines: 10, includeLineNumbers: false } });
  const next = (results) => {
    const { nextOffset: offset, nextByteOffset: byteOffset, version } = JSON.parse(results.at(-1));
    return [["read", { path: "/workspace/long.txt", offset, byteOffset, version }]];
  };
  const { results } = await converse(tools, [[["read", { path: "/workspace/long.txt" }]], next, next, "done"]);
  const pages = results.map((result) => JSON.parse(result));
  assert.equal(pages.map(({ content }) => content).join("\n"), text);
  assert.deepEqual(
    pages.map(({ truncated }) => truncated),
    [true, true, false],
  );
});

test("images and PDFs are content parts", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/dot.png", PNG);
  await workspace.fs.writeFile("/workspace/paper.pdf", PDF);
  const { results } = await converse(createTanStackTools({ workspace }), [
    [
      ["read", { path: "/workspace/dot.png" }],
      ["read", { path: "/workspace/paper.pdf" }],
    ],
    "done",
  ]);
  for (const [[text, media], type, mimeType, bytes] of [
    [results[0], "image", "image/png", PNG],
    [results[1], "document", "application/pdf", PDF],
  ]) {
    assert.equal(text.type, "text");
    assert.match(text.content, new RegExp(mimeType));
    assert.deepEqual(media, { type, source: { type: "data", value: bytes.toString("base64"), mimeType } });
  }
});

test("arguments that are meant well are taken, wrong ones are refused with a sentence", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a.txt", "one\ntwo\n");
  const { results, events } = await converse(createTanStackTools({ workspace }), [
    [["read", { path: "/workspace/a.txt", offset: null, limit: "1" }]],
    [["edit", { path: "/workspace/a.txt", edits: '[{"oldText":"two","newText":"2"}]' }]],
    [
      ["read", { path: 5 }],
      ["read", '{"path": "/workspace'],
      ["read", "[]"],
    ],
    "done",
  ]);
  assert.equal(JSON.parse(results[0]).endLine, 1);
  assert.equal(JSON.parse(results[1]).editsApplied, 1);
  assert.match(JSON.parse(results[2]).error, /read.*path/);
  assert.match(JSON.parse(results[3]).error, /JSON/);
  assert.match(JSON.parse(results[4]).error, /read.*an object/);
  assert.deepEqual(ofType(events, "TOOL_CALL_RESULT").map(isErrorEvent), [false, false, true, true, true]);
  assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "one\n2\n");
});

/** Runs until a person is asked; resolves with what is needed to go on. */
async function untilAsked(tools, steps) {
  const { events, adapter } = await converse(tools, steps);
  const finished = ofType(events, "RUN_FINISHED").at(-1);
  assert.equal(finished.outcome.type, "interrupt");
  return {
    adapter,
    interrupts: finished.outcome.interrupts,
    messages: ofType(events, "MESSAGES_SNAPSHOT").at(-1).messages,
    parentRunId: finished.runId,
    threadId: finished.threadId,
  };
}

for (const [answer, payload, left, words] of [
  ["approved", { approved: true }, false, /"existed":true/],
  ["refused", { approved: false }, true, /declined/],
  ["approved for another path", { approved: true, editedArgs: { path: "/workspace/b.txt" } }, true, /"existed":false/],
]) {
  test(`approval: a delete that is ${answer}`, async (t) => {
    const workspace = open(t);
    await workspace.fs.writeFile("/workspace/a.txt", "one\n");
    await workspace.fs.writeFile("/workspace/dot.png", PNG);
    const tools = createTanStackTools({ workspace, approve: "mutating" });
    const { interrupts, ...asked } = await untilAsked(tools, [
      [["read", { path: "/workspace/dot.png" }]],
      [["delete", { path: "/workspace/a.txt" }]],
    ]);
    assert.equal(interrupts.length, 1);
    assert.ok(await workspace.fs.exists("/workspace/a.txt"));
    const { messages, parentRunId, threadId } = asked;
    const { results, events } = await converse(tools, ["done"], {
      messages,
      parentRunId,
      threadId,
      resume: [{ interruptId: interrupts[0].id, status: "resolved", payload }],
    });
    assert.deepEqual(ofType(events, "RUN_ERROR"), []);
    assert.equal(await workspace.fs.exists("/workspace/a.txt"), left);
    assert.match(results.at(-1), words);
    // The image of the run before is still there for the model.
    assert.match(JSON.stringify(results[0]), new RegExp(PNG.toString("base64").replaceAll("+", "\\+")));
  });
}

test("approval: with wrong arguments nothing is called", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a.txt", "one\n");
  const tools = createTanStackTools({ workspace, approve: ["delete"] });
  const { interrupts, messages, parentRunId, threadId } = await untilAsked(tools, [
    [["delete", { path: "/workspace/a.txt" }]],
  ]);
  const payload = { approved: true, editedArgs: { path: 5 } };
  const adapter = scripted([]);
  const resume = [{ interruptId: interrupts[0].id, status: "resolved", payload }];
  const events = [];
  for await (const event of chat({ adapter, tools, messages, parentRunId, threadId, resume, debug: false })) {
    events.push(event);
  }
  assert.match(ofType(events, "RUN_ERROR")[0].message, /arguments are invalid: .*path/);
  assert.equal(adapter.requests.length, 0);
  assert.ok(await workspace.fs.exists("/workspace/a.txt"));
});

test("lazy tools are found and used", async (t) => {
  const workspace = open(t);
  const tools = createTanStackTools({ workspace, lazy: ["write"] });
  const { adapter } = await converse(tools, [
    [["__lazy__tool__discovery__", { toolNames: ["write"] }]],
    (results) => {
      const [found] = JSON.parse(results.at(-1)).tools;
      assert.equal(found.name, "write");
      assert.deepEqual(found.inputSchema.required, ["path", "content"]);
      return [["write", { path: "/workspace/a.txt", content: "one\n" }]];
    },
    "done",
  ]);
  const offered = adapter.requests.map(({ tools }) => tools.some(({ name }) => name === "write"));
  assert.deepEqual(offered, [false, true, true]);
  assert.equal(await workspace.fs.readFile("/workspace/a.txt", "utf8"), "one\n");
});

test("an abort of the run ends the call under way", async (t) => {
  const workspace = open(t);
  const body = "x".repeat(1 << 20);
  for (let n = 0; n < 30; n++) await workspace.fs.writeFile(`/workspace/${n}.txt`, `${body}${n}`);
  const abortController = new AbortController();
  const tools = createTanStackTools({ workspace });
  const grep = tools.find(({ name }) => name === "grep");
  let ended;
  const watched = {
    ...grep,
    execute: (input, context) => {
      const call = grep.execute(input, context);
      ended = call.then(
        () => "result",
        (error) => error,
      );
      setImmediate(() => abortController.abort(new Error("the user went away")));
      return call;
    },
  };
  const { adapter } = await converse([watched], [[["grep", { query: "(x+)+y", regex: true }]], "never asked for"], {
    abortController,
  });
  const reason = await ended;
  assert.ok(reason instanceof Error && !(reason instanceof TanStackToolError), String(reason));
  assert.equal(adapter.requests.length, 1);
});

test("execute rejects with the failure, the signal's reason, and after close()", async (t) => {
  const workspace = open(t);
  const { read, ls, write } = createTanStackTools({ workspace, format: "object" });
  await assert.rejects(read.execute({ path: "/workspace/none" }), (error) => {
    assert.ok(error instanceof TanStackToolError);
    assert.equal(error.code, "ENOENT");
    assert.ok(error.message.includes(error.failure.error));
    return true;
  });
  await assert.rejects(ls.execute({ path: 5 }), { name: "TanStackToolError", code: "EINVAL" });
  const aborted = { abortSignal: AbortSignal.abort(new Error("stop")) };
  await assert.rejects(write.execute({ path: "/workspace/a", content: "" }, aborted), { message: "stop" });
  assert.equal(await workspace.fs.exists("/workspace/a"), false);
  await workspace.close();
  await assert.rejects(ls.execute({ path: "/" }), { code: "ECLOSED" });
});

test("output schemas describe what the tools give, and take everything", async (t) => {
  const workspace = open(t);
  const tools = createTanStackTools({ workspace, format: "object" });
  assert.deepEqual(
    Object.values(tools)
      .filter((tool) => "outputSchema" in tool)
      .map(({ name }) => name),
    CHANGING,
  );
  const path = "/workspace/a.txt";
  const outputs = {
    write: [
      await tools.write.execute({ path, content: "one\n" }),
      await tools.write.execute({ path, content: "two\n" }),
    ],
    edit: [
      await tools.edit.execute({ path, edits: [{ oldText: "two", newText: "2" }] }),
      await createTanStackTools({ workspace, format: "object", edit: { maxDiffLines: 1 } }).edit.execute({
        path,
        edits: [{ oldText: "2\n", newText: "1\n2\n3\n" }],
      }),
    ],
    delete: [await tools.delete.execute({ path }), await tools.delete.execute({ path })],
  };
  for (const name of CHANGING) {
    const { validate, jsonSchema } = tools[name].outputSchema["~standard"];
    for (const output of outputs[name]) assert.deepEqual(problemsOf(jsonSchema.output(), output, name), []);
    for (const value of [undefined, null, 1, { error: "x" }]) assert.deepEqual(validate(value), { value });
  }
});

/** What is not as a JSON Schema says, as far as the output schemas go. */
function problemsOf(schema, value, at) {
  if (schema.type === "array") return value.flatMap((item, index) => problemsOf(schema.items, item, `${at}[${index}]`));
  if (schema.type !== "object") {
    const is = schema.type === "integer" ? Number.isInteger(value) : typeof value === schema.type;
    return is ? [] : [`${at} is no ${schema.type}`];
  }
  return [
    ...schema.required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, field]) =>
      name in schema.properties ? problemsOf(schema.properties[name], field, `${at}.${name}`) : [`${at}.${name}?`],
    ),
  ];
}

describe("docs/tanstack-ai.md", () => {
  const path = "/workspace/add.js";
  const mend = [
    [["read", { path }]],
    [["edit", { path, edits: [{ oldText: "a - b", newText: "a + b" }] }]],
    "It subtracted. Now it adds.",
  ];
  const remove = [[["delete", { path: "/workspace/old.txt" }]], "Done."];
  const look = [[["read", { path: "/workspace/README.md" }]], "There is none."];
  testSamples("docs/tanstack-ai.md", ["@tanstack/ai"], (index) => ({
    "adapter.js": `${scripted}
      const resultsOf = ${resultsOf};
      export const adapter = scripted(${JSON.stringify([mend, [], remove, look][index])});
    `,
  }));
});
