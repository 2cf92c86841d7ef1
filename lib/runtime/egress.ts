// The network of runs: what a backend's options say of it, and the steps of its requests.
//
// A run's `fetch` comes here as steps: `request` with method, URL and headers gives the beginning of the
// response, `write` adds to the body, `read` takes the next piece of the response's, `cancel` ends it. A
// piece goes on only when somebody asks for it, so that a slow reader makes a slow sender.

import { argumentTypeError, WorkspaceError } from "../errors.js";
import { AllowList } from "./allow-list.js";
import { DirectNetwork } from "./direct.js";
import { type Exchange, ExchangeError, type ExchangeLimits, type OutgoingRequest } from "./exchange.js";
import { type Gateway, openGateway } from "./gateway.js";

/** What runs may reach over the network with `fetch`. */
export type EgressOptions =
  /** Nothing. */
  | { mode: "none" }
  /** The hosts of a list, from this process. */
  | {
      mode: "direct";
      /**
       * `"host"`, `"*.host"`, an address, a network such as `"10.0.0.0/8"`, or `"*"` for every public
       * address; with `":port"` or `":*"` behind. Without a port it means 80 and 443.
       */
      allow: readonly string[];
      /**
       * Let entries other than `"*"` also be about addresses that are not public: loopback, private and
       * link-local networks, the metadata services of clouds.
       * @defaultValue `false`
       */
      allowPrivate?: boolean;
      /** Most bytes of one body, of a request or a response. @defaultValue 67108864 */
      maxBytes?: number;
      /** Longest time in which nothing of a request happens. @defaultValue 60000 */
      timeoutMs?: number;
    }
  /** What a function like `fetch` makes of each request. It is given redirects' targets as requests of their own. */
  | { mode: "gateway"; fetch: EgressFetch; maxBytes?: number; timeoutMs?: number }
  /** The same, as it is written for other backends. */
  | { mode: "http-gateway"; gateway: EgressFetcher; revision?: string; maxBytes?: number; timeoutMs?: number };

/** A function with the signature of `fetch`. */
export type EgressFetch = (request: Request) => Response | Promise<Response>;

/** Such a function, or an object that has it as `fetch`. */
export type EgressFetcher = EgressFetch | { fetch: EgressFetch };

const BYTES_MAX = 64 * 1024 * 1024;
const SILENCE_MS_MAX = 60_000;

/** Steps of a request under way that may run at once in one run; the isolate has fewer calls than that. */
const EXCHANGES_MAX = 256;

/** Makes an exchange of a request. */
export interface Network {
  open(request: OutgoingRequest): Exchange;
  close(): void;
}

/** A few words about what a network reaches, for a model. */
export function describeEgress(egress: unknown, globalOutbound: unknown): string | undefined {
  const { mode, allow } = (egress ?? {}) as { mode?: string; allow?: string[] };
  if (mode === "direct")
    return (allow ?? []).includes("*") ? "public hosts" : (allow ?? []).map((host) => `\`${host}\``).join(", ");
  return globalOutbound != null || mode === "gateway" || mode === "http-gateway"
    ? "what the host lets through"
    : undefined;
}

/** Checks the options of a backend; gives what makes its network, or nothing if there is none. */
export function egressOf(egress: unknown, globalOutbound: unknown): (() => Network) | undefined {
  if (globalOutbound != null && egress != null) {
    throw invalid("egress and globalOutbound are two ways to say the same; give one of them");
  }
  if (globalOutbound != null) {
    const gateway = gatewayOf(globalOutbound, "globalOutbound");
    return networkOf(gateway, { bytesMax: BYTES_MAX, silenceMsMax: SILENCE_MS_MAX });
  }
  if (egress == null) return undefined;
  if (typeof egress !== "object") throw argumentTypeError("egress must be an object");
  const { mode, ...options } = egress as Record<string, unknown>;
  switch (mode) {
    case "none":
      onlyKnown(options, []);
      return undefined;
    case "direct": {
      onlyKnown(options, ["allow", "allowPrivate", "maxBytes", "timeoutMs"]);
      const { allow, allowPrivate = false } = options;
      if (!Array.isArray(allow)) throw argumentTypeError("egress.allow must be a list of hosts");
      if (typeof allowPrivate !== "boolean") throw argumentTypeError("egress.allowPrivate must be a boolean");
      const list = new AllowList(allow, allowPrivate);
      const limits = limitsOf(options);
      return () => new DirectNetwork(list, limits);
    }
    case "gateway":
      onlyKnown(options, ["fetch", "maxBytes", "timeoutMs"]);
      if (typeof options.fetch !== "function") throw argumentTypeError("egress.fetch must be a function");
      return networkOf(options.fetch as Gateway, limitsOf(options));
    case "http-gateway":
      onlyKnown(options, ["gateway", "revision", "maxBytes", "timeoutMs"]);
      return networkOf(gatewayOf(options.gateway, "egress.gateway"), limitsOf(options));
    default:
      throw invalid(`egress.mode must be "none", "direct" or "gateway", not ${JSON.stringify(mode)}`);
  }
}

function networkOf(gateway: Gateway, limits: ExchangeLimits): () => Network {
  return () => ({ open: (request) => openGateway(gateway, request, limits), close: () => {} });
}

function gatewayOf(value: unknown, name: string): Gateway {
  if (typeof value === "function") return value as Gateway;
  const owner = value as { fetch?: unknown } | null;
  if (typeof owner?.fetch !== "function") {
    throw argumentTypeError(`${name} must be a function like fetch, or an object that has one`);
  }
  return (request) => (owner as { fetch: Gateway }).fetch(request);
}

function limitsOf({ maxBytes = BYTES_MAX, timeoutMs = SILENCE_MS_MAX }: Record<string, unknown>): ExchangeLimits {
  for (const [name, value, most] of [
    ["maxBytes", maxBytes, Number.MAX_SAFE_INTEGER],
    ["timeoutMs", timeoutMs, 2 ** 31 - 1],
  ] as const) {
    if (typeof value !== "number") throw argumentTypeError(`egress.${name} must be a number`);
    if (!(value > 0 && value <= most)) throw invalid(`egress.${name} must be a positive number up to ${most}`);
  }
  return { bytesMax: maxBytes as number, silenceMsMax: timeoutMs as number };
}

function onlyKnown(options: Record<string, unknown>, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalid(`egress has no option ${JSON.stringify(name)} in this mode`);
  }
}

function invalid(sentence: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: ${sentence}`, { errno: -22 });
}

/** What a step gives: bytes, or JSON. */
export type StepAnswer = { bytes: Uint8Array } | { json: string };

/** The requests under way of all runs of one backend. */
export class Exchanges {
  readonly #network: Network;
  /** By run and token. */
  readonly #open = new Map<string, Map<string, Exchange>>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Does one step. Rejects with an error whose name, code and message the code of the run is told. */
  async step(run: string, step: string, args: readonly unknown[], bytes: Uint8Array | null): Promise<StepAnswer> {
    const token = String(args[0]);
    switch (step) {
      case "request": {
        const exchange = this.#begin(run, token, args);
        const { status, statusText, headers } = await exchange.head().catch((error: unknown) => {
          this.cancel(run, token, error as Error);
          throw error;
        });
        return { json: JSON.stringify([status, statusText, headers]) };
      }
      case "write":
        await this.#of(run, token).write(bytes ?? undefined, args.at(-1) === true);
        return { json: "null" };
      case "read": {
        // What was read to its end has no more.
        const piece = await this.#open.get(run)?.get(token)?.read();
        if (piece) return { bytes: piece };
        this.#forget(run, token);
        return { json: "null" };
      }
      case "cancel":
        this.cancel(run, token, new ExchangeError("ABORT_ERR", "the request was aborted"));
        return { json: "null" };
      default:
        throw new ExchangeError("EPROTO", `there is no step ${JSON.stringify(step)} of a request`);
    }
  }

  /** Ends the request of a token, if it goes on. */
  cancel(run: string, token: string, reason: Error): void {
    this.#open.get(run)?.get(token)?.cancel(reason);
    this.#forget(run, token);
  }

  /** Ends all requests of a run. */
  end(run: string): void {
    for (const exchange of this.#open.get(run)?.values() ?? [])
      exchange.cancel(new ExchangeError("ECANCELED", "the run is over"));
    this.#open.delete(run);
  }

  close(): void {
    for (const run of [...this.#open.keys()]) this.end(run);
    this.#network.close();
  }

  #begin(run: string, token: string, [, method, url, headers, hasBody]: readonly unknown[]): Exchange {
    const ofRun = this.#open.get(run) ?? new Map<string, Exchange>();
    if (ofRun.has(token)) throw new ExchangeError("EPROTO", "there is such a request already");
    if (ofRun.size >= EXCHANGES_MAX) {
      throw new ExchangeError("ELIMIT", `a run may have ${EXCHANGES_MAX} requests under way at once`);
    }
    const exchange = this.#network.open({
      method: String(method),
      url: String(url),
      headers: Array.isArray(headers) ? headers.map(String) : [],
      hasBody: Boolean(hasBody),
    });
    ofRun.set(token, exchange);
    this.#open.set(run, ofRun);
    return exchange;
  }

  #of(run: string, token: string): Exchange {
    const exchange = this.#open.get(run)?.get(token);
    if (!exchange) throw new ExchangeError("EPROTO", "there is no such request");
    return exchange;
  }

  #forget(run: string, token: string): void {
    const ofRun = this.#open.get(run);
    ofRun?.delete(token);
    if (ofRun?.size === 0) this.#open.delete(run);
  }
}

/** What the code of a run is told of a failure: name, code, message. */
export function stepError(thrown: unknown): string {
  const { name, code, message } = (thrown ?? {}) as Partial<Record<"name" | "code" | "message", unknown>>;
  const text = (value: unknown, otherwise: string | null) => (typeof value === "string" && value ? value : otherwise);
  return JSON.stringify([text(name, "Error"), text(code, null), text(message, String(thrown))]);
}
