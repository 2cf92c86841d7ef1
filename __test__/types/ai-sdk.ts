// The tools for the AI SDK, against the types of both of its versions. A line marked @ts-expect-error
// must not compile.

import * as v7 from "ai";
import * as v6 from "ai-v6";
import type { Workspace } from "carrel";
import { type AITools, approvals, createAITools, createReadTool, forAISDKTools } from "carrel/tools/ai-sdk";

export async function inVersion7(workspace: Workspace, model: v7.LanguageModel): Promise<void> {
  const tools = createAITools({ workspace, approve: ["write", "delete"], root: "/workspace" });
  const set: v7.ToolSet = tools;
  const { steps } = await v7.generateText({
    model,
    tools,
    toolApproval: approvals(tools),
    stopWhen: v7.isStepCount(3),
    prompt: "go",
  });
  for (const call of steps.flatMap((step) => step.toolCalls)) {
    if (call.dynamic) continue;
    if (call.toolName === "edit") console.log(call.input.edits.map(({ oldText }) => oldText.length));
    // @ts-expect-error: `read` has no edits.
    if (call.toolName === "read") console.log(call.input.edits);
  }
  for (const result of steps.flatMap((step) => step.toolResults)) {
    if (result.dynamic) continue;
    if (result.toolName === "write" && !("error" in result.output)) console.log(result.output.bytesWritten.toFixed());
  }
  new v7.ToolLoopAgent({ model, tools: { ...tools, read: createReadTool({ workspace, read: { maxLines: 100 } }) } });
  forAISDKTools(set, { readOnly: ["lookUp"] })();
}

export async function inVersion6(workspace: Workspace, model: v6.LanguageModel): Promise<void> {
  const tools = createAITools({ workspace, approve: "mutating" });
  const set: v6.ToolSet = tools;
  const { steps } = await v6.generateText({ model, tools, stopWhen: v6.stepCountIs(3), prompt: "go" });
  for (const call of steps.flatMap((step) => step.toolCalls)) {
    if (call.dynamic) continue;
    if (call.toolName === "edit") console.log(call.input.edits.map(({ oldText }) => oldText.length));
    // @ts-expect-error: `read` has no edits.
    if (call.toolName === "read") console.log(call.input.edits);
  }
  for (const result of steps.flatMap((step) => step.toolResults)) {
    if (result.dynamic) continue;
    if (result.toolName === "write" && !("error" in result.output)) console.log(result.output.bytesWritten.toFixed());
  }
  new v6.ToolLoopAgent({ model, tools });
  forAISDKTools(() => set)();
}

export function options(workspace: Workspace): void {
  const reading = createAITools({ workspace, readonly: true });
  reading.grep.execute({ query: "x" }, {});
  // @ts-expect-error: a readonly set has no `write`.
  reading.write;
  const isReadonly: boolean = Math.random() < 0.5;
  const some = createAITools({ workspace, readonly: isReadonly });
  some.write?.execute({ path: "/a", content: "" }, {});
  const sets: [v7.ToolSet, v6.ToolSet] = [some, some];
  console.log(sets);
  const all: AITools = createAITools({ workspace, exec: { javascript: {} }, execOutput: { maxLines: 10 } });
  const outputs: AsyncIterable<object> = all.exec.execute({ command: "1", input: { a: [1] } }, {});
  console.log(outputs);
  // @ts-expect-error: a readonly set has no `exec`.
  reading.exec;
  // @ts-expect-error: there is no such tool.
  createAITools({ workspace, approve: ["wirte"] });
}

type Both = v7.InferUITools<AITools>["read"]["input"] & v6.InferUITools<AITools>["read"]["input"];
export const input: Both = { path: "/workspace/a" };
