// The file tools, before any library's shape: what the adapters translate.

import type { NativeTools } from "../../index.js";
import { call } from "../call.js";
import { argumentTypeError, userError } from "../errors.js";
import { nativeOf } from "../workspace.js";
import { type SchemaResult, type ToolJSONSchema, type ToolSchema, toolSchema } from "./schema.js";
import type { ToolInputs, ToolName, ToolOutcome, ToolOutputs, ToolSetOptions } from "./types.js";

/** One tool, as a model is told of it. */
export interface Tool<Name extends ToolName = ToolName> {
  readonly name: Name;
  /** A few words for people. */
  readonly title: string;
  /** For the model. */
  readonly description: string;
  /** Checks arguments, and makes right what is meant. */
  readonly inputSchema: ToolSchema<ToolInputs[Name]>;
  /** The same as JSON Schema. */
  readonly jsonSchema: ToolJSONSchema;
  /** Whether it changes nothing. */
  readonly isReadOnly: boolean;
}

/** How one call is made. */
export interface ToolCallOptions {
  /**
   * Ends the call. What reads is given up at once; a change that has begun is finished first, so that
   * nobody has to guess whether it was made.
   */
  signal?: AbortSignal | undefined;
}

/** The tools of one workspace. */
export interface ToolSet {
  /** In the order in which a model is shown them. */
  readonly tools: readonly Tool[];
  /**
   * Calls a tool. Wrong arguments and everything that can go wrong with files are an outcome with
   * `isError`; this rejects only with the signal's reason, with `ECLOSED` after `close()`, and with
   * `EINVAL` if a change is asked for inside the body of a transaction, which it would wait for.
   */
  execute<Name extends ToolName>(
    name: Name,
    input: unknown,
    options?: ToolCallOptions,
  ): Promise<ToolOutcome<ToolOutputs[Name]>>;
  /**
   * Where a path argument really leads, and the version of the file there, if there is one: for those who
   * ask a person before they call. Nothing is recorded, and nothing counts as read. Rejects as
   * `workspace.fs` does, with `EACCES` for a path that the tools cannot reach.
   */
  locate(path: string): Promise<{ path: string; version?: string }>;
}

/** Makes the tools of a workspace. Throws for options that are wrong. */
export function createToolSet(options: ToolSetOptions): ToolSet {
  if (typeof options !== "object" || options === null) throw argumentTypeError("options must be an object");
  const { workspace, ...settings } = options;
  const { refuseInTransaction, native, now } = nativeOf(workspace);
  const tools = attempt(() => native.tools(settings));
  return {
    tools: (JSON.parse(tools.definitions()) as Definition[]).map((definition) => describe(tools, definition)),
    execute: async (name, input, { signal } = {}) => {
      if (!tools.isReadOnly(String(name))) refuseInTransaction();
      return run(tools, now, name, input, signal);
    },
    locate: async (path) => {
      if (typeof path !== "string") throw argumentTypeError("path must be a string");
      return JSON.parse(await call(() => tools.locate(path))) as { path: string; version?: string };
    },
  };
}

interface Definition {
  name: ToolName;
  title: string;
  description: string;
  inputSchema: ToolJSONSchema;
  readOnly: boolean;
}

function describe(native: NativeTools, { name, title, description, inputSchema, readOnly }: Definition): Tool {
  const validate = (value: unknown) => JSON.parse(native.validate(name, toJSON(value))) as SchemaResult<never>;
  return {
    name,
    title,
    description,
    inputSchema: toolSchema<never>(inputSchema, validate),
    jsonSchema: inputSchema,
    isReadOnly: readOnly,
  };
}

async function run<Name extends ToolName>(
  native: NativeTools,
  now: (() => number) | undefined,
  name: Name,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<ToolOutcome<ToolOutputs[Name]>> {
  if (signal != null && typeof signal.throwIfAborted !== "function") {
    throw argumentTypeError("options.signal must be an AbortSignal");
  }
  signal?.throwIfAborted();
  const called = attempt(() => native.call(String(name), toJSON(input), now?.())).catch((thrown: unknown) => {
    throw userError(thrown);
  });
  const { json, media: data } = await (signal && native.isReadOnly(String(name)) ? orAborted(called, signal) : called);
  const { output, isError, text, textField, media } = JSON.parse(json);
  return {
    output,
    isError,
    // What is in the output already does not come twice.
    text: text ?? (textField ? output[textField] : JSON.stringify(output)),
    ...(data && { media: { ...media, data } }),
  };
}

/** What a call gives, or the reason of the signal if that comes first. */
async function orAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = withReject();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([call, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function withReject(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}

/** Arguments as the core reads them, or nothing if they cannot be JSON. None at all are an object without fields. */
function toJSON(value: unknown): string | undefined {
  try {
    return JSON.stringify(value ?? {});
  } catch {
    return undefined;
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw userError(thrown);
  }
}
