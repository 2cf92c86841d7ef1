/**
 * The tools for TanStack AI (`@tanstack/ai`).
 *
 * Nothing of it is imported: its tools are plain objects, and what is declared here has their
 * structure.
 *
 * @packageDocumentation
 */

import { argumentTypeError, WorkspaceError } from "../errors.js";
import { base64 } from "./base64.js";
import { type JSONObject, type ToolSchema, toolSchema } from "./schema.js";
import { createToolSet, type Tool, type ToolSet } from "./tool-set.js";
import type {
  ExecOutput,
  ToolFailure,
  ToolInputs,
  ToolName,
  ToolOutcome,
  ToolOutputs,
  ToolSetOptions,
} from "./types.js";

/** Whether the tools come as a list or by name. */
export type TanStackToolFormat = "array" | "object";

/** How the tools are made. */
export interface CreateTanStackToolsOptions<
  Format extends TanStackToolFormat = "array",
  ReadOnly extends boolean = boolean,
> extends ToolSetOptions {
  readonly?: ReadOnly;
  /**
   * `"array"`: a list, as `chat({ tools })` takes it; `"object"`: an object with the tools by name.
   * @defaultValue `"array"`
   */
  format?: Format;
  /**
   * The tools that a person has to approve each time; `"mutating"`: `write`, `edit`, `delete` and `exec`.
   * @defaultValue none
   */
  approve?: readonly ToolName[] | "mutating";
  /**
   * The tools that a model is not told of until it asks, with TanStack's lazy discovery.
   * @defaultValue none
   */
  lazy?: readonly ToolName[] | "all";
  /**
   * The name of the custom events with which `exec` shows its output while code runs. The value of an event is
   * a {@link TanStackExecEvent}.
   * @defaultValue none: no events
   */
  streamEventName?: string;
}

/** What there is to see of a call of `exec` while its code runs. */
export interface TanStackExecEvent {
  toolCallId: string | undefined;
  /** As the result will be, with what is there so far, and `exitCode: null`. */
  snapshot: ExecOutput;
}

/** What TanStack passes to a tool, as far as it is used. */
export interface TanStackToolContext {
  /** Ends the call. */
  abortSignal?: AbortSignal;
  toolCallId?: string;
  /** Tells those who listen to the stream of the chat. */
  emitCustomEvent?(name: string, value: Record<string, unknown>): void;
}

/** A piece of a result with an image or a document. */
export type TanStackContentPart =
  | { type: "text"; content: string }
  | { type: "image" | "document"; source: { type: "data"; value: string; mimeType: string } };

/** What each tool gives: `read` a text where a whole file is one, and pieces for an image or PDF. */
export type TanStackToolOutput<Name extends ToolName = ToolName> = Name extends "read"
  ? ToolOutputs["read"] | string | TanStackContentPart[]
  : ToolOutputs[Name];

/** A tool, as `chat({ tools })` takes it. */
export interface TanStackTool<Name extends ToolName = ToolName> {
  name: Name;
  description: string;
  /** Checks arguments, and makes right what is meant. */
  inputSchema: ToolSchema<ToolInputs[Name]>;
  /** Of `write`, `edit` and `delete`: what they give. It describes and takes everything. */
  outputSchema?: ToolSchema<ToolOutputs[Name]>;
  /**
   * Makes a call. Rejects with a {@link TanStackToolError} if the call fails, with the
   * reason of the signal, and with `ECLOSED` after `close()`.
   */
  execute(input: ToolInputs[Name], context?: TanStackToolContext): Promise<TanStackToolOutput<Name>>;
  /** Whether a person has to approve. */
  needsApproval?: boolean;
  /** Whether a model has to ask for it. */
  lazy?: boolean;
  /** Nothing; TanStack's types tell its own kinds of tools by it. */
  readonly "~toolKind"?: never;
}

/** The tools by name; those that change something are absent with `readonly`, and `exec` without a backend. */
export type TanStackToolObject<ReadOnly extends boolean = false> = {
  [Name in "read" | "ls" | "find" | "grep"]: TanStackTool<Name>;
} & { exec?: TanStackTool<"exec"> } & ([ReadOnly] extends [false]
    ? { [Name in "write" | "edit" | "delete"]: TanStackTool<Name> }
    : { [Name in "write" | "edit" | "delete"]?: TanStackTool<Name> });

/** The tools in a format. */
export type TanStackToolsFor<
  Format extends TanStackToolFormat,
  ReadOnly extends boolean = false,
> = Format extends "object" ? TanStackToolObject<ReadOnly> : TanStackTool[];

/**
 * A call that failed. TanStack gives its message to the model, as `{ "error": message }`, and marks the
 * result as `output-error`; middleware is given the error itself (`onAfterToolCall`).
 */
export class TanStackToolError extends Error {
  override name = "TanStackToolError";
  /** The code of the failure: `"ENOENT"`, `"EINVAL"`, … */
  readonly code: string;
  /** The failure with all its fields. */
  readonly failure: ToolFailure;

  /** @param message what a model is told */
  constructor(message: string, failure: ToolFailure) {
    super(message);
    this.code = failure.code;
    this.failure = failure;
  }
}

/**
 * The tools for `chat()` of TanStack AI.
 *
 * Throws as {@link createToolSet} does, and `EINVAL` for a format or the name of a tool that there is not.
 *
 * @example
 * ```js
 * const stream = chat({ adapter, messages, tools: createTanStackTools({ workspace, approve: "mutating" }) });
 * ```
 */
export function createTanStackTools<Format extends TanStackToolFormat = "array", ReadOnly extends boolean = false>(
  options: CreateTanStackToolsOptions<Format, ReadOnly>,
): TanStackToolsFor<Format, ReadOnly> {
  const { format, approve, lazy, streamEventName, ...settings } = options ?? {};
  if (format != null && format !== "array" && format !== "object") {
    throw invalid("format", format, '"array" or "object"');
  }
  if (streamEventName != null && typeof streamEventName !== "string") {
    throw argumentTypeError("options.streamEventName must be a string");
  }
  const isApproved = selection("approve", approve, "mutating", (tool) => !tool.isReadOnly);
  const isLazy = selection("lazy", lazy, "all", () => true);
  const set = createToolSet(settings);
  const tools = set.tools.map((tool) =>
    Object.assign(
      translate(set, tool, streamEventName ?? undefined),
      isApproved(tool) && { needsApproval: true },
      isLazy(tool) && { lazy: true },
    ),
  );
  const made = format === "object" ? Object.fromEntries(tools.map((tool) => [tool.name, tool])) : tools;
  return made as TanStackToolsFor<Format, ReadOnly>;
}

function translate(set: ToolSet, tool: Tool, streamEventName: string | undefined): TanStackTool {
  const { name, inputSchema } = tool;
  const outputSchema = OUTPUT_SCHEMAS[name];
  return {
    name,
    // Made when it is read; see Tool.
    get description() {
      return tool.description;
    },
    inputSchema,
    ...(outputSchema && { outputSchema: outputSchema as ToolSchema<ToolOutputs[ToolName]> }),
    execute: async (input, context) => {
      const onUpdate = (snapshot: ExecOutput) => {
        if (streamEventName === undefined) return;
        context?.emitCustomEvent?.(streamEventName, { toolCallId: context.toolCallId, snapshot });
      };
      return resultOf(await set.execute(name, input, { signal: context?.abortSignal, onUpdate }));
    },
  };
}

function resultOf({ output, isError, text, media }: ToolOutcome): TanStackToolOutput {
  if (isError) throw new TanStackToolError(text, output as ToolFailure);
  if (media) {
    const source = { type: "data", value: base64(media.data), mimeType: media.mediaType } as const;
    return [
      { type: "text", content: text },
      { type: media.kind === "image" ? "image" : "document", source },
    ];
  }
  // TanStack reads a text that is JSON and writes it anew. A model would not see what a JSON file looks
  // like, and its edits would not match; so such a text goes inside an object.
  const isContent = "content" in output && output.content === text;
  return isContent && !isJSON(text) ? text : (output as ToolOutputs[ToolName]);
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Says whether a tool is among those that an option names: by a word, or one by one. */
function selection(
  option: "approve" | "lazy",
  value: readonly ToolName[] | string | null | undefined,
  word: string,
  isMeant: (tool: Tool) => boolean,
): (tool: Tool) => boolean {
  if (value == null) return () => false;
  if (value === word) return isMeant;
  if (!Array.isArray(value)) throw invalid(option, value, `a list of names of tools, or ${JSON.stringify(word)}`);
  const names: readonly ToolName[] = value;
  for (const name of names) {
    // A misspelt name would leave a tool without approval.
    if (!Object.hasOwn(NAMES, name)) {
      throw invalid(`${option}[]`, name, `one of ${Object.keys(NAMES).join(", ")}`);
    }
  }
  return (tool) => names.includes(tool.name);
}

const NAMES = { read: 1, ls: 1, find: 1, grep: 1, write: 1, edit: 1, delete: 1, exec: 1 } satisfies Record<ToolName, 1>;

function invalid(option: string, value: unknown, wanted: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: options.${option} is ${JSON.stringify(value)}; it must be ${wanted}`, {
    errno: -22,
  });
}

const TEXT: JSONObject = { type: "string" };
const COUNT: JSONObject = { type: "integer" };
const FLAG: JSONObject = { type: "boolean" };

/**
 * What the changing tools give. TanStack checks outputs by these, but at a time when the change has
 * been made; a check that fails would tell the model that it was not. So they take everything.
 */
const OUTPUT_SCHEMAS: { readonly [Name in ToolName]?: ToolSchema<ToolOutputs[Name]> } = {
  write: outputSchema<"write">(
    { path: TEXT, bytesWritten: COUNT, existed: FLAG, sizeBefore: COUNT, version: TEXT },
    { optional: ["sizeBefore"] },
  ),
  edit: outputSchema<"edit">(
    {
      path: TEXT,
      editsApplied: COUNT,
      diff: TEXT,
      patch: TEXT,
      firstChangedLine: COUNT,
      diffTruncated: FLAG,
      note: TEXT,
      changed: FLAG,
      matches: {
        type: "array",
        items: {
          type: "object",
          properties: { edit: COUNT, startLine: COUNT, endLine: COUNT, rule: TEXT, count: COUNT },
          required: ["edit", "startLine", "endLine", "rule", "count"],
          additionalProperties: false,
        },
      },
      sizeBefore: COUNT,
      sizeAfter: COUNT,
      version: TEXT,
    },
    { optional: ["firstChangedLine", "diffTruncated", "note"] },
  ),
  delete: outputSchema<"delete">({ deleted: TEXT, existed: FLAG }, { optional: [] }),
};

function outputSchema<Name extends ToolName>(
  properties: Record<keyof ToolOutputs[Name] & string, JSONObject>,
  { optional }: { optional: string[] },
): ToolSchema<ToolOutputs[Name]> {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return toolSchema<ToolOutputs[Name]>(
    { type: "object", properties, required, additionalProperties: false },
    (value) => ({ value: value as ToolOutputs[Name] }),
  );
}
