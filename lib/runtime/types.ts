// The shapes of `workspace.runtime` and of what its backends call.

import type { WorkspaceFilesystem } from "../types.js";

/** What the input and the result of a run may be: JSON. */
export type WorkspaceRuntimeValue =
  | null
  | boolean
  | number
  | string
  | WorkspaceRuntimeValue[]
  | { [key: string]: WorkspaceRuntimeValue };

/** `"utf8"`: output comes as text; not given: as bytes. */
export type ExecEncoding = "utf8" | undefined;

/** A piece of output. */
export type RuntimeChunk<E extends ExecEncoding> = E extends "utf8" ? string : Uint8Array;

/** What a run's code may do with files. */
export type WorkspaceRuntimeAccess = "read" | "read-write";

/** What becomes of a run whose process is gone. */
export type WorkspaceRuntimeInterruptPolicy = "fail" | "restart" | "replay";

/** How a run ended. */
export type WorkspaceRuntimeStatus = "completed" | "failed" | "cancelled";

/** Why a run did not complete. */
export type WorkspaceRuntimeReason =
  /** Its code failed. */
  | "error"
  /** It took longer than `timeoutMs`. */
  | "timeout"
  /** It computed longer than `maxCpuMs`. */
  | "cpu"
  /** It needed more than `maxMemoryBytes`. */
  | "memory"
  /** It was stopped. */
  | "killed"
  /** The process that it belonged to ended. */
  | "interrupted"
  /** On replay its code took another way. */
  | "diverged"
  /** Its process could not be started: nothing of it ran. */
  | "not-started"
  /** Its process broke down. */
  | "crashed"
  /** It went beyond another limit. */
  | "limit";

/** How `workspace.runtime` keeps output. */
export interface WorkspaceOutputOptions extends WorkspaceRuntimeOutputOptions {
  /**
   * Directory of the files with the whole output of runs that printed more than a result holds.
   * @defaultValue `"/.carrel/output"`
   */
  dir?: string;
  /** How many of those files are kept. @defaultValue 50 */
  keep?: number;
}

/** How much of each stream a result has: the end of it, whole lines. */
export interface WorkspaceRuntimeOutputOptions {
  /** @defaultValue 2000 */
  maxLines?: number;
  /** @defaultValue 65536 */
  maxBytes?: number;
}

/** How a run is made. */
export interface WorkspaceRuntimeExecOptions<E extends ExecEncoding = undefined> {
  /** Name of the run, up to 256 bytes. @defaultValue a random UUID */
  id?: string;
  /** Which backend. @defaultValue the first */
  backend?: string;
  /** Directory in which relative imports and files are. @defaultValue the backend's root */
  cwd?: string;
  /** `"utf8"`: output comes as text. */
  encoding?: E;
  /** Argument of the module's default function. @defaultValue `null` */
  input?: WorkspaceRuntimeValue;
  /** `process.env` of the run; nothing of the host's is in it. */
  env?: Record<string, string>;
  /** Standard input. */
  stdin?: Uint8Array | string;
  /** Longest time that the run may take. @defaultValue the backend's `defaultTimeoutMs` */
  timeoutMs?: number;
  /** What becomes of it if its process is gone. @defaultValue the backend's */
  onInterrupt?: WorkspaceRuntimeInterruptPolicy;
  /** How much output a result has; `false`: all of it. @defaultValue the workspace's */
  output?: WorkspaceRuntimeOutputOptions | false;
  /** What the source is written in. Types of TypeScript are stripped, not checked. @defaultValue `"javascript"` */
  language?: "javascript" | "typescript";
  /** Some words for people who look at runs. */
  label?: string;
  /** Stops the run. */
  signal?: AbortSignal;
  /** Accepted for code that was written for other backends; means nothing here. */
  sync?: "wait" | "defer";
}

/** How a run is looked up. */
export interface WorkspaceRuntimeGetOptions<E extends ExecEncoding = undefined> {
  backend?: string;
  encoding?: E;
  /**
   * Where its events begin: `"full"` with the first, `"tail"` after the last so far, a number after the
   * event with that `seq`.
   * @defaultValue `"full"`
   */
  resume?: "tail" | "full" | number;
  output?: WorkspaceRuntimeOutputOptions | false;
}

/** The signals that a run may be stopped with; all mean the same. */
export type KillSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP";

/** How a run is stopped. */
export interface WorkspaceRuntimeKillOptions {
  backend?: string;
  signal?: KillSignal;
}

/** Which run is forgotten. */
export interface WorkspaceRuntimeDisposeOptions {
  backend?: string;
}

/** Something that a run did. */
export type WorkspaceRuntimeEvent<E extends ExecEncoding = undefined> =
  | { id: string; seq: number; name: "stdout" | "stderr"; value: RuntimeChunk<E> }
  | {
      id: string;
      seq: number;
      name: "exit";
      code: number;
      status: WorkspaceRuntimeStatus;
      reason?: WorkspaceRuntimeReason;
      /** What the code returned, if it completed. */
      result?: WorkspaceRuntimeValue;
      truncated?: WorkspaceRuntimeTruncation;
    };

/** Of which streams a result has the end only. */
export interface WorkspaceRuntimeTruncation {
  stdout?: TruncatedOutput;
  stderr?: TruncatedOutput;
}

/** A stream of which a result has the end only. */
export type TruncatedOutput = (
  | {
      status: "saved";
      /** The file with all of it. */
      path: string;
    }
  | {
      status: "not-saved";
      reason: string;
    }
) & {
  totalBytes: number;
  totalLines: number;
  /** Number of the first line that is there, from 1. */
  firstLine: number;
  /** Whether that line begins before what is there. */
  partialLine: boolean;
};

/** What came of a run. */
export interface WorkspaceRuntimeResult<E extends ExecEncoding = undefined> {
  status: WorkspaceRuntimeStatus;
  /** 0, or what the code set; 1 failed, 124 too long, 137 too much memory, 130 stopped. */
  exitCode: number;
  /** Of a run that did not complete. */
  reason?: WorkspaceRuntimeReason;
  stdout: RuntimeChunk<E>;
  stderr: RuntimeChunk<E>;
  /** What the code returned, `null` for nothing; absent if it did not complete. */
  value?: WorkspaceRuntimeValue;
  truncated?: WorkspaceRuntimeTruncation;
  /** For code that was written for backends with files of their own. */
  pushed: number;
  pulled: number;
  skipped: never[];
  sync: { status: "complete"; applied: number; skipped: never[] };
}

/**
 * A run: a stream of its events. Nothing is read before somebody reads, and to let go of the handle, in
 * whatever way, never stops the run.
 *
 * Either the stream is read or `result()` is called: after the first read `result()` throws, after
 * `result()` the stream fails.
 */
export interface WorkspaceRuntimeExecHandle<E extends ExecEncoding = undefined>
  extends ReadableStream<WorkspaceRuntimeEvent<E>>,
    Disposable,
    AsyncDisposable {
  readonly id: string;
  readonly backend: string;
  /** Waits for the end. Rejects with `ECLOSED` if the handle is disposed meanwhile. */
  result(): Promise<WorkspaceRuntimeResult<E>>;
  /** Stops the run; resolves when it is over. */
  kill(signal?: KillSignal): Promise<void>;
}

/** A backend, as `backends()` shows it. */
export interface WorkspaceBackendInfo {
  id: string;
  /** `"module"`: the source is code of a module. */
  protocol: "module";
  /** Whether it takes `input` and gives a value. */
  callable: boolean;
  /** For a model. */
  description?: string;
}

/** What goes on. */
export interface WorkspaceRuntimeStats {
  /** Runs that have a process. */
  live: number;
  /** Runs that wait for one. */
  queued: number;
  /** Processes that wait for runs. */
  warm: number;
  /** Runs that wait for an answer. */
  waiting: number;
  runs: {
    id: string;
    backend: string;
    state: "queued" | "running" | "parked" | "waiting";
    pid?: number;
    memoryBytes?: number;
    cpuMs?: number;
    /** Milliseconds since the epoch. */
    startedAt: number;
  }[];
}

/**
 * Runs of a workspace.
 *
 * Every method returns a promise, but `backends` and `isCallable`. Codes of rejections: `EEXEC_BUSY` (the
 * run goes on; too many runs wait), `EEXEC_EXISTS` (the id was used), `ENOENT` (there is no such run),
 * `ENOEXEC` (the program that runs code is missing), `EINVAL` (an option, or a backend that is not there),
 * `ELIMIT` (more than a limit of the backend), `ECLOSED`.
 */
export interface WorkspaceRuntime {
  /** The backends, in their order. */
  backends(): WorkspaceBackendInfo[];
  /** Whether there is a backend of that id that takes `input`. */
  isCallable(id: string): boolean;
  /**
   * Runs the source of a module. Resolves when its imports are there and it begins; its syntax errors and
   * those of its static imports reject, with nothing recorded.
   */
  exec<E extends ExecEncoding = undefined>(
    source: string,
    options?: WorkspaceRuntimeExecOptions<E>,
  ): Promise<WorkspaceRuntimeExecHandle<E>>;
  /** A run that was started before, in whatever process. Finished ones are kept for a while. */
  getExec<E extends ExecEncoding = undefined>(
    id: string,
    options?: WorkspaceRuntimeGetOptions<E>,
  ): Promise<WorkspaceRuntimeExecHandle<E>>;
  /** Stops a run; resolves when it is over. One that is over stays as it is. */
  killExec(id: string, options?: WorkspaceRuntimeKillOptions): Promise<void>;
  /** Forgets a run that is over. */
  disposeExec(id: string, options?: WorkspaceRuntimeDisposeOptions): Promise<void>;
  /** Settles the runs that processes left behind. */
  recover(): Promise<void>;
  /** Makes a backend ready, or all of them: the first run is faster then, and their options are checked. */
  ready(backend?: string | { all: true }): Promise<void>;
  /** What goes on now. */
  stats(): Promise<WorkspaceRuntimeStats>;
}

/** What a function of a host module is told of the call. */
export interface WorkspaceModuleCallContext {
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Until when an answer counts, in milliseconds since the epoch. */
  readonly deadline: number;
  /** What the run may do with files. */
  readonly access: WorkspaceRuntimeAccess;
  /** `<run>:<number>`. */
  readonly callId: string;
  /**
   * The real path of one that the code named, if that is inside the backend's root; else `EACCES`. A
   * relative one begins at the run's `cwd`. Rejects with `ENOENT` if nothing is there.
   */
  resolvePath(path: string, options?: { readonly allowMissing?: boolean }): Promise<string>;
  /** Asks outside and waits for the answer, for as long as it takes. Needs a run that can be replayed. */
  interrupt<Answer = WorkspaceRuntimeValue>(
    payload?: WorkspaceRuntimeValue,
    options?: { expiresInMs?: number },
  ): Promise<Answer>;
}

/**
 * A function of a host module. Arguments and result are anything that a structured clone can hold but
 * class instances; what it throws reaches the code as an error with the same `name`, `message`, `code`,
 * `path`, `cause` and `data`.
 */
export interface WorkspaceModuleFunction {
  // biome-ignore lint/suspicious/noExplicitAny: functions name the arguments that they expect.
  (args: any, context: WorkspaceModuleCallContext): unknown;
  /** What it does, for a model. */
  readonly description?: string;
}

/** A host module: functions by the names under which code imports them. */
export type WorkspaceModuleFunctions = Readonly<Record<string, WorkspaceModuleFunction>>;

/** What the factory of a host module is given. */
export interface WorkspaceModuleHost {
  readonly fs: WorkspaceFilesystem;
  readonly runtime: WorkspaceRuntime;
}

/** Makes a host module when a backend is connected. One without functions is left out. */
export interface WorkspaceModuleFactory {
  (host: WorkspaceModuleHost): WorkspaceModuleFunctions | Promise<WorkspaceModuleFunctions>;
  /** What the module is for and has, for a model. */
  readonly description?: string | undefined;
}

/** A module that code can import: source text, a host module, or what makes one. */
export type WorkspaceModule = string | WorkspaceModuleFunctions | WorkspaceModuleFactory;

/** What a backend is connected to. */
export interface WorkspaceBackendHost extends WorkspaceModuleHost {
  /** Of the workspace. */
  readonly output: WorkspaceOutputOptions | false | undefined;
}
