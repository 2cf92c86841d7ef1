// One request of a run and its response, whoever makes it.

/** A request as the code of a run made it. */
export interface OutgoingRequest {
  method: string;
  url: string;
  /** Names and values in turn. */
  headers: readonly string[];
  /** Whether a body follows in pieces. */
  hasBody: boolean;
}

/** How a response begins. */
export interface ResponseHead {
  status: number;
  statusText: string;
  /** Names and values in turn. */
  headers: string[];
}

/** What is limited for every exchange. */
export interface ExchangeLimits {
  /** Most bytes of a body, either way. */
  bytesMax: number;
  /** Longest time in which nothing happens. */
  silenceMsMax: number;
}

/** One request and its response. Every method rejects once the exchange was cancelled. */
export interface Exchange {
  /** The beginning of the response. */
  head(): Promise<ResponseHead>;
  /** Adds to the body of the request; resolves when there may be more. */
  write(bytes: Uint8Array | undefined, isLast: boolean): Promise<void>;
  /** The next piece of the response's body; nothing at its end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends it, and every connection that is for it alone. */
  cancel(reason: Error): void;
}

/** An error of the network, for the code of a run. */
export class ExchangeError extends Error {
  readonly code: string;

  constructor(code: string, message: string, name = "Error") {
    super(message);
    this.code = code;
    this.name = name;
  }
}

/** Names of headers that belong to one connection, or that say whom it is with. */
const OF_CONNECTION = new Set([
  "connection",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers that code may set. `host` is what the URL says: another one would be another host. */
export function* passedOn(headers: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = headers.slice(at, at + 2).map(String);
    if (!OF_CONNECTION.has(name.toLowerCase())) yield [name, value];
  }
}

const METHOD = /^[A-Za-z!#$%&'*+.^_`|~-]{1,64}$/;

/** The URL of a request that can be made, or an error that says why not. */
export function checkedUrl({ method, url }: OutgoingRequest): URL {
  if (!METHOD.test(method) || /^(connect|trace|track)$/i.test(method)) {
    throw new ExchangeError("EINVAL", `the method ${JSON.stringify(method)} cannot be used`);
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) throw new ExchangeError("EINVAL", `${JSON.stringify(url)} is no URL`);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new ExchangeError("EACCES", `only http: and https: can be fetched, not ${parsed.protocol}`);
  }
  return parsed;
}

/** Counts a body, and fails when it is too much. */
export function meter(what: string, bytesMax: number): (bytes: Uint8Array) => void {
  let count = 0;
  return (bytes) => {
    count += bytes.byteLength;
    if (count > bytesMax)
      throw new ExchangeError(
        "ELIMIT",
        `the body of the ${what} has more than the ${bytesMax} bytes of egress.maxBytes`,
      );
  };
}
