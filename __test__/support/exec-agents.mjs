// Agents of all libraries that there are adapters for, each with a scripted model, behind one interface.
//
// `run(workspace, steps, options)` has a model make calls, one a step: `[tool, arguments]`, or a function of
// what it was told so far, a list of texts, that returns one. `options.onUpdate` is given what a person is shown
// of a call that goes on, `options.signal` ends the conversation, and `options.tools` are those of the tools.
// It resolves with `told`, the texts that the model was given, `schemas`, the tools that it was offered by name,
// and what else the agent has for a person: `finals`, the outputs of the calls.

import assert from "node:assert/strict";
import { Agent } from "@earendil-works/pi-agent-core";
import { createModels, fauxAssistantMessage, fauxProvider, fauxToolCall } from "@earendil-works/pi-ai";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { tool as openCodeTool } from "@opencode-ai/plugin/tool";
import { chat, maxIterations } from "@tanstack/ai";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import * as ai6 from "ai-v6";
import { MockLanguageModelV3 } from "ai-v6/test";
import { createAITools } from "carrel/tools/ai-sdk";
import { createMcpServer } from "carrel/tools/mcp";
import { createOpenCodePlugin, createOpenCodeTransform } from "carrel/tools/opencode";
import { createAgentTools, createPiTools } from "carrel/tools/pi-ai";
import { createTanStackTools } from "carrel/tools/tanstack-ai";

/** What a text says as JSON; a file that was read is none. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const resolve = (step, told) => (typeof step === "function" ? step(told) : step);
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function aiSDK(ai, Model) {
  return async (workspace, steps, { tools: options, onUpdate, signal } = {}) => {
    const tools = createAITools({ workspace, ...options });
    const toldIn = (prompt) =>
      prompt
        .filter(({ role }) => role === "tool")
        .flatMap(({ content }) => content)
        .map(({ output: { value } }) => (typeof value === "string" ? value : JSON.stringify(value)));
    let step = 0;
    const doStream = async ({ prompt }) => {
      const next = steps[step];
      step += 1;
      const [toolName, input] = next === undefined ? [] : resolve(next, toldIn(prompt));
      const unified = toolName ? "tool-calls" : "stop";
      const part = { type: "tool-call", toolCallId: `call-${step}`, toolName, input: JSON.stringify(input) };
      return {
        stream: ReadableStream.from([
          { type: "stream-start", warnings: [] },
          ...(toolName ? [part] : []),
          { type: "finish", finishReason: { unified, raw: unified }, usage },
        ]),
      };
    };
    const model = new Model({ doStream });
    const messages = [{ role: "user", content: "go" }];
    const stopWhen = ai.stepCountIs(20);
    const result = ai.streamText({ model, tools, messages, stopWhen, abortSignal: signal, onError() {} });
    const finals = [];
    for await (const part of result.fullStream) {
      if (part.type !== "tool-result") continue;
      if (part.preliminary) onUpdate?.(part.output);
      else finals.push(part.output);
    }
    const offered = model.doStreamCalls[0].tools;
    return {
      told: toldIn(model.doStreamCalls.at(-1).prompt),
      schemas: Object.fromEntries(offered.map((tool) => [tool.name, { ...tool, schema: tool.inputSchema }])),
      finals,
    };
  };
}

/** A model of Pi that answers with `steps`. */
function piModel(steps) {
  const faux = fauxProvider({ models: [{ id: "scripted", input: ["text", "image"] }] });
  const models = createModels();
  models.setProvider(faux.provider);
  const answers = [...steps, undefined].map((step, index) => (context) => {
    if (step === undefined) return fauxAssistantMessage("done");
    const [name, args] = resolve(step, piTold(context.messages));
    return fauxAssistantMessage([fauxToolCall(name, args, { id: `call-${index}` })], { stopReason: "toolUse" });
  });
  faux.setResponses(answers);
  return { models, model: faux.getModel() };
}

const piSchemas = (tools) => Object.fromEntries(tools.map((tool) => [tool.name, { ...tool, schema: tool.parameters }]));

const piResults = (messages) => messages.filter(({ role }) => role === "toolResult");
const piTold = (messages) => piResults(messages).map(({ content }) => content.map(({ text }) => text).join(""));

async function piAI(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const pi = createPiTools({ workspace, ...options });
  const { models, model } = piModel(steps);
  const messages = [{ role: "user", content: "go", timestamp: 1 }];
  while (!signal?.aborted) {
    const message = await models.complete(model, { messages, tools: pi.tools });
    assert.notEqual(message.stopReason, "error", message.errorMessage);
    messages.push(message);
    const calls = message.content.filter(({ type }) => type === "toolCall");
    if (calls.length === 0) break;
    for (const call of calls) {
      const shown = onUpdate && (({ details }) => onUpdate(details));
      const result = await pi.execute(call, { abortSignal: signal, onUpdate: shown });
      messages.push({ role: "toolResult", toolCallId: call.id, toolName: call.name, timestamp: 1, ...result });
    }
  }
  return {
    told: piTold(messages),
    schemas: piSchemas(pi.tools),
    finals: piResults(messages).map(({ details }) => details),
  };
}

async function piAgent(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const { models, model } = piModel(steps);
  const tools = createAgentTools({ workspace, ...options });
  const agent = new Agent({ initialState: { model, tools }, streamFn: (...args) => models.streamSimple(...args) });
  agent.subscribe((event) => {
    if (event.type === "tool_execution_update") onUpdate?.(event.partialResult.details);
  });
  signal?.addEventListener("abort", () => agent.abort());
  await agent.prompt("go");
  const { messages } = agent.state;
  return {
    told: piTold(messages),
    schemas: piSchemas(tools),
    finals: piResults(messages).map(({ details }) => details),
  };
}

async function tanStack(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const streamEventName = "exec-output";
  const tools = createTanStackTools({ workspace, streamEventName, ...options });
  const toldIn = (messages) => messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  const requests = [];
  const adapter = {
    kind: "text",
    name: "scripted",
    model: "scripted",
    "~types": {},
    structuredOutput: async () => assert.fail("nothing structured was asked for"),
    async *chatStream(request) {
      const next = steps[requests.length];
      requests.push(request);
      const event = (type, more) => ({ type, timestamp: 1, ...more });
      const ids = { runId: request.runId ?? "run", threadId: request.threadId ?? "thread" };
      yield event("RUN_STARTED", ids);
      if (next !== undefined) {
        const [name, args] = resolve(next, toldIn(request.messages));
        const toolCallId = `call-${requests.length}`;
        yield event("TOOL_CALL_START", { toolCallId, toolCallName: name, toolName: name, index: 0 });
        yield event("TOOL_CALL_ARGS", { toolCallId, delta: JSON.stringify(args) });
        yield event("TOOL_CALL_END", { toolCallId });
      }
      yield event("RUN_FINISHED", { ...ids, finishReason: next === undefined ? "stop" : "tool_calls" });
    },
  };
  const abortController = new AbortController();
  signal?.addEventListener("abort", () => abortController.abort());
  const messages = [{ role: "user", content: "go" }];
  const agentLoopStrategy = maxIterations(20);
  for await (const event of chat({ adapter, messages, tools, agentLoopStrategy, abortController })) {
    if (event.type !== "CUSTOM" || event.name !== streamEventName) continue;
    assert.match(event.value.toolCallId, /^call-/);
    onUpdate?.(event.value.snapshot);
  }
  const told = toldIn(requests.at(-1).messages);
  return {
    told,
    schemas: Object.fromEntries(requests[0].tools.map((tool) => [tool.name, { ...tool, schema: tool.inputSchema }])),
    finals: told.map(parsed),
  };
}

/** Makes calls one after the other, as a host does whose model is the script. */
async function callEach(steps, signal, call) {
  const told = [];
  const finals = [];
  for (const step of steps) {
    if (signal?.aborted) break;
    const [name, args] = resolve(step, told);
    const { text, output } = await call(name, args).catch((error) => ({ text: error.message }));
    told.push(text);
    finals.push(output);
  }
  return { told, finals };
}

async function openCode1(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const hooks = await createOpenCodePlugin({ workspace, ...options })({ directory: "/" }, {});
  const done = await callEach(steps, signal, async (name, args) => {
    const { output: text } = await hooks.tool[name].execute(args, {
      abort: signal ?? new AbortController().signal,
      ask: async () => {},
      metadata: (shown) => onUpdate?.({ stdout: shown.metadata.output, exitCode: null }),
    });
    return { text, output: parsed(text) };
  });
  const schemas = Object.entries(hooks.tool).map(([name, { description, args }]) => {
    const schema = openCodeTool.schema.toJSONSchema(openCodeTool.schema.object(args), { io: "input" });
    return [name, { name, description, schema }];
  });
  return { ...done, schemas: Object.fromEntries(schemas) };
}

async function openCode2(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const tools = new Map();
  createOpenCodeTransform({ workspace, ...options })({
    add: (added) => tools.set(added.name, added),
    remove: (id) => tools.delete(id),
  });
  const done = await callEach(steps, signal, async (name, args) => {
    const progress = async ({ output }) => onUpdate?.({ stdout: output, exitCode: null });
    const [{ text }] = (await tools.get(name).execute(args, { signal, progress })).content;
    return { text, output: parsed(text) };
  });
  const schemas = [...tools.values()].map((tool) => [tool.name, { ...tool, schema: tool.input }]);
  return { ...done, schemas: Object.fromEntries(schemas) };
}

async function mcp(workspace, steps, { tools: options, onUpdate, signal } = {}) {
  const server = createMcpServer({ workspace, ...options });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  let last = 0;
  const onprogress = ({ progress, message }) => {
    assert.ok(progress > last, "progress goes up");
    last = progress;
    onUpdate?.({ stdout: message, exitCode: null });
  };
  const { tools } = await client.listTools();
  const done = await callEach(steps, signal, async (name, args) => {
    last = 0;
    const result = await client.callTool({ name, arguments: args }, { onprogress, signal });
    return { text: result.content[0].text, output: result.structuredContent };
  });
  await client.close();
  const schemas = tools.map((tool) => [tool.name, { ...tool, schema: tool.inputSchema }]);
  return { ...done, schemas: Object.fromEntries(schemas) };
}

/** The agents by name. */
export const AGENTS = {
  "AI SDK 7": aiSDK(ai7, MockLanguageModelV4),
  "AI SDK 6": aiSDK(ai6, MockLanguageModelV3),
  "pi-ai": piAI,
  "pi-agent-core": piAgent,
  "TanStack AI": tanStack,
  "OpenCode 1": openCode1,
  "OpenCode 2": openCode2,
  MCP: mcp,
};
