// `exec`: starts a run, and follows it for the core, which knows what to show of it.

import type { NativeExecution, NativeOutcome } from "../../index.js";
import { userError, WorkspaceError } from "../errors.js";
import type { WorkspaceRuntime, WorkspaceRuntimeExecHandle, WorkspaceRuntimeExecOptions } from "../runtime/types.js";
import type { ToolCallOptions } from "./tool-set.js";
import type { ExecOutput } from "./types.js";

/** The least time between two updates. */
const UPDATE_MS = 100;

/**
 * Runs the code of a call. What it does is an outcome, and so is that it cannot be run; this rejects with the
 * reason of the signal, if it fires before the run has begun, and with `ECLOSED`.
 */
export async function runExec(
  execution: NativeExecution,
  runtime: WorkspaceRuntime,
  { signal, onUpdate }: ToolCallOptions,
): Promise<NativeOutcome> {
  let handle: WorkspaceRuntimeExecHandle;
  try {
    const { source, options } = JSON.parse(execution.request()) as Request;
    handle = await runtime.exec(source, signal ? { ...options, signal } : options);
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    if (error instanceof WorkspaceError && error.code === "ECLOSED") throw error;
    const { name, code, message } = errorOf(error);
    return settled(execution.fail(name, code, message));
  }
  execution.begun(handle.id);
  const updates = new Updates(execution, onUpdate);
  try {
    for await (const event of handle) {
      if (event.name === "exit") {
        updates.end();
        const { result, ...exit } = event;
        return await settled(execution.finish(JSON.stringify(exit), jsonOf(result)));
      }
      execution.print(event.name === "stdout" ? 0 : 1, event.value);
      updates.note();
    }
    return await settled(execution.finish("{}"));
  } catch (thrown) {
    // Nobody would hear of the run any more.
    handle.kill().catch(() => {});
    throw thrown;
  } finally {
    updates.end();
  }
}

/** A result as JSON; nothing of what is nested deeper than can be written, which the core says. */
function jsonOf(result: unknown): string | undefined {
  try {
    return JSON.stringify(result);
  } catch {
    return "";
  }
}

interface Request {
  source: string;
  options: WorkspaceRuntimeExecOptions;
}

function errorOf(error: unknown): { name: string; code: string | undefined; message: string } {
  const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown };
  return {
    name: String(name ?? "Error"),
    code: typeof code === "string" ? code : undefined,
    message: String(message ?? error),
  };
}

async function settled<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (thrown) {
    throw userError(thrown);
  }
}

/** Tells of what is printed: at once, then not more often than one wants to look. */
class Updates {
  readonly #execution: NativeExecution;
  readonly #onUpdate: ((output: ExecOutput) => void) | undefined;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(execution: NativeExecution, onUpdate: ((output: ExecOutput) => void) | undefined) {
    this.#execution = execution;
    this.#onUpdate = onUpdate;
  }

  /** There is something new. */
  note(): void {
    if (!this.#onUpdate || this.#timer) return;
    const wait = this.#next - performance.now();
    if (wait <= 0) this.#tell();
    else this.#timer = setTimeout(() => this.#tell(), wait);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tell(): void {
    this.#timer = undefined;
    this.#next = performance.now() + UPDATE_MS;
    try {
      this.#onUpdate?.(JSON.parse(this.#execution.snapshot()) as ExecOutput);
    } catch {
      // Who looks on does not stop the run.
    }
  }
}
