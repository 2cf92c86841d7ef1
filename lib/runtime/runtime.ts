// `workspace.runtime`: which backend a call is for, and what its options are.

import type { NativeWorkspace } from "../../index.js";
import { argumentTypeError, userError, WorkspaceError } from "../errors.js";
import type { WorkspaceFilesystem } from "../types.js";
import { type Backend, backendParts } from "./backend.js";
import type { Connection } from "./connection.js";
import { RunHandle } from "./handle.js";
import { stripTypes } from "./strip.js";
import type {
  ExecEncoding,
  WorkspaceBackendInfo,
  WorkspaceOutputOptions,
  WorkspaceRuntime,
  WorkspaceRuntimeDisposeOptions,
  WorkspaceRuntimeExecHandle,
  WorkspaceRuntimeExecOptions,
  WorkspaceRuntimeGetOptions,
  WorkspaceRuntimeKillOptions,
  WorkspaceRuntimeStats,
} from "./types.js";
import { toJsonText } from "./values.js";

/** What runs belong to. */
export interface RuntimeOwner {
  native: NativeWorkspace;
  fs: WorkspaceFilesystem;
  output: WorkspaceOutputOptions | false | undefined;
  /** Throws inside the body of a transaction. */
  refuseInTransaction: () => void;
}

/** A backend, and its connection once there is one. */
interface Registered {
  backend: Backend;
  connection: Promise<Connection> | undefined;
  /** Ends what `prewarm` of the backend knows of it. */
  detach: () => void;
}

const EXEC_OPTIONS = [
  "id",
  "backend",
  "cwd",
  "encoding",
  "input",
  "env",
  "stdin",
  "timeoutMs",
  "onInterrupt",
  "output",
  "language",
  "label",
  "signal",
  "sync",
];
const GET_OPTIONS = ["backend", "encoding", "resume", "output"];
const KILL_OPTIONS = ["backend", "signal"];
const DISPOSE_OPTIONS = ["backend"];

/** See the module. */
export class Runtime implements WorkspaceRuntime {
  readonly #owner: RuntimeOwner;
  readonly #backends = new Map<string, Registered>();
  #isClosed = false;

  constructor(owner: RuntimeOwner, backends: readonly Backend[]) {
    this.#owner = owner;
    for (const backend of backends) {
      if (this.#backends.has(backend.id)) throw invalid(`two backends have the id ${JSON.stringify(backend.id)}`);
      const registered: Registered = { backend, connection: undefined, detach: () => {} };
      registered.detach = backendParts(backend).attach(() => this.#connect(registered));
      this.#backends.set(backend.id, registered);
    }
  }

  backends(): WorkspaceBackendInfo[] {
    return [...this.#backends.values()].map(({ backend: { id, protocol, callable, description } }) => ({
      id,
      protocol,
      callable,
      ...(description !== undefined && { description }),
    }));
  }

  isCallable(id: string): boolean {
    return this.#backends.get(id)?.backend.callable ?? false;
  }

  async exec<E extends ExecEncoding = undefined>(
    source: string,
    options?: WorkspaceRuntimeExecOptions<E>,
  ): Promise<WorkspaceRuntimeExecHandle<E>> {
    this.#owner.refuseInTransaction();
    if (typeof source !== "string") throw argumentTypeError("the source must be a string");
    const given = checked(options, EXEC_OPTIONS);
    const { backend, encoding, input, stdin, language, signal, output, sync: _, ...request } = given;
    checkEncoding(encoding);
    const registered = this.#find(backend);
    if (signal !== undefined && !isSignal(signal)) throw argumentTypeError("options.signal must be an AbortSignal");
    if (language !== undefined && language !== "javascript" && language !== "typescript") {
      throw invalid(`options.language must be "javascript" or "typescript", not ${JSON.stringify(language)}`);
    }
    const bytes = stdinOf(stdin);
    const inputJson = input === undefined ? undefined : toJsonText(input, "input");
    signal?.throwIfAborted();
    const connection = await this.#connect(registered);
    const code = language === "typescript" ? await stripTypes(source, "the source") : source;
    signal?.throwIfAborted();
    const asked = {
      ...finite({ ...request, output }),
      ...(inputJson !== undefined && { inputJson }),
    };
    const id = await started(connection, asked, code, bytes, signal);
    return this.#handle(registered, connection, id, { encoding, output, after: 0 });
  }

  async getExec<E extends ExecEncoding = undefined>(
    id: string,
    options?: WorkspaceRuntimeGetOptions<E>,
  ): Promise<WorkspaceRuntimeExecHandle<E>> {
    const { backend, encoding, resume, output } = checked(options, GET_OPTIONS);
    checkEncoding(encoding);
    const registered = this.#find(backend);
    const connection = await this.#connectedTo(registered, id);
    const { native } = connection;
    const isAfter = typeof resume === "number" && Number.isFinite(resume) && resume > 0;
    const after = resume === "tail" ? await asUser(() => native.lastSeq(id)) : isAfter ? Math.floor(resume) : 0;
    return this.#handle(registered, connection, id, { encoding, output, after });
  }

  async killExec(id: string, options?: WorkspaceRuntimeKillOptions): Promise<void> {
    const connection = await this.#connectedTo(this.#find(checked(options, KILL_OPTIONS).backend), id);
    await asUser(() => connection.native.kill(id));
  }

  async disposeExec(id: string, options?: WorkspaceRuntimeDisposeOptions): Promise<void> {
    const connection = await this.#connectedTo(this.#find(checked(options, DISPOSE_OPTIONS).backend), id);
    await asUser(() => connection.native.dispose(id));
  }

  async recover(): Promise<void> {
    await this.#all(({ native }) => native.recover());
  }

  async ready(backend?: string | { all: true }): Promise<void> {
    const all = typeof backend === "object" && backend !== null && backend.all === true;
    if (backend !== undefined && !all && typeof backend !== "string") {
      throw argumentTypeError("ready() takes the id of a backend, or { all: true }");
    }
    if (all) await this.#all(({ native }) => native.prewarm());
    else {
      const { native } = await this.#connect(this.#find(backend));
      await asUser(() => native.prewarm());
    }
  }

  async stats(): Promise<WorkspaceRuntimeStats> {
    this.#checkOpen();
    const sum: WorkspaceRuntimeStats = { live: 0, queued: 0, warm: 0, waiting: 0, runs: [] };
    for (const { backend, connection } of this.#backends.values()) {
      const connected = await connection?.catch(() => undefined);
      if (!connected) continue;
      const stats = JSON.parse(await asUser(() => connected.native.stats())) as WorkspaceRuntimeStats;
      for (const name of ["live", "queued", "warm", "waiting"] as const) sum[name] += stats[name];
      sum.runs.push(...stats.runs.map((run) => ({ ...run, backend: backend.id })));
    }
    return sum;
  }

  /** Ends all runs, and the use of the runtime. Nothing if there is nothing to wait for. */
  close(): Promise<void> | undefined {
    this.#isClosed = true;
    const connections: Promise<Connection>[] = [];
    for (const { connection, detach } of this.#backends.values()) {
      detach();
      if (connection) connections.push(connection);
    }
    if (connections.length === 0) return undefined;
    const closing = connections.map(async (connection) => {
      const connected = await connection.catch(() => undefined);
      await connected?.close();
    });
    return Promise.all(closing).then(() => {});
  }

  #handle<E extends ExecEncoding>(
    { backend }: Registered,
    { native }: Connection,
    id: string,
    { encoding, output, after }: { encoding?: unknown; output?: unknown; after: number },
  ): WorkspaceRuntimeExecHandle<E> {
    return new RunHandle<E>({
      native,
      id,
      backend: backend.id,
      encoding: (encoding === undefined ? undefined : "utf8") as E,
      output: finite({ output }).output as false | undefined,
      after,
      kill: () => this.killExec(id, { backend: backend.id }),
    });
  }

  #find(id: unknown): Registered {
    this.#checkOpen();
    const [first] = this.#backends.values();
    if (!first) throw invalid("this workspace has no backend; give it one with the option backends");
    if (id === undefined) return first;
    if (typeof id !== "string") throw argumentTypeError("options.backend must be a string");
    const found = this.#backends.get(id);
    if (found) return found;
    const ids = [...this.#backends.keys()].map((known) => JSON.stringify(known)).join(", ");
    throw invalid(`there is no backend ${JSON.stringify(id)}; there is ${ids}`);
  }

  /** The connection of a backend that has a run. */
  async #connectedTo(registered: Registered, id: unknown): Promise<Connection> {
    if (typeof id !== "string") throw argumentTypeError("the id of a run must be a string");
    const connection = await this.#connect(registered);
    if (await asUser(() => connection.native.has(id))) return connection;
    throw new WorkspaceError("ENOENT", `ENOENT: there is no run ${JSON.stringify(id)}`, { errno: -2 });
  }

  /** Connects once, for all who ask meanwhile; again after a failure. */
  #connect(registered: Registered): Promise<Connection> {
    this.#checkOpen();
    registered.connection ??= this.#open(registered).catch((error: unknown) => {
      registered.connection = undefined;
      throw error;
    });
    return registered.connection;
  }

  async #open({ backend }: Registered): Promise<Connection> {
    const { native, fs, output } = this.#owner;
    const connection = await asUser(() => backendParts(backend).connect({ native, fs, runtime: this, output }));
    if (!this.#isClosed) return connection;
    await connection.close();
    throw closed();
  }

  async #all(work: (connection: Connection) => Promise<void>): Promise<void> {
    this.#checkOpen();
    const done = [...this.#backends.values()].map(async (registered) => {
      const connection = await this.#connect(registered);
      await asUser(() => work(connection));
    });
    await Promise.all(done);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closed();
  }
}

/** Starts a run that a signal stops. When it fires meanwhile, what starts nevertheless is stopped and forgotten. */
async function started(
  connection: Connection,
  request: object,
  source: string,
  stdin: Uint8Array | null,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { native } = connection;
  if (!signal) return asExec(() => connection.exec(request, source, stdin));
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  const starting = asExec(() =>
    connection.exec(request, source, stdin, (id) => {
      const kill = () => {
        native.kill(id).catch(() => {});
      };
      signal.addEventListener("abort", kill, { once: true });
      return () => signal.removeEventListener("abort", kill);
    }),
  );
  try {
    return await Promise.race([starting, aborted]);
  } catch (error) {
    starting.then((id) => native.kill(id).then(() => native.dispose(id))).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function asExec<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw execError(thrown);
  }
}

async function asUser<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw userError(thrown);
  }
}

/** What `exec` rejects with: errors of the source's own kind are of that kind. */
function execError(thrown: unknown): unknown {
  const { message } = (thrown ?? {}) as { message?: unknown };
  if (typeof message !== "string" || !message.startsWith("{")) return userError(thrown);
  let failure: { name?: string; message?: string; code?: string | null; path?: string | null };
  try {
    failure = JSON.parse(message);
  } catch {
    return thrown;
  }
  if (typeof failure.name !== "string") return userError(thrown);
  const Kind = { SyntaxError, TypeError, RangeError, ReferenceError }[failure.name] ?? Error;
  const error = new Kind(failure.message);
  if (error.name !== failure.name) Object.defineProperty(error, "name", { value: failure.name, configurable: true });
  return Object.assign(
    error,
    failure.code != null && { code: failure.code },
    failure.path != null && { path: failure.path },
  );
}

// biome-ignore lint/suspicious/noExplicitAny: what users pass is checked piece by piece.
type Given = Record<string, any>;

/** Options without those that are not given; refuses those that are not known. */
function checked(options: unknown, known: readonly string[]): Given {
  if (options == null) return {};
  if (typeof options !== "object") throw argumentTypeError("options must be an object");
  const given: Given = {};
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) throw invalid(`there is no option ${JSON.stringify(name)}`);
    if (value === undefined) continue;
    checkText(name, value);
    // `null` is an input like others.
    if (value !== null || name === "input") given[name] = value;
  }
  return given;
}

/** Texts go to the core as UTF-8, which has no lone surrogates: an id or a path with one would be another. */
function checkText(place: string, value: unknown): void {
  if (typeof value === "string") {
    if (/\p{Surrogate}/u.test(value)) throw invalid(`${place} has a lone surrogate, which is no character`);
  } else if (place === "env" && typeof value === "object" && value !== null) {
    for (const [name, text] of Object.entries(value)) {
      checkText(`a name in env`, name);
      checkText(`env.${name}`, text);
    }
  }
}

function checkEncoding(encoding: unknown): void {
  if (encoding !== undefined && encoding !== "utf8" && encoding !== "utf-8") {
    throw invalid(`encoding must be "utf8", for text, or be left out, for bytes; not ${JSON.stringify(encoding)}`);
  }
}

/** Options as the core reads them, which are JSON: numbers that JSON does not have come as their text. */
export function finite(options: object): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "number" && !Number.isFinite(value)) written[name] = String(value);
    else if (name === "output" && typeof value === "object") written[name] = finite(value);
    else if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
      throw argumentTypeError(`${name} cannot be a ${typeof value}`);
    } else written[name] = value;
  }
  return written;
}

function stdinOf(stdin: unknown): Uint8Array | null {
  if (stdin === undefined) return null;
  if (typeof stdin === "string") return new TextEncoder().encode(stdin);
  if (stdin instanceof Uint8Array) return stdin;
  throw argumentTypeError("options.stdin must be a string or a Uint8Array");
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof (value as AbortSignal | null)?.throwIfAborted === "function";
}

function invalid(sentence: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: ${sentence}`, { errno: -22 });
}

function closed(): WorkspaceError {
  return new WorkspaceError("ECLOSED", "ECLOSED: the workspace is closed");
}
