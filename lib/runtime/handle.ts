// The handle of a run: its events as a stream, or its result.
//
// A handle holds a number, that of the last event it gave. It asks the core for what comes after that when
// somebody reads, so a handle that nobody uses costs nothing, and one that is let go of leaves nothing.

import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import { TextDecoder } from "node:util";
import type { NativeRunEvent, NativeRuntime } from "../../index.js";
import { argumentTypeError, userError, WorkspaceError } from "../errors.js";
import type {
  ExecEncoding,
  KillSignal,
  RuntimeChunk,
  TruncatedOutput,
  WorkspaceRuntimeEvent,
  WorkspaceRuntimeExecHandle,
  WorkspaceRuntimeOutputOptions,
  WorkspaceRuntimeReason,
  WorkspaceRuntimeResult,
  WorkspaceRuntimeStatus,
  WorkspaceRuntimeTruncation,
  WorkspaceRuntimeValue,
} from "./types.js";

/** What a handle is about. */
export interface HandleOptions<E extends ExecEncoding> {
  native: NativeRuntime;
  id: string;
  backend: string;
  encoding: E | undefined;
  /** The event after which the stream begins; what gives it, once somebody reads. */
  after: number | (() => number | Promise<number>);
  output: WorkspaceRuntimeOutputOptions | false | undefined;
  kill: () => Promise<void>;
}

/** The JSON of an exit. */
interface Exit {
  code: number;
  status: WorkspaceRuntimeStatus;
  reason?: WorkspaceRuntimeReason;
  /** JSON in JSON: the core does not look into it. */
  value?: string;
  truncated?: WorkspaceRuntimeTruncation;
}

/** The JSON of a result. */
interface Result {
  status: WorkspaceRuntimeStatus;
  exitCode: number;
  reason?: WorkspaceRuntimeReason;
  value?: string;
  stdout: string;
  stderr: string;
  truncated?: WorkspaceRuntimeTruncation;
}

/** What a handle and its stream share. */
interface State {
  /** Somebody has read an event. */
  isRead: boolean;
  /** The stream gives nothing any more. */
  isOver: boolean;
  controller?: ReadableStreamDefaultController;
}

type Streams = "stdout" | "stderr";

/** Events as the core has them, made those of users. */
class Events<E extends ExecEncoding> {
  readonly #id: string;
  readonly #decoders: Record<Streams, TextDecoder> | undefined;
  #lastSeq = 0;

  constructor(id: string, encoding: ExecEncoding) {
    this.#id = id;
    const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
    this.#decoders = encoding === "utf8" ? { stdout: decoder(), stderr: decoder() } : undefined;
  }

  /** One event of the core; the last one may have what was left of characters before it. */
  *of({ seq, name, bytes, json }: NativeRunEvent): Generator<WorkspaceRuntimeEvent<E>> {
    const id = this.#id;
    if (name === "exit") {
      for (const stream of ["stdout", "stderr"] as const) {
        // Numbers belong to the events of the run, so that this one shares its number with one before it.
        const rest = this.#decoders?.[stream].decode();
        if (rest) yield { id, seq: this.#lastSeq, name: stream, value: rest as RuntimeChunk<E> };
      }
      const { value, code, status, reason, truncated } = JSON.parse(json ?? "{}") as Exit;
      yield {
        id,
        seq,
        name,
        code,
        status,
        ...(reason !== undefined && { reason }),
        ...(value !== undefined && { result: JSON.parse(value) as WorkspaceRuntimeValue }),
        ...(truncated !== undefined && { truncated }),
      };
      return;
    }
    this.#lastSeq = seq;
    const stream = name as Streams;
    const value = this.#decoders ? this.#decoders[stream].decode(bytes, { stream: true }) : bytes;
    yield { id, seq, name: stream, value: value as RuntimeChunk<E> };
  }
}

/** A run. */
export class RunHandle<E extends ExecEncoding>
  extends ReadableStream<WorkspaceRuntimeEvent<E>>
  implements WorkspaceRuntimeExecHandle<E>
{
  declare readonly id: string;
  declare readonly backend: string;
  readonly #options: HandleOptions<E>;
  readonly #state: State;
  #result: Promise<WorkspaceRuntimeResult<E>> | undefined;
  #abandon: (() => void) | undefined;
  #isDisposed = false;

  constructor(options: HandleOptions<E>) {
    const state: State = { isRead: false, isOver: false };
    super(sourceOf(options, state), { highWaterMark: 0 });
    this.#options = options;
    this.#state = state;
    for (const name of ["id", "backend"] as const) {
      Object.defineProperty(this, name, { value: options[name], enumerable: false });
    }
  }

  result(): Promise<WorkspaceRuntimeResult<E>> {
    if (this.#result) return this.#result;
    if (this.#state.isRead) {
      throw new TypeError(
        "the events of this run are being read; get its result from a handle of its own, by getExec()",
      );
    }
    this.#result = this.#isDisposed ? Promise.reject(disposed()) : this.#readResult();
    // Who asks for the result and then lets go of it is not told that it is gone.
    this.#result.catch(() => {});
    this.#state.isOver = true;
    this.#state.controller?.error(
      new TypeError("the result of this run was asked for; its events cannot be read here"),
    );
    return this.#result;
  }

  async kill(signal?: KillSignal): Promise<void> {
    if (signal !== undefined && typeof signal !== "string") throw argumentTypeError("signal must be a string");
    await this.#options.kill();
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#abandon?.();
    if (this.#state.isOver) return;
    this.#state.isOver = true;
    if (this.locked) this.#state.controller?.error(disposed());
    else this.cancel().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
  }

  async #readResult(): Promise<WorkspaceRuntimeResult<E>> {
    const { native, id, encoding, output } = this.#options;
    const abandoned = new Promise<never>((_, reject) => {
      this.#abandon = () => reject(disposed());
    });
    const read = async (): Promise<WorkspaceRuntimeResult<E>> => {
      const json = await native.result(id, output === undefined ? null : JSON.stringify(output));
      const result = JSON.parse(json) as Result;
      const { status, exitCode, reason, value, truncated } = result;
      const { stdout, stderr } = encoding === "utf8" ? result : await bytesOf(native, id, result);
      return {
        status,
        exitCode,
        ...(reason !== undefined && { reason }),
        stdout: stdout as RuntimeChunk<E>,
        stderr: stderr as RuntimeChunk<E>,
        ...(value !== undefined && { value: JSON.parse(value) as WorkspaceRuntimeValue }),
        ...(truncated !== undefined && { truncated }),
        pushed: 0,
        pulled: 0,
        skipped: [],
        sync: { status: "complete", applied: 0, skipped: [] },
      };
    };
    try {
      return await Promise.race([read(), abandoned]);
    } catch (thrown) {
      throw userError(thrown);
    } finally {
      this.#abandon = undefined;
    }
  }
}

function sourceOf<E extends ExecEncoding>(
  { native, id, encoding, after }: HandleOptions<E>,
  state: State,
): UnderlyingSource<WorkspaceRuntimeEvent<E>> {
  const events = new Events<E>(id, encoding);
  const ready: WorkspaceRuntimeEvent<E>[] = [];
  let cursor: number | undefined;
  /** Takes the next events of the core; false when there are none any more. */
  const more = async (): Promise<boolean> => {
    cursor ??= typeof after === "number" ? after : await after();
    const batch = await native.next(id, cursor);
    for (const event of batch) {
      cursor = event.seq;
      ready.push(...events.of(event));
    }
    return batch.length > 0;
  };
  return {
    start(controller) {
      state.controller = controller;
    },
    async pull(controller) {
      state.isRead = true;
      try {
        while (ready.length === 0 && !state.isOver) {
          if (!(await more())) return finish(controller);
        }
      } catch (thrown) {
        throw userError(thrown);
      }
      const event = ready.shift();
      if (state.isOver || !event) return;
      controller.enqueue(event);
      if (event.name === "exit") finish(controller);
    },
    cancel() {
      state.isOver = true;
    },
  };

  function finish(controller: ReadableStreamDefaultController): void {
    if (state.isOver) return;
    state.isOver = true;
    controller.close();
  }
}

/** The output of a result as bytes: those that were printed, also where they are no text. */
async function bytesOf(native: NativeRuntime, id: string, result: Result): Promise<Record<Streams, Uint8Array>> {
  const encoder = new TextEncoder();
  const bytes = { stdout: encoder.encode(result.stdout), stderr: encoder.encode(result.stderr) };
  const garbled = (["stdout", "stderr"] as const).filter((stream) => result[stream].includes("\ufffd"));
  if (garbled.length === 0) return bytes;
  const printed: Record<Streams, Uint8Array[]> = { stdout: [], stderr: [] };
  for (let cursor = 0; ; ) {
    const batch = await native.next(id, cursor);
    for (const event of batch) {
      cursor = event.seq;
      if (event.bytes && event.name !== "exit") printed[event.name as Streams].push(event.bytes);
    }
    if (batch.length === 0 || batch.at(-1)?.name === "exit") break;
  }
  for (const stream of garbled) {
    const whole = Buffer.concat(printed[stream]);
    bytes[stream] = new Uint8Array(whole.subarray(startOf(whole, result[stream], result.truncated?.[stream])));
  }
  return bytes;
}

/** Where the part of a stream that a result has begins. */
function startOf(whole: Buffer, text: string, cut: TruncatedOutput | undefined): number {
  if (!cut) return 0;
  // Each byte that is no text has become one character of three bytes.
  if (cut.partialLine) return Math.max(0, whole.length - Buffer.byteLength(text.replaceAll("\ufffd", "?")));
  let start = 0;
  for (let line = 1; line < cut.firstLine; line += 1) start = whole.indexOf(10, start) + 1;
  return start;
}

function disposed(): WorkspaceError {
  return new WorkspaceError("ECLOSED", "ECLOSED: the handle of the run was disposed");
}
