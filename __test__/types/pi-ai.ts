// The tools for Pi against the types of the real packages. pi-durable is not to be had here; its
// registration is written out after its source.

import { Agent, type AgentTool, type StreamFn } from "@earendil-works/pi-agent-core";
import {
  type AssistantMessage,
  type Context,
  type JsonValue,
  type Message,
  type Tool,
  type ToolResultMessage,
  validateToolArguments,
} from "@earendil-works/pi-ai";
import type { Workspace } from "carrel";
import {
  createAgentTools,
  createPiTools,
  createToolRegistrations,
  forPiTools,
  type PiToolRegistration,
  type ToolBinding,
} from "carrel/tools/pi-ai";

export async function loop(workspace: Workspace, message: AssistantMessage, signal?: AbortSignal): Promise<Message[]> {
  const pi = createPiTools({ workspace, readonly: false, root: "/workspace", constrainedSampling: "require" });
  const tools: Tool[] = pi.tools;
  const context: Context = { messages: [], tools };
  for (const call of message.content) {
    if (call.type !== "toolCall") continue;
    const result = await pi.execute(call, { abortSignal: signal });
    const { id: toolCallId, name: toolName } = call;
    const answer: ToolResultMessage = { role: "toolResult", toolCallId, toolName, timestamp: Date.now(), ...result };
    context.messages.push(answer);
    if (result.details && "error" in result.details) console.log(result.details.error, result.details.candidates?.[0]);
    if (result.details && "diff" in result.details) console.log(result.details.diff);
  }
  return context.messages;
}

export function options(workspace: Workspace): void {
  createPiTools({ workspace, constrainedSampling: false });
  // @ts-expect-error: there is no such sampling.
  createPiTools({ workspace, constrainedSampling: true });
  // @ts-expect-error: a workspace has to be given.
  createPiTools({});
  // @ts-expect-error: the option is called `readonly`.
  createAgentTools({ workspace, readOnly: true });
}

export function agent(workspace: Workspace, streamFn: StreamFn): Agent {
  const tools: AgentTool[] = createAgentTools({ workspace, requireReadBeforeOverwrite: true });
  return new Agent({
    initialState: { tools: [...tools, ...createAgentTools({ workspace, readonly: true })] },
    streamFn,
    beforeToolCall: async ({ toolCall }) =>
      tools.find(({ name }) => name === toolCall.name)?.replay === "safe" ? undefined : { block: true },
  });
}

/** The `ToolRegistration` of pi-durable, as far as it does not concern its `api`. */
type ToolRegistration<TDetails extends JsonValue = JsonValue> = Tool & {
  readonly replay?: "safe" | "unsafe";
  readonly executionMode?: "parallel" | "sequential";
  prepareArguments?(args: unknown): unknown;
  readonly outputLimits?: {
    readonly maxBytes?: number;
    readonly maxLines?: number;
    readonly retain?: "head" | "tail";
  };
  execute(
    args: unknown,
    api: { readonly callId: string; output(chunk: string): void },
    context: { readonly abortSignal: AbortSignal | undefined },
  ): Promise<{
    readonly content?: ToolResultMessage["content"];
    readonly isError?: boolean;
    readonly details?: TDetails;
  }>;
};

export function durable(workspace: Workspace): readonly ToolRegistration[] {
  const tools: PiToolRegistration[] = createToolRegistrations({ workspace, auditTag: "durable" });
  return tools;
}

export function bindings(workspace: Workspace, foreign: AgentTool[]): ToolBinding[] {
  return [
    ...forPiTools(createPiTools({ workspace }))(),
    ...forPiTools(createAgentTools({ workspace }))(),
    ...forPiTools(foreign, { validate: validateToolArguments, readOnly: ["search"] })(),
    ...forPiTools(() => foreign)(),
  ];
}
