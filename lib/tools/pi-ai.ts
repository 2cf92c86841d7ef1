/**
 * The tools for Pi: its model API (`@earendil-works/pi-ai`), its agent loop
 * (`@earendil-works/pi-agent-core`) and its durable harness (`@earendil-works/pi-durable`).
 *
 * Nothing of Pi is imported. What is declared here has the structure of Pi's types, so that each of
 * its packages can be used without the others.
 *
 * @packageDocumentation
 */

import { randomUUID } from "node:crypto";
import { WorkspaceError } from "../errors.js";
import { base64 } from "./base64.js";
import type { ToolBinding, ToolBindingResult } from "./bindings.js";
import type { JSONObject, JSONValue, ToolJSONSchema } from "./schema.js";
import { createToolSet, type Tool, type ToolSet } from "./tool-set.js";
import type { ExecOutput, ToolFailure, ToolName, ToolOutcome, ToolOutputs, ToolSetOptions } from "./types.js";

export type * from "./bindings.js";

/** Whether a provider is to hold the model to the schemas while it writes arguments. */
export interface PiDeclarationOptions {
  /**
   * `"prefer"`: where the provider can; `"require"`: a request fails where it cannot, so this is for
   * one pinned model; `false`: never. It is asked for on `read`, `write` and `edit`.
   * @defaultValue `"prefer"`
   */
  constrainedSampling?: "prefer" | "require" | false;
}

/** How the tools are made. */
export interface CreatePiToolsOptions extends ToolSetOptions, PiDeclarationOptions {}

/** A declaration, as `context.tools` of pi-ai takes it. */
export interface PiTool {
  name: ToolName;
  description: string;
  /** JSON Schema. */
  parameters: ToolJSONSchema;
  constrainedSampling?: { type: "json_schema"; strict: "prefer" | "require" };
}

/** A call, as it stands in the content of pi-ai's assistant message. */
export interface PiToolCall {
  id: string;
  name: string;
  arguments?: unknown;
  /** What Pi found wrong with the text of the arguments. */
  argumentsError?: string;
}

/** A piece of a result. */
export type PiContent = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** The output or the failure of a tool, as Pi's types want JSON. */
export type PiDetails<Name extends ToolName = ToolName> = Plain<ToolOutputs[Name] | ToolFailure>;

type Plain<T> = T extends JSONValue ? T : T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T;

/** What a call gives: a `toolResult` message but for its `role`, `toolCallId`, `toolName` and `timestamp`. */
export interface PiToolResult {
  content: PiContent[];
  isError: boolean;
  /** The output or the failure, for people and programs; absent if the tool could not be called. */
  details?: PiDetails;
}

/** What `createPiTools` makes. */
export interface CreatePiToolsResult {
  /** For `context.tools`. */
  tools: PiTool[];
  /**
   * Makes a call, and never rejects: wrong arguments, an unknown tool, an abort and everything that
   * can go wrong with files are a result with `isError`. Arguments need no check before.
   */
  execute(call: PiToolCall, context?: PiCallContext): Promise<PiToolResult>;
}

/** What a call of `createPiTools` may be given. */
export interface PiCallContext {
  /** Ends the call. */
  abortSignal?: AbortSignal | undefined;
  /** Is given what `exec` has to show while its code runs. */
  onUpdate?: ((partial: PiAgentToolResult) => void) | undefined;
}

/**
 * The tools as declarations for pi-ai, and a function that makes their calls, for a loop of your own.
 *
 * Throws as {@link createToolSet} does, and `EINVAL` for a `constrainedSampling` that there is not.
 *
 * @example
 * ```js
 * const pi = createPiTools({ workspace });
 * const message = await models.complete(model, { messages, tools: pi.tools });
 * messages.push(message);
 * for (const call of message.content.filter(({ type }) => type === "toolCall")) {
 *   const result = await pi.execute(call);
 *   messages.push({ role: "toolResult", toolCallId: call.id, toolName: call.name, timestamp: Date.now(), ...result });
 * }
 * ```
 */
export function createPiTools(options: CreatePiToolsOptions): CreatePiToolsResult {
  const { set, declarations } = prepare(options);
  return {
    tools: declarations.map(({ declaration }) => declaration),
    execute: async (call, context) => {
      try {
        return await execute(set, call, context);
      } catch (thrown) {
        return errorResult(thrown instanceof Error ? thrown.message : String(thrown));
      }
    },
  };
}

/** What a tool gives to Pi's agent loop. */
export interface PiAgentToolResult {
  content: PiContent[];
  /** The output or the failure, for people and programs. */
  details: PiDetails;
  isError: boolean;
}

/** An `AgentTool` of pi-agent-core. */
export interface PiAgentTool extends PiTool {
  /** A few words for people. */
  label: string;
  /** Makes right what is meant; throws for arguments that are wrong. */
  prepareArguments(args: unknown): JSONObject;
  /** Rejects with the reason of the signal, and with `ECLOSED` after `close()`; all else is a result. */
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: PiAgentToolResult) => void,
  ): Promise<PiAgentToolResult>;
  /** `"sequential"` for what changes files, so that a turn that changes and reads does so in its order. */
  executionMode: "sequential" | "parallel";
  /** `"safe"` for what changes nothing. */
  replay: "safe" | "never";
}

/**
 * The tools for the agent loop of `@earendil-works/pi-agent-core`, version 1.
 *
 * Throws as {@link createPiTools} does.
 *
 * @example
 * ```js
 * const agent = new Agent({ initialState: { model, tools: createAgentTools({ workspace }) }, streamFn });
 * ```
 */
export function createAgentTools(options: CreatePiToolsOptions): PiAgentTool[] {
  const { set, declarations } = prepare(options);
  return declarations.map(({ tool, declaration }) =>
    extend(tool, declaration, {
      label: tool.title,
      prepareArguments: (args: unknown) => prepareArguments(tool, args),
      execute: async (_: string, params: unknown, signal?: AbortSignal, onUpdate?: PiCallContext["onUpdate"]) =>
        resultOf(await set.execute(tool.name, params, { signal, onUpdate: partial(onUpdate) })),
      executionMode: executionMode(tool),
      replay: tool.isReadOnly ? "safe" : "never",
    } as const),
  );
}

/** A `ToolRegistration` of pi-durable. */
export interface PiToolRegistration extends PiTool {
  /** Makes right what is meant; throws for arguments that are wrong. */
  prepareArguments(args: unknown): JSONObject;
  /** Rejects with the reason of the context's signal, and with `ECLOSED` after `close()`; all else is a result. */
  execute(
    args: unknown,
    api: unknown,
    context?: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<PiAgentToolResult & { output: string }>;
  /** `"sequential"` for what changes files, so that a turn that changes and reads does so in its order. */
  executionMode: "sequential" | "parallel";
  /** `"safe"` for what changes nothing: such a call is made again when the process dies during it. */
  replay: "safe" | "unsafe";
  /** None, since the tools have their own, and pages that are cut again could not be continued. */
  outputLimits: { maxBytes: number; maxLines: number; retain: "head" };
}

/**
 * The tools for the durable harness of `@earendil-works/pi-durable`, which is experimental.
 *
 * A result has both the `content` and the `output` (its text) that releases of the harness differ in.
 *
 * Throws as {@link createPiTools} does.
 *
 * @example
 * ```js
 * registry.install({ name: "files", tools: createToolRegistrations({ workspace }) });
 * ```
 */
export function createToolRegistrations(options: CreatePiToolsOptions): PiToolRegistration[] {
  const { set, declarations } = prepare(options);
  return declarations.map(({ tool, declaration }) =>
    extend(tool, declaration, {
      prepareArguments: (args: unknown) => prepareArguments(tool, args),
      execute: async (args: unknown, _: unknown, context?: { readonly abortSignal?: AbortSignal | undefined }) => {
        const result = resultOf(await set.execute(tool.name, args, { signal: context?.abortSignal }));
        return { ...result, output: textOf(result.content) };
      },
      executionMode: executionMode(tool),
      replay: tool.isReadOnly ? "safe" : "unsafe",
      outputLimits: { maxBytes: Number.MAX_SAFE_INTEGER, maxLines: Number.MAX_SAFE_INTEGER, retain: "head" },
    } as const),
  );
}

/** A tool that `forPiTools` can call: an `AgentTool` of pi-agent-core, or anything like it. */
export interface PiCallableTool {
  name: string;
  description: string;
  parameters: object;
  prepareArguments?(args: unknown): unknown;
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<{
    content: readonly { type: string }[];
    details?: unknown;
    structuredContent?: unknown;
    isError?: boolean | undefined;
  }>;
}

/** How `forPiTools` calls tools. */
export interface ForPiToolsOptions<T extends PiCallableTool = PiCallableTool> {
  /**
   * Checks arguments and returns those to call with: pass `validateToolArguments` of pi-ai. The tools
   * of this module check theirs anyway.
   * @defaultValue none: arguments reach the tool as they are
   */
  validate?: (tool: T, call: { type: "toolCall"; id: string; name: string; arguments: JSONObject }) => unknown;
  /**
   * Names of tools that change nothing, and so may be called where nothing may be changed. The tools
   * of this module are known.
   * @defaultValue `[]`
   */
  readOnly?: readonly string[];
}

/**
 * Makes bindings of Pi's tools, for code that calls them.
 *
 * A call goes the way of a call of Pi's agent loop: `prepareArguments`, `validate`, `execute`, with an
 * id of its own and the signal of the call.
 *
 * @param tools what `createPiTools` made; or tools that can be executed, or a function that returns
 *   them and is asked each time
 * @returns a function that returns the bindings
 */
export function forPiTools(tools: CreatePiToolsResult): () => ToolBinding[];
export function forPiTools<T extends PiCallableTool>(
  tools: readonly T[] | (() => readonly T[]),
  options?: ForPiToolsOptions<T>,
): () => ToolBinding[];
export function forPiTools(
  tools: CreatePiToolsResult | readonly PiCallableTool[] | (() => readonly PiCallableTool[]),
  options: ForPiToolsOptions = {},
): () => ToolBinding[] {
  if ("execute" in tools) return () => tools.tools.map((tool) => bindDeclaration(tools, tool));
  const list = typeof tools === "function" ? tools : () => tools;
  return () => list().map((tool) => bindCallable(tool, options));
}

function bindDeclaration({ execute }: CreatePiToolsResult, tool: PiTool): ToolBinding {
  return {
    name: tool.name,
    readOnly: readers.has(tool),
    call: async (input, context) => {
      context?.signal?.throwIfAborted();
      const call = { id: randomUUID(), name: tool.name, arguments: input };
      const result = await execute(call, { abortSignal: context?.signal });
      // Without details nothing was called. A change that was made despite an abort has some.
      if (result.details === undefined) context?.signal?.throwIfAborted();
      return bindingResult(result);
    },
  };
}

function bindCallable(tool: PiCallableTool, { validate, readOnly = [] }: ForPiToolsOptions): ToolBinding {
  return {
    name: tool.name,
    readOnly: readers.has(tool) || readOnly.includes(tool.name),
    call: async (input, context) => {
      context?.signal?.throwIfAborted();
      const id = randomUUID();
      const prepared = tool.prepareArguments ? tool.prepareArguments(input) : input;
      const call = { type: "toolCall", id, name: tool.name, arguments: prepared as JSONObject } as const;
      const params = validate ? validate(tool, call) : prepared;
      return bindingResult(await tool.execute(id, params, context?.signal));
    },
  };
}

function bindingResult(result: Awaited<ReturnType<PiCallableTool["execute"]>>): ToolBindingResult {
  return {
    text: textOf(result.content),
    isError: result.isError === true,
    ...(result.details !== undefined && { details: jsonOf(result.details) }),
    ...(result.structuredContent !== undefined && { structuredContent: jsonOf(result.structuredContent) }),
  };
}

/** The tools of this module that change nothing, in each of their shapes. */
const readers = new WeakSet<object>();

function mark<T extends object>(tool: Tool, made: T): T {
  if (tool.isReadOnly) readers.add(made);
  return made;
}

/** A declaration with more to it. Its description is still made when it is read. */
function extend<T extends object>(tool: Tool, declaration: PiTool, more: T): PiTool & T {
  const made = Object.defineProperties({}, Object.getOwnPropertyDescriptors(declaration)) as PiTool;
  return mark(tool, Object.assign(made, more));
}

/** What is shown while code runs, as Pi wants it. */
function partial(onUpdate: PiCallContext["onUpdate"]): ((output: ExecOutput) => void) | undefined {
  if (!onUpdate) return undefined;
  return (output) => {
    const text = [output.stdout, output.stderr].filter(Boolean).join("\n");
    onUpdate({ content: [{ type: "text", text }], details: output, isError: false });
  };
}

/**
 * The tools whose arguments a provider is asked to constrain. All schemas would allow it, but
 * providers limit how many optional fields the constrained tools of a request have together, and the
 * searches have many.
 */
const CONSTRAINED: ReadonlySet<ToolName> = new Set(["read", "write", "edit"]);

function prepare(options: CreatePiToolsOptions): {
  set: ToolSet;
  declarations: { tool: Tool; declaration: PiTool }[];
} {
  const { constrainedSampling, ...settings } = options ?? {};
  const strict = constrainedSampling ?? "prefer";
  if (strict !== "prefer" && strict !== "require" && strict !== false) {
    throw new WorkspaceError(
      "EINVAL",
      `EINVAL: options.constrainedSampling is ${JSON.stringify(strict)}; it must be "prefer", "require" or false`,
      { errno: -22 },
    );
  }
  const set = createToolSet(settings);
  const declarations = set.tools.map((tool) => {
    const { name, jsonSchema } = tool;
    const isConstrained = strict !== false && CONSTRAINED.has(name);
    const declaration: PiTool = {
      name,
      get description() {
        return tool.description;
      },
      parameters: isConstrained ? withoutBounds(jsonSchema) : jsonSchema,
      ...(isConstrained && { constrainedSampling: { type: "json_schema", strict } }),
    };
    return { tool, declaration: mark(tool, declaration) };
  });
  return { set, declarations };
}

/** The schema without bounds of numbers: Anthropic constrains by none that has them. The core checks them. */
function withoutBounds(schema: ToolJSONSchema): ToolJSONSchema {
  const isBound = (key: string) => key === "minimum" || key === "maximum";
  return JSON.parse(JSON.stringify(schema, (key, value) => (isBound(key) ? undefined : value)));
}

async function execute(set: ToolSet, call: PiToolCall, context: PiCallContext | undefined): Promise<PiToolResult> {
  const tool = set.tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = set.tools.map(({ name }) => name).join(", ");
    return errorResult(`There is no tool ${JSON.stringify(call.name)}. The tools are: ${names}.`);
  }
  if (call.argumentsError) return errorResult(`Invalid arguments for ${tool.name}: ${call.argumentsError}`);
  const { abortSignal: signal, onUpdate } = context ?? {};
  return resultOf(await set.execute(tool.name, call.arguments, { signal, onUpdate: partial(onUpdate) }));
}

function prepareArguments(tool: Tool, args: unknown): JSONObject {
  // Arguments that are no JSON come as `{}`, with the reason elsewhere. Pi says it when it checks what
  // this returns; a sentence on missing fields from here would hide it.
  if (isEmpty(args)) return {};
  const result = tool.inputSchema["~standard"].validate(args);
  if (result.issues) {
    throw new Error(`Invalid arguments for ${tool.name}: ${result.issues.map(({ message }) => message).join("; ")}`);
  }
  return result.value as unknown as JSONObject;
}

function isEmpty(args: unknown): boolean {
  return typeof args === "object" && (args === null || (!Array.isArray(args) && Object.keys(args).length === 0));
}

function executionMode(tool: Tool): "sequential" | "parallel" {
  return tool.isReadOnly ? "parallel" : "sequential";
}

function resultOf({ output, isError, text, media }: ToolOutcome): PiAgentToolResult {
  const content: PiContent[] = [{ type: "text", text }];
  if (media?.kind === "image") {
    content.push({ type: "image", data: base64(media.data), mimeType: media.mediaType });
  } else if (media) {
    content[0] = { type: "text", text: `${text} It cannot be shown here: results have texts and images only.` };
  }
  return { content, isError, details: output };
}

function errorResult(text: string): PiToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** The text of a result; what is no text is named. */
function textOf(content: readonly { type: string }[]): string {
  return content.map(pieceText).join("\n");
}

function pieceText(piece: { type: string; text?: unknown; mimeType?: unknown }): string {
  if (piece.type === "text") return String(piece.text);
  return piece.mimeType === undefined ? `[${piece.type}]` : `[${piece.type}: ${String(piece.mimeType)}]`;
}

/** The value as JSON has it; null where it has none. */
function jsonOf(value: unknown): JSONValue {
  return JSON.parse(JSON.stringify(value) ?? "null") as JSONValue;
}
