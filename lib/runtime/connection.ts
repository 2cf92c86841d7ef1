// One backend in one workspace: the core's runtime, and what the core asks of JavaScript.
//
// - Whatever a host function does, its call is answered once and nothing is thrown elsewhere.
// - A call that nobody waits for any more has its signal aborted; its answer is dropped by the core.

import type { NativeRuntime, NativeWorkspace } from "../../index.js";
import { userError, WorkspaceError } from "../errors.js";
import { Exchanges, type Network, stepError } from "./egress.js";
import { ExchangeError } from "./exchange.js";
import type { ConnectedModules } from "./modules.js";
import { stripTypes } from "./strip.js";
import type { WorkspaceModuleCallContext, WorkspaceRuntimeAccess } from "./types.js";
import type { Upcall } from "./upcall.js";
import { decode, encode, encodeError, VALUES_MAX, type ValueBudget } from "./values.js";

/** What a connection is made of. */
export interface ConnectionOptions {
  native: NativeWorkspace;
  /** Of the backend, for the core; complete but for the modules. */
  config: object;
  root: string;
  access: WorkspaceRuntimeAccess;
  rules: unknown;
  modules: ConnectedModules;
  network: Network | undefined;
  callBytesMax: number | undefined;
}

type HostUpcall = Extract<Upcall, { kind: "host" }>;
type FetchUpcall = Extract<Upcall, { kind: "fetch" }>;

/** Runs that can have ended while nobody was told yet that they began. */
const ENDED_MAX = 1000;

/** A call that is being served. */
interface Serving {
  controller: AbortController;
  /** Of a step of a request. */
  token?: string | undefined;
}

/** See the module. */
export class Connection {
  readonly native: NativeRuntime;
  readonly #options: ConnectionOptions;
  readonly #exchanges: Exchanges | undefined;
  /** By run and number. */
  readonly #serving = new Map<string, Serving>();
  /**
   * How many values the arguments of the calls of a run that are being served may still have, by run. A run could
   * otherwise take much memory of this process with few bytes.
   */
  readonly #budgets = new Map<string, ValueBudget>();
  /** Runs that were started here and go on: where they look for relative paths, and who waits for their end. */
  readonly #live = new Map<string, { cwd: string | undefined; onEnd: (() => void) | undefined }>();
  /** The latest runs that ended: the end of a short one is told before its beginning. */
  readonly #ended = new Set<string>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#exchanges = options.network && new Exchanges(options.network);
    const config = { ...options.config, modules: options.modules.exports, network: this.#exchanges !== undefined };
    this.native = options.native.runtime(JSON.stringify(config), (json, bytes) =>
      this.#serve(JSON.parse(json) as Upcall, bytes),
    );
  }

  /**
   * Starts a run.
   *
   * @param onStart is given its id; what it returns is called when the run is over
   */
  async exec(
    request: { cwd?: string | undefined },
    source: string,
    stdin: Uint8Array | null,
    onStart?: (id: string) => () => void,
  ): Promise<string> {
    const id = await this.native.exec(JSON.stringify(request), source, stdin);
    const onEnd = onStart?.(id);
    if (this.#ended.delete(id)) onEnd?.();
    else this.#live.set(id, { cwd: request.cwd, onEnd });
    return id;
  }

  async close(): Promise<void> {
    try {
      await this.native.close();
    } finally {
      for (const { controller } of this.#serving.values()) controller.abort(closed());
      this.#serving.clear();
      for (const { onEnd } of this.#live.values()) onEnd?.();
      this.#live.clear();
      this.#exchanges?.close();
    }
  }

  #serve(upcall: Upcall, bytes: Uint8Array | null): void {
    switch (upcall.kind) {
      case "host":
        void this.#host(upcall, bytes ?? new Uint8Array(0));
        return;
      case "fetch":
        void this.#fetch(upcall, bytes);
        return;
      case "strip":
        stripTypes(Buffer.from(bytes ?? []).toString(), upcall.path).then(
          (code) => this.#answer(upcall, true, null, JSON.stringify(code)),
          (error: Error) =>
            this.#answer(upcall, false, null, JSON.stringify([error.name, null, error.message, upcall.path])),
        );
        return;
      case "cancel":
        this.#cancel(upcall);
        return;
      default:
        this.#end(upcall.run);
    }
  }

  #cancel({ run, call }: { run: string; call: number }): void {
    const serving = this.#serving.get(keyOf(run, call));
    serving?.controller.abort(new DOMException("nobody waits for this call any more", "AbortError"));
    if (serving?.token !== undefined) this.#exchanges?.cancel(run, serving.token, new Error("the request was aborted"));
  }

  #end(run: string): void {
    this.#exchanges?.end(run);
    const live = this.#live.get(run);
    this.#live.delete(run);
    if (live) {
      live.onEnd?.();
      return;
    }
    this.#ended.add(run);
    if (this.#ended.size > ENDED_MAX) this.#ended.delete(this.#ended.values().next().value as string);
  }

  #answer({ run, call }: { run: string; call: number }, isOk: boolean, bytes: Uint8Array | null, json: string | null) {
    try {
      this.native.answer(run, call, isOk, bytes, json);
    } catch {
      // The run is over, or the workspace closed: there is nobody to tell.
    }
  }

  async #host(upcall: HostUpcall, bytes: Uint8Array): Promise<void> {
    const { run, call, module, function: name } = upcall;
    const key = keyOf(run, call);
    const controller = new AbortController();
    this.#serving.set(key, { controller });
    const bytesMax = this.#options.callBytesMax;
    const limits = bytesMax === undefined ? {} : { bytesMax };
    let answer: Uint8Array;
    let isOk = true;
    let values = 0;
    try {
      const functions = this.#options.modules.functions.get(module);
      const serve = functions && Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (!serve) throw new WorkspaceError("ENOSYS", `ENOSYS: there is no function ${name} in ${module}`);
      const budget = this.#budget(run);
      const { left } = budget;
      let args: unknown;
      try {
        args = decode(bytes, budget);
      } finally {
        values = left - budget.left;
      }
      const result = await serve.call(functions, args, this.#context(upcall, controller.signal));
      answer = encode(result, { place: `the result of ${name}`, ...limits });
    } catch (thrown) {
      isOk = false;
      answer = encodeError(thrown, limits);
    }
    this.#serving.delete(key);
    this.#giveBack(run, values);
    this.#answer(upcall, isOk, answer, null);
  }

  #budget(run: string): ValueBudget {
    const budget = this.#budgets.get(run) ?? { left: VALUES_MAX };
    this.#budgets.set(run, budget);
    return budget;
  }

  #giveBack(run: string, values: number): void {
    const budget = this.#budgets.get(run);
    if (!budget) return;
    budget.left += values;
    if (budget.left === VALUES_MAX) this.#budgets.delete(run);
  }

  #context({ run, call, deadline }: HostUpcall, signal: AbortSignal): WorkspaceModuleCallContext {
    return {
      signal,
      deadline,
      access: this.#options.access,
      callId: `${run}:${call}`,
      resolvePath: (path, options) => this.#resolvePath(run, path, options?.allowMissing === true),
      interrupt: async () => {
        throw new WorkspaceError(
          "EINVAL",
          "EINVAL: a run cannot wait for an answer: this version has no runs that can be resumed",
        );
      },
    };
  }

  /** Where a path leads, by the rules of the backend. */
  async #resolvePath(run: string, path: string, allowsMissing: boolean): Promise<string> {
    const { native, root, rules } = this.#options;
    if (typeof path !== "string")
      throw Object.assign(new TypeError("path must be a string"), { code: "ERR_INVALID_ARG_TYPE" });
    const directory = this.#live.get(run)?.cwd ?? root;
    const base = directory.startsWith("/") ? directory : `${root}/${directory}`;
    const whole = path.startsWith("/") ? path : `${base}/${path}`;
    try {
      const tools = native.tools({ ...(root !== "/" && { root }), ...(rules != null && { rules }) }, "[]");
      const { path: real } = JSON.parse(await tools.locate(whole)) as { path: string };
      if (!allowsMissing) await native.files().stat(real, true);
      return real;
    } catch (thrown) {
      throw userError(thrown);
    }
  }

  async #fetch(upcall: FetchUpcall, bytes: Uint8Array | null): Promise<void> {
    const { run, call, step, args } = upcall;
    const key = keyOf(run, call);
    this.#serving.set(key, { controller: new AbortController(), token: String(args[0]) });
    try {
      if (!this.#exchanges) throw new ExchangeError("EACCES", "this run has no network access");
      const answer = await this.#exchanges.step(run, step, args, bytes);
      this.#serving.delete(key);
      if ("bytes" in answer) this.#answer(upcall, true, answer.bytes, null);
      else this.#answer(upcall, true, null, answer.json);
    } catch (thrown) {
      this.#serving.delete(key);
      this.#answer(upcall, false, null, stepError(thrown));
    }
  }
}

function keyOf(run: string, call: number): string {
  return `${call}:${run}`;
}

function closed(): WorkspaceError {
  return new WorkspaceError("ECLOSED", "ECLOSED: the workspace is closed");
}
