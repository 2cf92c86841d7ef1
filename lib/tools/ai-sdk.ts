/**
 * The tools for the AI SDK (`ai`), version 7 and version 6.
 *
 * Nothing of `ai` is imported: both versions take plain objects of this shape.
 *
 * @packageDocumentation
 */

import { argumentTypeError, WorkspaceError } from "../errors.js";
import { base64 } from "./base64.js";
import type { ToolBinding, ToolBindingResult } from "./bindings.js";
import type { JSONValue, ToolSchema } from "./schema.js";
import { createToolSet, pick, type Tool, type ToolSet } from "./tool-set.js";
import type {
  ExecOutput,
  ReadInput,
  ReadMediaOutput,
  ReadTextOutput,
  ToolFailure,
  ToolInputs,
  ToolName,
  ToolOutcome,
  ToolOutputs,
  ToolSetOptions,
} from "./types.js";

export type * from "./bindings.js";
export type * from "./schema.js";
export type * from "./types.js";

/** The tools that change files, or may do so. */
const MUTATING = ["write", "edit", "delete", "exec"] as const satisfies readonly ToolName[];
const READING = ["read", "ls", "find", "grep"] as const satisfies readonly ToolName[];

/** How the tools are made. */
export interface AIToolsOptions extends ToolSetOptions {
  /**
   * Tools that run only after a person has agreed to the call: names, or `"mutating"` for `write`,
   * `edit`, `delete` and `exec`. The SDK asks before the call, and the tool itself looks for the answer in
   * the conversation, so that it does not run without one whatever the program around it does.
   * @defaultValue none
   */
  approve?: readonly ToolName[] | "mutating";
}

/**
 * What each tool gives to a program; a model is given {@link AIToolModelOutput}, which is made of this
 * alone, so that results mean the same when they come out of a stored history.
 */
export type AIToolOutput<Name extends ToolName> =
  | (ToolFailure & ForModel)
  | (Name extends "read" ? ReadTextOutput | (ReadMediaOutput & AIMedia & ForModel) : ToolOutputs[Name]);

/** The bytes of an image or a PDF. */
export interface AIMedia {
  /** Base64; absent if a model is not shown them. */
  data?: string;
}

interface ForModel {
  /** What a model is told, if the other fields do not say it. */
  text?: string;
}

/** What the SDK passes with a call, as far as it is looked at. */
export interface AIToolCallOptions {
  toolCallId?: string;
  /** The conversation that led to the call. */
  messages?: readonly unknown[];
  /** Ends the call, which rejects with its reason. */
  abortSignal?: AbortSignal | undefined;
}

/** What a model is given of a result. */
export type AIToolModelOutput =
  | { type: "text"; value: string }
  | { type: "json"; value: JSONValue }
  | { type: "error-text"; value: string }
  | { type: "content"; value: AIToolContent[] };

/** A part of what a model is given of an image or a PDF. */
export type AIToolContent =
  | { type: "text"; text: string }
  | { type: "file-data"; data: string; mediaType: string; filename?: string };

/** One tool, of the shape that the SDK wants. */
export interface AITool<Name extends ToolName = ToolName> {
  /** For the model. */
  description: string;
  /** A few words for people. */
  title: string;
  inputSchema: ToolSchema<ToolInputs[Name]>;
  /** Whether a person is asked first. */
  needsApproval: boolean;
  /**
   * Runs the tool. What can go wrong with files is a {@link ToolFailure}, not a rejection; this
   * rejects with the reason of `abortSignal`, and with `ECLOSED` after `workspace.close()`. `exec` gives
   * what there is to see while the code runs, the last of which is its output; a run whose signal fires is
   * stopped, and its output says so.
   */
  execute(
    input: ToolInputs[Name],
    options: AIToolCallOptions,
  ): Name extends "exec" ? AsyncIterable<AIToolOutput<Name>> : Promise<AIToolOutput<Name>>;
  /** The same for a model: text, JSON, a file, or an error. Also of outputs that were stored as JSON. */
  toModelOutput(options: { input?: ToolInputs[Name]; output: AIToolOutput<Name> }): AIToolModelOutput;
}

/** The tools that change nothing. */
export type AIReadingTools = { [Name in (typeof READING)[number]]: AITool<Name> };

/**
 * All tools, in the order in which a model is shown them. `exec` is there if the workspace has a backend, which
 * a type cannot know; were it optional, version 6 would make everything optional that it infers.
 */
export type AITools = AIReadingTools & { [Name in (typeof MUTATING)[number]]: AITool<Name> };

/**
 * The tools of a workspace as the `tools` of `generateText`, `streamText` and `ToolLoopAgent`: `read`,
 * `ls`, `find`, `grep` and, unless `readonly`, `write`, `edit`, `delete`, and `exec` if the workspace has a
 * backend.
 *
 * Throws for options that are wrong: a `TypeError` with `ERR_INVALID_ARG_TYPE`, or `EINVAL`.
 *
 * @example
 * ```js
 * const { text } = await generateText({
 *   model,
 *   tools: createAITools({ workspace, root: "/workspace" }),
 *   stopWhen: stepCountIs(20),
 *   prompt: "Which files mention the old name?",
 * });
 * ```
 */
export function createAITools(options: AIToolsOptions & { readonly: true }): AIReadingTools;
export function createAITools(options: AIToolsOptions & { readonly?: false }): AITools;
export function createAITools(options: AIToolsOptions): AIReadingTools & Partial<AITools>;
export function createAITools(options: AIToolsOptions): AIReadingTools & Partial<AITools> {
  const { set, isApproved } = open(options);
  const tools = set.tools.map((tool) => [tool.name, adapt(set, tool, isApproved(tool.name))]);
  return Object.fromEntries(tools) as AITools;
}

/** `read` alone. Takes the options of {@link createAITools}, as its siblings do. */
export function createReadTool(options: AIToolsOptions): AITool<"read"> {
  return single("read", options);
}

/** `ls` alone. */
export function createListTool(options: AIToolsOptions): AITool<"ls"> {
  return single("ls", options);
}

/** `find` alone. */
export function createFindTool(options: AIToolsOptions): AITool<"find"> {
  return single("find", options);
}

/** `grep` alone. */
export function createGrepTool(options: AIToolsOptions): AITool<"grep"> {
  return single("grep", options);
}

/** `write` alone. Throws `EINVAL` with `readonly`. */
export function createWriteTool(options: AIToolsOptions): AITool<"write"> {
  return single("write", options);
}

/** `edit` alone. Throws `EINVAL` with `readonly`. */
export function createEditTool(options: AIToolsOptions): AITool<"edit"> {
  return single("edit", options);
}

/** `delete` alone. Throws `EINVAL` with `readonly`. */
export function createDeleteTool(options: AIToolsOptions): AITool<"delete"> {
  return single("delete", options);
}

/** `exec` alone. Throws `EINVAL` without a backend, and with `readonly`. */
export function createExecTool(options: AIToolsOptions): AITool<"exec"> {
  return single("exec", options);
}

function single<Name extends ToolName>(name: Name, options: AIToolsOptions): AITool<Name> {
  const { set, isApproved } = open(options);
  const tool = set.tools.find((candidate) => candidate.name === name);
  if (!tool) throw invalid(`there is no ${name} in a set of tools that is readonly, nor exec without a backend`);
  return adapt(set, tool as Tool<Name>, isApproved(name));
}

/**
 * For `toolApproval` of AI SDK 7: which of `tools` a person is asked about first. Version 7 still
 * heeds what the tools say themselves (`needsApproval`, all that version 6 knows), but prefers this.
 *
 * @returns `"user-approval"` for each tool that always needs approval
 *
 * @example
 * ```js
 * const tools = createAITools({ workspace, approve: "mutating" });
 * await generateText({ model, tools, toolApproval: approvals(tools), prompt });
 * ```
 */
export function approvals<Tools extends Record<string, object>>(
  tools: Tools,
): { [Name in keyof Tools]?: "user-approval" } {
  const asked = Object.entries(tools).filter(([, tool]) => (tool as ForeignTool).needsApproval === true);
  return Object.fromEntries(asked.map(([name]) => [name, "user-approval"])) as {
    [Name in keyof Tools]?: "user-approval";
  };
}

/**
 * Makes tools of the AI SDK, of this library or any other, callable by code instead of a model.
 * Tools without `execute` are left out, and so are those that need approval: nobody would be asked.
 *
 * The tools of this library that change nothing are marked as such. Others count as changing
 * something unless they are named.
 *
 * @param tools the tools by name, or a function that is asked for them each time
 * @param options.readOnly names of other tools that change nothing
 * @returns a function that gives the tools as they are then
 */
export function forAISDKTools(
  tools: Record<string, object> | (() => Record<string, object>),
  { readOnly = [] }: { readOnly?: readonly string[] } = {},
): () => ToolBinding[] {
  const callable = () =>
    Object.entries(typeof tools === "function" ? tools() : tools).filter((entry): entry is [string, CallableTool] => {
      const { execute, needsApproval } = entry[1] as ForeignTool;
      return typeof execute === "function" && (needsApproval ?? false) === false;
    });
  return () =>
    callable().map(([name, { execute }]) => ({
      name,
      readOnly: readers.has(execute) || readOnly.includes(name),
      call: (input, { signal } = {}) => {
        // The set may have changed since it was listed.
        const tool = callable().find(([candidate]) => candidate === name)?.[1];
        if (!tool) return Promise.reject(new Error(`There is no tool ${name} any more.`));
        return callForeign(name, tool, input, signal);
      },
    }));
}

/** A tool of whatever major version and origin. */
interface ForeignTool {
  inputSchema?: unknown;
  needsApproval?: unknown;
  execute?: unknown;
}

interface CallableTool extends ForeignTool {
  execute: (input: unknown, options: object) => unknown;
}

/** The `execute` of each tool here that changes nothing: a tool that is given another one is another tool. */
const readers = new WeakSet<object>();

let bindingCalls = 0;

async function callForeign(
  name: string,
  tool: CallableTool,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<ToolBindingResult> {
  signal?.throwIfAborted();
  const checked = await validated(name, tool.inputSchema, input);
  bindingCalls += 1;
  const options = { toolCallId: `binding-${bindingCalls}`, messages: [], abortSignal: signal };
  const output = await lastOf(tool.execute(checked, options));

  const error = (output as { error?: unknown } | null | undefined)?.error;
  const isError = typeof error === "string";
  const json = JSON.stringify(output);
  const text = isError ? error : typeof output === "string" ? output : (json ?? "");
  return { text, isError, ...(json !== undefined && { details: JSON.parse(json) as JSONValue }) };
}

/** What a call gives in the end; of one that reports as it goes, the last report. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof (result as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] !== "function") return await result;
  let last: unknown;
  for await (const output of result as AsyncIterable<unknown>) last = output;
  return last;
}

/** Arguments as a schema of any kind that the SDK takes makes them: Standard Schema, its own, or a function. */
async function validated(name: string, schema: unknown, input: unknown): Promise<unknown> {
  const actual = typeof schema === "function" && !("~standard" in schema) ? schema() : schema;
  const standard = (actual as Partial<ToolSchema<unknown>> | null | undefined)?.["~standard"];
  if (standard) {
    const result = await standard.validate(input);
    if (!result.issues) return result.value;
    const issues = result.issues.map(({ message, path = [] }) => {
      const place = path.map((segment: unknown) => (segment as { key?: unknown })?.key ?? segment).join(".");
      return place ? `${place}: ${message}` : message;
    });
    throw argumentTypeError(`Invalid arguments for ${name}: ${issues.join("; ")}`);
  }
  const validate = (actual as { validate?: (value: unknown) => unknown } | null | undefined)?.validate;
  if (typeof validate !== "function") return input;
  const result = (await validate(input)) as { success: true; value: unknown } | { success: false; error: unknown };
  if (result.success) return result.value;
  const why = result.error instanceof Error ? result.error.message : String(result.error);
  throw argumentTypeError(`Invalid arguments for ${name}: ${why}`);
}

/** The tools before they have the SDK's shape, and which of them are asked about. */
function open(options: AIToolsOptions): { set: ToolSet; isApproved: (name: ToolName) => boolean } {
  if (typeof options !== "object" || options === null) throw argumentTypeError("options must be an object");
  const { approve, ...settings } = options;
  const asked = new Set<string>(approve === "mutating" ? MUTATING : namesToApprove(approve));
  return { set: createToolSet(settings), isApproved: (name) => asked.has(name) };
}

function namesToApprove(approve: unknown): string[] {
  if (approve === undefined || approve === null) return [];
  if (!Array.isArray(approve)) throw argumentTypeError('options.approve must be a list of tools or "mutating"');
  const known: readonly string[] = [...READING, ...MUTATING];
  for (const name of approve) {
    // A name that is wrong would leave a tool running without approval.
    if (!known.includes(name)) {
      throw invalid(`options.approve names ${JSON.stringify(name)}; the tools are ${known.join(", ")}`);
    }
  }
  return approve;
}

function invalid(sentence: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: ${sentence}`, { errno: -22 });
}

/** Gives a tool the shape of the SDK's. */
function adapt<Name extends ToolName>(set: ToolSet, tool: Tool<Name>, needsApproval: boolean): AITool<Name> {
  const { name, title, inputSchema } = tool;
  const call = async (
    input: ToolInputs[Name],
    options: AIToolCallOptions,
    more?: { signal?: AbortSignal; onUpdate: (output: ExecOutput) => void },
  ): Promise<AIToolOutput<Name>> => {
    const version = noteVersion(options);
    if (needsApproval && !hasApproval(options)) return unapproved(name);
    const run = () => set.execute(name, input, { signal: options?.abortSignal, ...more });
    const output = complete(await inOrder(options?.messages, tool.isReadOnly, run));
    callers.set(output, version);
    return output as AIToolOutput<Name>;
  };
  const execute =
    name === "exec"
      ? (input: ToolInputs[Name], options: AIToolCallOptions) =>
          snapshots<AIToolOutput<Name>>(options?.abortSignal, (signal, onUpdate) =>
            call(input, options, { signal, onUpdate: (output) => onUpdate(output as AIToolOutput<Name>) }),
          )
      : (input: ToolInputs[Name], options: AIToolCallOptions) => call(input, options);
  if (tool.isReadOnly) readers.add(execute);
  const toModelOutput: AITool<Name>["toModelOutput"] = ({ input, output }) => modelOutput(input, output);
  return {
    // Made when it is read; see Tool.
    get description() {
      return tool.description;
    },
    title,
    inputSchema,
    needsApproval,
    execute: execute as AITool<Name>["execute"],
    toModelOutput,
  };
}

/**
 * A call that shows something while it goes on: that, and in the end what it gives. Each is whole, so that of
 * several only the latest is given to a slow reader. The call begins at once; who stops reading stops it.
 */
function snapshots<T>(
  outer: AbortSignal | undefined,
  start: (signal: AbortSignal, onUpdate: (output: T) => void) => Promise<T>,
): AsyncIterable<T> {
  const stop = new AbortController();
  let latest: { output: T } | undefined;
  let wake = () => {};
  const result = start(outer ? AbortSignal.any([outer, stop.signal]) : stop.signal, (output) => {
    latest = { output };
    wake();
  });
  let isOver = false;
  const over = result.then(
    () => {},
    () => {},
  );
  over.then(() => {
    isOver = true;
    wake();
  });
  return (async function* () {
    try {
      while (!isOver) {
        const next = latest;
        latest = undefined;
        if (next) yield next.output;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      yield await result;
    } finally {
      stop.abort();
    }
  })();
}

/** The calls of one step that are under way: all of them, and those up to the last that changes something. */
interface Step {
  all: Promise<unknown>;
  changes: Promise<unknown>;
}

/** By the conversation that led to the step, which the SDK passes with each of its calls. */
const underWay = new WeakMap<object, Step>();

/**
 * The SDK starts all calls of a step at once. A model that writes a file and reads it in one step means
 * one after the other, so what changes something waits for the calls before it, and what reads for the
 * changes before it.
 */
async function inOrder<T>(messages: object | undefined, isReadOnly: boolean, run: () => Promise<T>): Promise<T> {
  if (!messages) return run();
  const step = underWay.get(messages) ?? { all: Promise.resolve(), changes: Promise.resolve() };
  const result = (isReadOnly ? step.changes : step.all).then(run);
  // Without the results: they would be kept as long as the conversation.
  const all = Promise.allSettled([step.all, result]).then(() => {});
  underWay.set(messages, { all, changes: isReadOnly ? step.changes : all });
  return result;
}

/** The output with all that a model is given: only what is in it is left when it comes out of a history. */
function complete({ output, isError, text, media }: ToolOutcome): object {
  if (media) return { ...output, text, data: base64(media.data) };
  // Made of the output when a model is shown it.
  if (!isError && "exitCode" in output) return output;
  const says = isError ? (output as ToolFailure).error : (output as Partial<ReadTextOutput>).content;
  return text === says || (!isError && text.startsWith('{"')) ? output : { ...output, text };
}

type Version = 6 | 7 | undefined;

/** Which version an output was made for, as long as the object lives. */
const callers = new WeakMap<object, Version>();

/** The versions of the SDK that have called tools in this process; nearly always it is one. */
const versions = new Set<Version>();

/** Which version calls; undefined for a loop of somebody else's. They have different names for the caller's context. */
function noteVersion(options: AIToolCallOptions | undefined): Version {
  const version = "context" in (options ?? {}) ? 7 : "experimental_context" in (options ?? {}) ? 6 : undefined;
  if (version) versions.add(version);
  return version;
}

/**
 * Whether a person has agreed to this call. Only the conversation tells: version 6 knows nothing of
 * `toolApproval`, in version 7 a `toolApproval` for other tools can hide what this tool asks for,
 * and a loop of somebody else's may ask nobody.
 */
function hasApproval(options: AIToolCallOptions | undefined): boolean {
  const { toolCallId, messages } = options ?? {};
  if (toolCallId === undefined || !Array.isArray(messages)) return false;
  const parts = (message: { content?: unknown } | undefined) =>
    Array.isArray(message?.content) ? (message.content as Record<string, unknown>[]) : [];
  const requests = messages
    .flatMap(parts)
    .filter(({ type, toolCallId: about }) => type === "tool-approval-request" && about === toolCallId)
    .map(({ approvalId }) => approvalId);
  // An approved call is made before anything else is said. An older answer was for an older call, even
  // of the same id: not all models have new ones each time.
  return parts(messages.at(-1)).some(
    ({ type, approvalId, approved }) =>
      type === "tool-approval-response" && approved === true && requests.includes(approvalId),
  );
}

function unapproved(name: ToolName): ToolFailure {
  const error = `Nothing was done: ${name} runs only after a person has approved the call, and no approval came with it.`;
  return { error, code: "EACCES" };
}

/**
 * A result for a model. It depends on nothing but the call and the output, so that a prompt that is made
 * again, out of a stored history, is the one that a provider has cached.
 */
function modelOutput(input: unknown, output: unknown): AIToolModelOutput {
  if (typeof output !== "object" || output === null) return { type: "json", value: output as JSONValue };
  const { error, text, content, data, startLine, truncated, encoding } = output as Partial<Shown>;
  if (typeof error === "string") return { type: "error-text", value: text ?? error };
  if (typeof data === "string")
    return { type: "content", value: [{ type: "text", text: text ?? "" }, fileOf(output as Media)] };
  if (typeof text === "string") return { type: "text", value: text };
  if ("exitCode" in output) return { type: "json", value: pick(output, EXEC_SHOWN) as JSONValue };
  // A whole file is shown as it is; of a page the model has to know where it begins and ends, and of
  // other encodings than UTF-8 which it is.
  const { offset, byteOffset } = (input ?? {}) as Partial<ReadInput>;
  const isWhole =
    content && startLine === 1 && truncated === false && !encoding && offset == null && byteOffset == null;
  return isWhole ? { type: "text", value: content } : { type: "json", value: output as unknown as JSONValue };
}

/** What of a run a model is shown; it knows the rest from its own call. */
const EXEC_SHOWN: readonly (keyof ExecOutput)[] = ["exitCode", "reason", "stdout", "stderr", "result", "note"];

type Media = ReadMediaOutput & { data: string };
type Shown = ToolFailure & ReadTextOutput & Media & { text: string };

/** The version that is in use, if there is no doubt. */
function onlyVersion(): Version {
  return versions.size === 1 ? [...versions][0] : undefined;
}

/**
 * The part with the file. Version 6 knows `file-data` only. Version 7 takes it too, but warns; its own
 * form is used where it is certain that this is version 7.
 */
function fileOf(output: Media): AIToolContent {
  const { name, mediaType, data } = output;
  const version = callers.has(output) ? callers.get(output) : onlyVersion();
  if (version !== 7) return { type: "file-data", data, mediaType, filename: name };
  const file = { type: "file", mediaType, filename: name, data: { type: "data", data } };
  // Not in the declared type, which has to be one that both versions know.
  return file as unknown as AIToolContent;
}
