// The class that users open.

import { AsyncLocalStorage } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import binding, { type NativeWorkspace } from "../index.js";
import { call } from "./call.js";
import { argumentTypeError, userError, WorkspaceError } from "./errors.js";
import { Filesystem } from "./filesystem.js";
import { finite, Runtime } from "./runtime/runtime.js";
import type { WorkspaceRuntime } from "./runtime/types.js";
import type {
  AuditQuery,
  AuditRecord,
  WorkspaceAudit,
  WorkspaceFilesystem,
  WorkspaceOptions,
  WorkspaceReport,
} from "./types.js";

/** What the tools need of a workspace. */
export let nativeOf: (workspace: Workspace) => {
  native: NativeWorkspace;
  now: (() => number) | undefined;
  /** Its backends. What they say of themselves is asked for when somebody reads it. */
  backends: { id: string; callable: boolean }[];
  /** Throws inside the body of a transaction, which a change would wait for. */
  refuseInTransaction: () => void;
};

/** The directory that every workspace has, where an agent's work goes. */
export const WORKSPACE_ROOT = "/workspace";

/**
 * A file system in one SQLite file.
 *
 * Opening is synchronous and cheap. It throws a {@link WorkspaceError}: `EIO` if the file is no
 * workspace, damaged or of a newer version, `EACCES`, `EROFS` and `ENOENT` as the host's file
 * system has them, `EISDIR` and `ENOTDIR` for a path that cannot be a file, `EINVAL` for an option
 * with a value that is not allowed. The file is not changed then.
 *
 * An open workspace does not keep the process alive; calls under way do. Several processes, and
 * several workspaces of one process, may have one file open.
 *
 * @example
 * ```js
 * const workspace = new Workspace({ storage: "agent.db" });
 * await workspace.fs.writeFile("/workspace/notes.md", "# Notes\n");
 * await workspace.close();
 * ```
 */
export class Workspace implements AsyncDisposable, Disposable {
  /** The files. */
  readonly fs: WorkspaceFilesystem;

  /** The record of tool calls, kept if the workspace was opened with `audit: true`. */
  readonly audit: WorkspaceAudit;

  /** Runs of code, by the backends that the workspace was opened with. */
  readonly runtime: WorkspaceRuntime;

  static {
    nativeOf = (workspace) => {
      if (typeof workspace !== "object" || workspace === null || !(#native in workspace)) {
        throw argumentTypeError("options.workspace must be a Workspace");
      }
      return {
        native: workspace.#native,
        now: workspace.#now,
        backends: workspace.#backends,
        refuseInTransaction: () => workspace.#refuseInTransaction("call tools that change something after it"),
      };
    };
  }

  readonly #native: NativeWorkspace;
  readonly #now: (() => number) | undefined;
  readonly #runtime: Runtime;
  readonly #backends: { id: string; callable: boolean }[];
  /** Fires when the workspace begins to close. */
  readonly #closing = new AbortController();
  /** Inside the body of a transaction of this workspace: whether it still is open. */
  readonly #transaction = new AsyncLocalStorage<{ isOpen: boolean }>();

  constructor(options: WorkspaceOptions) {
    // As many as there are streams; Node takes more than a few for a leak, and warns.
    setMaxListeners(0, this.#closing.signal);
    const now = options?.now ?? undefined;
    if (now !== undefined && typeof now !== "function") throw argumentTypeError("options.now must be a function");
    const { backends, output, recover, ...settings } = options ?? {};
    if (backends != null && !Array.isArray(backends)) throw argumentTypeError("options.backends must be a list");
    if (recover != null && typeof recover !== "boolean") throw argumentTypeError("options.recover must be a boolean");
    try {
      if (output != null) binding.validateRuntimeConfig(JSON.stringify({ output: finite({ output }).output }));
      this.#native = new binding.NativeWorkspace(typeof options === "object" && options ? settings : options);
    } catch (thrown) {
      throw userError(thrown);
    }
    this.#now = now;
    this.fs = new Filesystem(this.#native.files(), {
      now,
      guard: () => this.#refuseInTransaction("use the fs that the transaction passes to its body"),
      closing: this.#closing.signal,
    });
    try {
      this.#runtime = new Runtime(
        {
          native: this.#native,
          fs: this.fs,
          output: output ?? undefined,
          refuseInTransaction: () => this.#refuseInTransaction("start runs after it"),
        },
        backends ?? [],
      );
    } catch (error) {
      this.#native.close().catch(() => {});
      throw error;
    }
    this.runtime = this.#runtime;
    this.#backends = (backends ?? []).map(({ id, callable }) => ({ id, callable }));
    // What cannot be recovered now is settled by the next call of the runtime, which tells of failures.
    if (recover) this.#runtime.recover().catch(() => {});
    this.audit = {
      query: async (query?: AuditQuery) => JSON.parse(await call(() => this.#native.audit(query))) as AuditRecord[],
    };
  }

  /**
   * Makes several changes one: all of them become visible and durable when the body has resolved,
   * or none if it rejects; then this rejects with the same error.
   *
   * The body works through the `fs` it is given, which sees its own changes. Other writers, in any
   * process, wait meanwhile; readers see the state before. Changing something through
   * `workspace.fs`, or another transaction, inside the body rejects with `EINVAL`, since it would
   * wait for the transaction to end.
   *
   * @returns what the body resolved with
   */
  async transaction<T>(body: (fs: WorkspaceFilesystem) => Promise<T> | T): Promise<T> {
    if (typeof body !== "function") throw argumentTypeError("the body of a transaction must be a function");
    this.#refuseInTransaction("a transaction cannot begin inside another");
    const transaction = await call(() => this.#native.begin());
    const state = { isOpen: true };
    let result: T;
    try {
      const fs = new Filesystem(transaction.files(), { now: this.#now });
      result = await this.#transaction.run(state, async () => body(fs));
    } catch (error) {
      state.isOpen = false;
      await call(() => transaction.end(false));
      throw error;
    }
    state.isOpen = false;
    await call(() => transaction.end(true));
    return result;
  }

  /**
   * Checks the database and every rule of its format, and reads all contents. Takes time in
   * proportion to the size of the workspace; nothing is changed.
   */
  async check(): Promise<WorkspaceReport> {
    const { problems, ...report } = await call(() => this.#native.check());
    return {
      ...report,
      problems: problems.map(({ path, ...problem }) => (path == null ? problem : { ...problem, path })),
    };
  }

  /**
   * Removes what nothing uses any more and gives the space back to the disk. Unused contents are
   * removed in the background anyway, and their space is used again; this makes the file smaller.
   * Writers wait meanwhile. Open streams go on.
   */
  async compact(): Promise<{ freedBytes: number }> {
    this.#refuseInTransaction("compact() waits for transactions to end");
    return { freedBytes: await call(() => this.#native.compact()) };
  }

  /**
   * Ends the use of the workspace: its runs at once, and calls under way, transactions included, when they
   * are done. Later calls,
   * streams that are still open and writes from a source that still delivers reject with
   * `ECLOSED`. Closing twice is fine.
   */
  async close(): Promise<void> {
    this.#refuseInTransaction("close() waits for transactions to end");
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#closing.abort(new WorkspaceError("ECLOSED", "ECLOSED: the workspace is closed"));
    // What runs did last is written before the database is closed. Without runs it is closed at once.
    const ending = this.#runtime.close();
    if (ending) await ending.catch(() => {});
    await call(() => this.#native.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Begins to close, without waiting. */
  [Symbol.dispose](): void {
    this.#end().catch(() => {});
  }

  #refuseInTransaction(advice: string): void {
    if (this.#transaction.getStore()?.isOpen) {
      throw new WorkspaceError("EINVAL", `EINVAL: this would wait for the transaction it is part of; ${advice}`, {
        errno: -22,
        syscall: "transaction",
      });
    }
  }
}
