// Requests of runs that a function of the user makes.

import {
  checkedUrl,
  type Exchange,
  ExchangeError,
  type ExchangeLimits,
  meter,
  type OutgoingRequest,
  passedOn,
  type ResponseHead,
} from "./exchange.js";

/** A function like `fetch`. */
export type Gateway = (request: Request) => Response | Promise<Response>;

/** Hands a request to a gateway. */
export function openGateway(gateway: Gateway, request: OutgoingRequest, limits: ExchangeLimits): Exchange {
  const url = checkedUrl(request);
  return new GatewayExchange(gateway, url, request, limits);
}

class GatewayExchange implements Exchange {
  readonly #response: Promise<Response>;
  readonly #aborting = new AbortController();
  readonly #countRequest: (bytes: Uint8Array) => void;
  readonly #countResponse: (bytes: Uint8Array) => void;
  readonly #silence: NodeJS.Timeout;
  readonly #body: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(gateway: Gateway, url: URL, { method, headers, hasBody }: OutgoingRequest, limits: ExchangeLimits) {
    this.#countRequest = meter("request", limits.bytesMax);
    this.#countResponse = meter("response", limits.bytesMax);
    this.#silence = setTimeout(() => {
      this.cancel(
        new ExchangeError("ETIMEDOUT", `nothing happened for the ${limits.silenceMsMax} ms of egress.timeoutMs`),
      );
    }, limits.silenceMsMax).unref();
    const pipe = hasBody ? new TransformStream<Uint8Array, Uint8Array>() : undefined;
    this.#body = pipe?.writable.getWriter();
    // What fails with the exchange is told by its calls.
    this.#body?.closed.catch(() => {});
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: [...passedOn(headers)],
      redirect: "manual",
      signal: this.#aborting.signal,
      ...(pipe && { body: pipe.readable, duplex: "half" }),
    };
    this.#response = this.#ask(gateway, url, init);
    this.#response.catch(() => {});
  }

  async #ask(gateway: Gateway, url: URL, init: RequestInit): Promise<Response> {
    let abort: (() => void) | undefined;
    try {
      const aborted = new Promise<never>((_, reject) => {
        abort = () => reject(this.#aborting.signal.reason);
        this.#aborting.signal.addEventListener("abort", abort, { once: true });
      });
      aborted.catch(() => {});
      // A gateway may throw before it returns a promise, and may never settle.
      const asked = Promise.resolve().then(() => gateway(new Request(url, init)));
      asked.then(
        // A response that comes too late is let go of.
        (response) => {
          if (this.#aborting.signal.aborted) response?.body?.cancel().catch(() => {});
        },
        () => {},
      );
      const response = await Promise.race([asked, aborted]);
      if (!isResponse(response)) throw new TypeError("the gateway returned no Response");
      return response;
    } catch (thrown) {
      clearTimeout(this.#silence);
      throw failureOf(thrown);
    } finally {
      if (abort) this.#aborting.signal.removeEventListener("abort", abort);
    }
  }

  async head(): Promise<ResponseHead> {
    const response = await this.#response;
    this.#silence.refresh();
    if (!response.body) clearTimeout(this.#silence);
    const headers: string[] = [];
    for (const [name, value] of response.headers) {
      // The body of a Response is what these were about before it was decoded.
      if (name !== "content-encoding" && name !== "content-length") headers.push(name, value);
    }
    return { status: response.status, statusText: response.statusText, headers };
  }

  async write(bytes: Uint8Array | undefined, isLast: boolean): Promise<void> {
    const { signal } = this.#aborting;
    signal.throwIfAborted();
    this.#silence.refresh();
    if (!this.#body) return;
    try {
      if (bytes && bytes.byteLength > 0) {
        this.#countRequest(bytes);
        await this.#body.write(bytes);
      }
      if (isLast) await this.#body.close();
    } catch (error) {
      signal.throwIfAborted();
      // A gateway that does not want the body, as `fetch` does not after a redirect, still answers.
      if (error instanceof ExchangeError) {
        this.cancel(error);
        throw error;
      }
    }
  }

  async read(): Promise<Uint8Array | undefined> {
    const response = await this.#response;
    this.#silence.refresh();
    try {
      this.#reader ??= response.body?.getReader();
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      this.#aborting.signal.throwIfAborted();
      this.#silence.refresh();
      if (done) {
        clearTimeout(this.#silence);
        return undefined;
      }
      if (!(value instanceof Uint8Array)) throw new TypeError("the body of the gateway's Response is no bytes");
      this.#countResponse(value);
      return value;
    } catch (thrown) {
      const { signal } = this.#aborting;
      const failure = signal.aborted ? (signal.reason as Error) : failureOf(thrown);
      this.cancel(failure);
      throw failure;
    }
  }

  cancel(reason: Error): void {
    clearTimeout(this.#silence);
    if (this.#aborting.signal.aborted) return;
    this.#aborting.abort(reason);
    this.#body?.abort(reason).catch(() => {});
    this.#response
      .then((response) => (this.#reader ? this.#reader.cancel(reason) : response.body?.cancel(reason)))
      .catch(() => {});
  }
}

function isResponse(value: unknown): value is Response {
  const response = value as Response | null | undefined;
  return typeof response?.status === "number" && response.status >= 200 && typeof response.headers?.get === "function";
}

/** What the code of a run is told: the message, as a `TypeError`. */
function failureOf(thrown: unknown): Error {
  if (thrown instanceof ExchangeError) return thrown;
  const { message, code } = (thrown ?? {}) as { message?: unknown; code?: unknown };
  return new ExchangeError(
    typeof code === "string" ? code : "",
    typeof message === "string" ? message : String(thrown),
    "TypeError",
  );
}
