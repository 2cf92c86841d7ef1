// The tools, before any library's shape: what the adapters translate.

import type { NativeOutcome, NativeTools } from "../../index.js";
import { call } from "../call.js";
import { argumentTypeError, userError } from "../errors.js";
import type { WorkspaceRuntime } from "../runtime/types.js";
import { nativeOf } from "../workspace.js";
import { runExec } from "./exec.js";
import { type SchemaResult, type ToolJSONSchema, type ToolSchema, toolSchema } from "./schema.js";
import type { ExecOutput, ToolInputs, ToolName, ToolOutcome, ToolOutputs, ToolSetOptions } from "./types.js";

/** One tool, as a model is told of it. */
export interface Tool<Name extends ToolName = ToolName> {
  readonly name: Name;
  /** A few words for people. */
  readonly title: string;
  /** For the model. Of `exec` it is made when it is read, since backends may have other modules then. */
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
   * nobody has to guess whether it was made, and code that runs is stopped, so that its result says so.
   */
  signal?: AbortSignal | undefined;
  /**
   * Is given what `exec` has to show while its code runs: all of it each time, when something is printed first,
   * then ten times a second at most. Code that prints nothing is heard of at its end only.
   */
  onUpdate?: ((output: ExecOutput) => void) | undefined;
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
  const { refuseInTransaction, native, now, backends } = nativeOf(workspace);
  const { runtime } = workspace;
  const tools = attempt(() => native.tools(settings, JSON.stringify(backends)));
  const definitions = JSON.parse(tools.definitions()) as Definition[];
  return {
    tools: definitions.map((definition) => describe(tools, definition, runtime)),
    execute: async (name, input, { signal, onUpdate } = {}) => {
      if (!tools.isReadOnly(String(name))) refuseInTransaction();
      if (signal != null && typeof signal.throwIfAborted !== "function") {
        throw argumentTypeError("options.signal must be an AbortSignal");
      }
      signal?.throwIfAborted();
      const json = toJSON(input);
      const execution = name === "exec" ? attempt(() => tools.beginExec(json, now?.())) : null;
      const outcome = execution
        ? await runExec(execution, runtime, { signal, onUpdate })
        : await run(tools, now, name, json, signal);
      return outcomeOf(outcome);
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

function describe(native: NativeTools, definition: Definition, runtime: WorkspaceRuntime): Tool {
  const { name, title, description, inputSchema, readOnly } = definition;
  const validate = (value: unknown) => JSON.parse(native.validate(name, toJSON(value))) as SchemaResult<never>;
  return {
    name,
    title,
    get description() {
      return name === "exec" ? describeExec(native, runtime) : description;
    },
    inputSchema: toolSchema<never>(inputSchema, validate),
    jsonSchema: inputSchema,
    isReadOnly: readOnly,
  };
}

function describeExec(native: NativeTools, runtime: WorkspaceRuntime): string {
  const texts = runtime.backends().map(({ id, description }) => [id, description]);
  return native.describeExec(JSON.stringify(Object.fromEntries(texts)));
}

async function run(
  native: NativeTools,
  now: (() => number) | undefined,
  name: ToolName,
  json: string | undefined,
  signal: AbortSignal | undefined,
): Promise<NativeOutcome> {
  const called = attempt(() => native.call(String(name), json, now?.())).catch((thrown: unknown) => {
    throw userError(thrown);
  });
  return await (signal && native.isReadOnly(String(name)) ? orAborted(called, signal) : called);
}

function outcomeOf<Name extends ToolName>({ json, media: data }: NativeOutcome): ToolOutcome<ToolOutputs[Name]> {
  const { output, isError, text, textField, textFields, media } = JSON.parse(json);
  return {
    output,
    isError,
    // What is in the output already does not come twice.
    text: text ?? (textField ? output[textField] : JSON.stringify(textFields ? pick(output, textFields) : output)),
    ...(data && { media: { ...media, data } }),
  };
}

/** The object with these fields only, as far as it has them. */
export function pick(object: object, names: readonly string[]): object {
  return Object.fromEntries(names.flatMap((name) => (name in object ? [[name, object[name as never]]] : [])));
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
