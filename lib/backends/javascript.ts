/**
 * The backend that runs JavaScript: each run in a V8 isolate in a process of its own.
 *
 * @packageDocumentation
 */

import binding from "../../index.js";
import { argumentTypeError, userError, WorkspaceError } from "../errors.js";
import { type Backend, registerBackend } from "../runtime/backend.js";
import { Connection } from "../runtime/connection.js";
import { describe } from "../runtime/describe.js";
import { describeEgress, type EgressFetcher, type EgressOptions, egressOf, type Network } from "../runtime/egress.js";
import { isolatePath } from "../runtime/isolate-path.js";
import { type ConfiguredModules, configuredModules, connectModules } from "../runtime/modules.js";
import { finite } from "../runtime/runtime.js";
import type {
  WorkspaceModule,
  WorkspaceModuleFunctions,
  WorkspaceRuntimeAccess,
  WorkspaceRuntimeInterruptPolicy,
} from "../runtime/types.js";
import type { PathRule } from "../types.js";

export type { EgressFetch, EgressFetcher, EgressOptions } from "../runtime/egress.js";
export type * from "../runtime/types.js";

/** How code runs. Every limit is always on; sizes are in bytes. */
export interface JavaScriptBackendOptions {
  /** Name among the backends of a workspace. @defaultValue `"javascript"` */
  id?: string;
  /** The directory that code cannot leave. @defaultValue `"/workspace"` */
  root?: string;
  /** Whether code may change files. @defaultValue `"read-write"` */
  access?: WorkspaceRuntimeAccess;
  /** What code may reach, narrower than the workspace's own rules; globs start at `root`. */
  rules?: PathRule[];
  /**
   * What code can import besides files and Node's modules: source text by a bare name, and functions of
   * this process by a name that begins with `ws:`, given as an object or as a function that makes one for
   * each workspace.
   */
  modules?: Record<string, WorkspaceModule>;
  /** What `fetch` reaches. @defaultValue nothing */
  egress?: EgressOptions;
  /** A function like `fetch`, or an object that has one, that makes the requests of code. `null`: no network. */
  globalOutbound?: EgressFetcher | null;
  /** What becomes of runs whose process is gone. @defaultValue `"fail"` */
  onInterrupt?: WorkspaceRuntimeInterruptPolicy;
  /** Processes that are kept ready. @defaultValue 1 */
  warm?: number;
  /** Runs at once. @defaultValue 24 */
  maxConcurrentExecutions?: number;
  /** Runs that may wait for their turn; more are refused with `EEXEC_BUSY`. @defaultValue 1000 */
  maxQueuedExecutions?: number;
  /** V8's heap and all buffers of a run. @defaultValue 134217728 */
  maxMemoryBytes?: number;
  /** CPU time of a run, in milliseconds. @defaultValue `maxTimeoutMs` */
  maxCpuMs?: number;
  /** Longest time that a run may ask for. @defaultValue 180000 */
  maxTimeoutMs?: number;
  /** Time of a run that asks for none. @defaultValue 60000 */
  defaultTimeoutMs?: number;
  /** Source of a run. @defaultValue 8388608 */
  maxSourceBytes?: number;
  /** Input as JSON. @defaultValue 16777216 */
  maxInputBytes?: number;
  /** Standard input. @defaultValue 16777216 */
  maxStdinBytes?: number;
  /** Names and values of environment variables. @defaultValue 1048576 */
  maxEnvBytes?: number;
  /** Result as JSON. @defaultValue 16777216 */
  maxResultBytes?: number;
  /** What is kept of both streams together. @defaultValue 16777216 */
  maxStdioBytes?: number;
  /** One call of files, modules or the network, or its answer. @defaultValue 16777216 */
  maxCapabilityBytes?: number;
  /** Longest time of one such call. @defaultValue `maxTimeoutMs` */
  maxHostCallMs?: number;
  /** Calls in flight; more wait. @defaultValue 64 */
  maxConcurrentCapabilityCalls?: number;
  /** Calls of a run. @defaultValue 100000 */
  maxCapabilityCalls?: number;
  /** All calls of a run together. @defaultValue 268435456 */
  maxCapabilityRequestBytes?: number;
  /** All answers of a run together. @defaultValue 268435456 */
  maxCapabilityResponseBytes?: number;
  /** Entries of one listing. @defaultValue 100000 */
  maxDirectoryEntries?: number;
  /** Readers of one run. @defaultValue 64 */
  maxExecutionSubscribers?: number;
  /** How long a finished run is kept. @defaultValue 3600000 */
  retentionMs?: number;
  /** How many finished runs are kept. @defaultValue 100 */
  maxRetainedExecutions?: number;
}

/** What code may have if nothing is said, for those who are told of it. */
const DEFAULTS = { wallMs: 60_000, memoryBytes: 128 * 1024 * 1024, calls: 100_000 };

/**
 * Runs JavaScript.
 *
 * Made once and given to workspaces; it throws for options that are wrong. Processes start with the first
 * run, or with {@link JavaScriptBackend.prewarm}.
 *
 * @example
 * ```js
 * const workspace = new Workspace({ storage: "agent.db", backends: [new JavaScriptBackend()] });
 * const run = await workspace.runtime.exec("export default () => 6 * 7", { encoding: "utf8" });
 * const { value } = await run.result();
 * ```
 */
export class JavaScriptBackend implements Backend {
  readonly id: string;
  readonly protocol = "module";
  readonly type: string = "javascript";
  readonly callable = true;
  readonly #config: Record<string, unknown>;
  readonly #modules: ConfiguredModules;
  readonly #network: (() => Network) | undefined;
  readonly #networkText: string | undefined;
  /** The functions that factories made, of the latest connection. */
  #made = new Map<string, WorkspaceModuleFunctions>();
  /** The workspaces that it is in. */
  readonly #workspaces = new Set<() => Promise<Connection>>();

  constructor(options?: JavaScriptBackendOptions) {
    if (options != null && typeof options !== "object") throw argumentTypeError("options must be an object");
    const { modules, egress, globalOutbound, ...settings } = options ?? {};
    for (const name of OURS) {
      if (name in settings) throw new WorkspaceError("EINVAL", `EINVAL: there is no option ${JSON.stringify(name)}`);
    }
    this.#modules = configuredModules(modules);
    this.#network = egressOf(egress, globalOutbound);
    this.#networkText = describeEgress(egress, globalOutbound);
    const sources = [...this.#modules.sources].map(([specifier, source]) => ({ specifier, source }));
    this.#config = { id: "javascript", ...finite(settings), ...(sources.length > 0 && { sources }) };
    validate(this.#config);
    this.id = String(this.#config.id);
    registerBackend(this, {
      connect: async (host) => {
        const { native, fs, runtime, output } = host;
        const connected = await connectModules(this.#modules, { fs, runtime });
        this.#made = connected.functions;
        const path = isolatePath();
        return new Connection({
          native,
          config: { ...this.#config, ...(path && { isolatePath: path }), ...(output !== undefined && { output }) },
          root: this.#root,
          access: this.#access,
          rules: this.#config.rules,
          modules: connected,
          network: this.#network?.(),
          callBytesMax: this.#number("maxCapabilityBytes"),
        });
      },
      attach: (connect) => {
        this.#workspaces.add(connect);
        return () => {
          this.#workspaces.delete(connect);
        };
      },
    });
  }

  /** What a model needs to know to write code for this backend, in Markdown. Made anew each time. */
  get description(): string {
    return describe({
      root: this.#root,
      access: this.#access,
      network: this.#networkText,
      modules: this.#modules.order.map((specifier) => {
        if (this.#modules.sources.has(specifier)) return { specifier, source: true as const };
        const factory = this.#modules.factories.get(specifier);
        const functions = this.#modules.objects.get(specifier) ?? this.#made.get(specifier);
        const text = typeof factory?.description === "string" ? factory.description : undefined;
        return { specifier, functions, text };
      }),
      limits: {
        wallMs:
          this.#number("defaultTimeoutMs") ??
          Math.min(DEFAULTS.wallMs, this.#number("maxTimeoutMs") ?? DEFAULTS.wallMs),
        memoryBytes: this.#number("maxMemoryBytes") ?? DEFAULTS.memoryBytes,
        calls: this.#number("maxCapabilityCalls") ?? DEFAULTS.calls,
      },
    });
  }

  /** Connects to the workspaces that it was given to, and starts the processes that are kept ready. */
  async prewarm(): Promise<void> {
    const connections = await Promise.all([...this.#workspaces].map((connect) => connect()));
    await Promise.all(connections.map(({ native }) => native.prewarm()));
  }

  get #root(): string {
    const root = (this.#config.root as string | undefined) ?? "/workspace";
    return root.length > 1 ? root.replace(/\/+$/, "") || "/" : root;
  }

  get #access(): WorkspaceRuntimeAccess {
    return this.#config.access === "read" ? "read" : "read-write";
  }

  #number(name: string): number | undefined {
    const value = this.#config[name];
    return typeof value === "number" ? value : undefined;
  }
}

function validate(config: object): void {
  try {
    binding.validateRuntimeConfig(JSON.stringify(config));
  } catch (thrown) {
    throw userError(thrown);
  }
}

/** What only this package tells the core. */
const OURS = ["sources", "network", "isolatePath", "output"] as const;
