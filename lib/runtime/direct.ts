// Requests of runs that go out from this process.
//
// - What is checked is the address that a socket is connected to, for every connection: the lookup of the
//   socket itself gives only addresses that are allowed.
// - Redirects are not followed here: the code's own `fetch` does, and each hop comes as a new request.
// - Neither proxies of the environment nor any other state of this process take part.

import { lookup as lookupName } from "node:dns";
import { once } from "node:events";
import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AllowList, Verdict } from "./allow-list.js";
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

/** Makes requests to hosts that are allowed. */
export class DirectNetwork {
  readonly #allowed: AllowList;
  readonly #limits: ExchangeLimits;
  readonly #agents: { "http:": HttpAgent; "https:": HttpsAgent };

  constructor(allowed: AllowList, limits: ExchangeLimits) {
    this.#allowed = allowed;
    this.#limits = limits;
    // A connection is kept for a later request to the same host and port, under the check it was made with.
    // None waits for another: one whose answer is not read yet would keep it waiting. How many there are is
    // limited above (`EXCHANGES_MAX`).
    const options: AgentOptions = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 16, timeout: 60_000 };
    this.#agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
  }

  /** Begins a request. Throws an `ExchangeError` for one that is not allowed. */
  open(request: OutgoingRequest): Exchange {
    const url = checkedUrl(request);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    const verdict = this.#allowed.judge(host, port);
    if (!verdict.isAllowed) throw refused(host, port);
    const { headers, length } = headersOf(request);
    const options: RequestOptions = {
      agent: this.#agents[url.protocol as "http:" | "https:"],
      method: request.method,
      host,
      port,
      path: url.pathname + url.search,
      headers,
      setHost: true,
      lookup: this.#lookup(host, port, verdict),
    };
    // An address is no name that a certificate could be for by SNI.
    const made =
      url.protocol === "https:"
        ? httpsRequest({ ...options, ...(isIP(host) ? {} : { servername: host }) })
        : httpRequest(options);
    return new DirectExchange(made, request.hasBody, length, this.#limits, (address) => {
      if (!this.#allowed.isReachable(address, verdict)) throw refused(host, port);
    });
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#agents["http:"].destroy();
    this.#agents["https:"].destroy();
  }

  #lookup(host: string, port: number, verdict: Verdict): LookupFunction {
    return (name, options, callback) => {
      lookupName(name, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, []);
        const reachable = found.filter(({ address }) => this.#allowed.isReachable(address, verdict));
        const [first] = reachable;
        if (!first) return callback(refused(host, port), []);
        if (options.all) callback(null, reachable);
        else callback(null, first.address, first.family);
      });
    };
  }
}

function refused(host: string, port: number): ExchangeError {
  return new ExchangeError("EACCES", `${host}:${port} is not among the hosts that this run may reach`);
}

/** The headers of a request, and the length of its body if they say one. */
function headersOf({ headers: flat, hasBody }: OutgoingRequest): {
  headers: Record<string, string | string[]>;
  length: number | undefined;
} {
  const headers: Record<string, string | string[]> = Object.create(null);
  let length: number | undefined;
  for (const [name, value] of passedOn(flat)) {
    if (name.toLowerCase() === "content-length") {
      if (hasBody && /^\d{1,15}$/.test(value)) length = Number(value);
      continue;
    }
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  if (length !== undefined) headers["Content-Length"] = String(length);
  return { headers, length };
}

class DirectExchange implements Exchange {
  readonly #request: ClientRequest;
  readonly #response: Promise<IncomingMessage>;
  readonly #length: number | undefined;
  readonly #countRequest: (bytes: Uint8Array) => void;
  readonly #countResponse: (bytes: Uint8Array) => void;
  #written = 0;
  readonly #silence: NodeJS.Timeout;
  #pieces: AsyncIterator<Uint8Array> | undefined;
  #failure: Error | undefined;

  constructor(
    request: ClientRequest,
    hasBody: boolean,
    length: number | undefined,
    limits: ExchangeLimits,
    checkAddress: (address: string) => void,
  ) {
    this.#request = request;
    this.#length = length;
    this.#countRequest = meter("request", limits.bytesMax);
    this.#countResponse = meter("response", limits.bytesMax);
    this.#silence = setTimeout(() => {
      this.cancel(
        new ExchangeError("ETIMEDOUT", `nothing happened for the ${limits.silenceMsMax} ms of egress.timeoutMs`),
      );
    }, limits.silenceMsMax).unref();
    request.on("socket", (socket) => {
      // The lookup has seen to it already; this holds should it ever not be asked.
      const check = () => {
        try {
          checkAddress(socket.remoteAddress ?? "");
        } catch (error) {
          this.cancel(error as Error);
        }
      };
      if (socket.connecting) socket.once("connect", check);
      else check();
    });
    this.#response = new Promise((resolve, reject) => {
      request.on("response", (response) => {
        // Its errors come out of the iteration, or are nobody's.
        response.on("error", () => {});
        resolve(response);
      });
      // Without a listener, a response with another protocol would wait for ever.
      request.on("upgrade", () => this.cancel(new ExchangeError("EPROTO", "the server switched to another protocol")));
      request.on("error", (error) => reject(this.#failure ?? error));
      request.on("close", () => {
        clearTimeout(this.#silence);
        reject(this.#failure ?? new ExchangeError("ECONNRESET", "the connection ended before the response came"));
      });
    });
    this.#response.catch(() => {});
    if (!hasBody) request.end();
  }

  async head(): Promise<ResponseHead> {
    const response = await this.#response;
    this.#silence.refresh();
    return {
      status: response.statusCode ?? 0,
      statusText: response.statusMessage ?? "",
      headers: response.rawHeaders,
    };
  }

  async write(bytes: Uint8Array | undefined, isLast: boolean): Promise<void> {
    this.#check();
    this.#silence.refresh();
    try {
      this.#measure(bytes?.byteLength ?? 0, isLast);
      if (bytes && bytes.byteLength > 0) {
        this.#countRequest(bytes);
        if (!this.#request.write(bytes)) await this.#drained();
      }
    } catch (error) {
      this.cancel(error as Error);
      throw error;
    }
    if (isLast) this.#request.end();
  }

  /** A body of another length than announced would be read as the next request of the connection. */
  #measure(more: number, isLast: boolean): void {
    this.#written += more;
    if (this.#length === undefined) return;
    if (this.#written > this.#length || (isLast && this.#written < this.#length)) {
      throw new ExchangeError(
        "EINVAL",
        `the body has ${isLast ? "" : "at least "}${this.#written} bytes and its content-length says ${this.#length}`,
      );
    }
  }

  /** A server may answer, or go away, without reading the whole body. */
  async #drained(): Promise<void> {
    const ended = new AbortController();
    const options = { signal: ended.signal };
    try {
      await Promise.race([once(this.#request, "drain", options), once(this.#request, "close", options)]);
    } finally {
      ended.abort();
    }
    this.#check();
  }

  async read(): Promise<Uint8Array | undefined> {
    const response = await this.#response;
    this.#pieces ??= response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    this.#silence.refresh();
    try {
      const { done, value } = await this.#pieces.next();
      this.#check();
      this.#silence.refresh();
      if (done) {
        clearTimeout(this.#silence);
        return undefined;
      }
      this.#countResponse(value);
      return value;
    } catch (error) {
      const failure = this.#failure ?? (error as Error);
      this.cancel(failure);
      throw failure;
    }
  }

  cancel(reason: Error): void {
    this.#failure ??= reason;
    clearTimeout(this.#silence);
    // Without the error, which a connection that is being given back would throw at nobody.
    this.#request.destroy();
  }

  #check(): void {
    if (this.#failure) throw this.#failure;
  }
}
