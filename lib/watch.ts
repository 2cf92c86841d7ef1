// A native watch as an async iterator.

import type { NativeFiles, NativeWatch } from "../index.js";
import { call } from "./call.js";
import { argumentTypeError } from "./errors.js";
import type { WatchOptions, WorkspaceEvent } from "./types.js";

/** Begins to watch at once; the first failure, also of that, comes out of the iteration. */
export function watchEvents(
  native: NativeFiles,
  path: string,
  options: WatchOptions | null | undefined,
): AsyncIterableIterator<WorkspaceEvent> {
  let signal: AbortSignal | undefined;
  const cancel = () => {
    opened.then(
      (watch) => watch.cancel(),
      () => {},
    );
  };
  const open = async (): Promise<NativeWatch> => {
    signal = options?.signal ?? undefined;
    if (signal !== undefined && typeof signal.throwIfAborted !== "function") {
      throw argumentTypeError("signal must be an AbortSignal");
    }
    signal?.addEventListener("abort", cancel, { once: true });
    return call(() => native.watch(path, options));
  };
  const opened = open();
  // It is for the iteration to report.
  opened.catch(() => {});

  let events: WorkspaceEvent[] = [];
  let isOver = false;
  // One call at a time, in order, as async generators do it.
  let turn: Promise<unknown> = opened;

  const advance = async (): Promise<IteratorResult<WorkspaceEvent>> => {
    const watch = await opened;
    if (events.length === 0 && !isOver) {
      signal?.throwIfAborted();
      events = (await call(() => watch.next())) as WorkspaceEvent[];
      signal?.throwIfAborted();
      isOver = events.length === 0;
    }
    const event = isOver ? undefined : events.shift();
    return event ? { done: false, value: event } : { done: true, value: undefined };
  };

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const result = turn.then(advance, advance);
      turn = result.catch(() => {
        isOver = true;
      });
      return result;
    },
    async return() {
      isOver = true;
      events = [];
      signal?.removeEventListener("abort", cancel);
      cancel();
      return await call(() => ({ done: true as const, value: undefined }));
    },
  };
}
