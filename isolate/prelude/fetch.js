/**
 * The network of `fetch`: what undici would send over a socket goes to the host as steps.
 *
 * | Step | Arguments | Answer |
 * | --- | --- | --- |
 * | `request` | token, method, URL, names and values of headers in turn, whether there is a body | status, its text, headers |
 * | `write` | token, bytes, whether these are the last | nothing |
 * | `read` | token | bytes, or nothing at the end |
 * | `cancel` | token | nothing |
 *
 * - A piece of a response is read when the one before was taken; a piece of a request is written
 *   when the one before was.
 * - Redirects are followed by undici: each is a request of its own.
 */

import { call, cancel, FETCH } from "./calls.js";
import { primordials } from "./primordials.js";

const { ArrayPrototypePush, Error, ObjectKeys, PromisePrototypeThen, TypeError } = primordials;

let tokens = 0;
let hasNetwork = true;

/** Whether there is a network at all. */
export function setNetwork(isThere) {
  hasNetwork = isThere;
}

/** The error that a step was answered with. */
function errorOf(answer) {
  const { 0: name, 1: code, 2: message } = answer ?? ["Error", null, "the request failed"];
  const error = name === "TypeError" ? new TypeError(message) : new Error(message);
  if (name !== "TypeError" && name !== "Error") {
    primordials.ObjectDefineProperty(error, "name", {
      __proto__: null,
      configurable: true,
      enumerable: false,
      value: name,
      writable: true,
    });
  }
  if (code !== null && code !== undefined) error.code = code;
  return error;
}

/** One request, from undici's call of `dispatch` to the end of the response. */
class Exchange {
  constructor(options, handler) {
    tokens += 1;
    this.token = tokens;
    this.handler = handler;
    this.isOver = false;
    this.isReading = false;
    this.pending = undefined;
    this.options = options;
  }

  start() {
    const { options, handler } = this;
    handler.onConnect((reason) => this.abort(reason));
    if (this.isOver) return;
    if (!hasNetwork) {
      this.fail(new Error("this run has no network access"));
      return;
    }
    const headers = [];
    const names = ObjectKeys(options.headers);
    for (let index = 0; index < names.length; index++) {
      ArrayPrototypePush(headers, names[index], `${options.headers[names[index]]}`);
    }
    const hasBody = options.body !== null && options.body !== undefined;
    const url = `${options.origin}${options.path}`;
    this.step("request", [options.method, url, headers, hasBody], (isOk, answer) => {
      if (!isOk) {
        this.fail(errorOf(answer));
        return;
      }
      const { 0: status, 1: statusText, 2: rawHeaders } = answer;
      handler.onHeaders(status, rawHeaders, () => this.read(), statusText);
    });
    if (hasBody) this.write(options.body[primordials.SymbolAsyncIterator]());
  }

  /** Makes a call of this request, unless it is over. */
  step(name, args, settle) {
    if (this.isOver) return;
    const id = call(FETCH, name, [this.token, ...new primordials.SafeArrayIterator(args)], (isOk, answer) => {
      if (this.pending === id) this.pending = undefined;
      if (!this.isOver) settle(isOk, answer);
    });
    if (name !== "write") this.pending = id;
  }

  /** Writes what `pieces` gives, one piece after the other. */
  write(pieces) {
    PromisePrototypeThen(
      pieces.next(),
      ({ done, value }) => {
        if (this.isOver) return;
        this.step("write", [done ? null : value, done === true], (isOk, answer) => {
          if (!isOk) this.fail(errorOf(answer));
          else if (!done) this.write(pieces);
        });
      },
      (error) => this.abort(error),
    );
  }

  /** The next piece is wanted. */
  read() {
    if (this.isOver || this.isReading) return;
    this.isReading = true;
    this.step("read", [], (isOk, piece) => {
      this.isReading = false;
      if (!isOk) {
        this.fail(errorOf(piece));
      } else if (piece === null || piece === undefined) {
        this.isOver = true;
        this.handler.onComplete([]);
      } else if (this.handler.onData(piece) !== false) {
        this.read();
      }
    });
  }

  fail(error) {
    if (this.isOver) return;
    this.isOver = true;
    this.handler.onError(error);
  }

  /** Nobody wants it any more. */
  abort(reason) {
    if (this.isOver) return;
    this.isOver = true;
    if (this.pending !== undefined) cancel(this.pending);
    call(FETCH, "cancel", [this.token], () => {});
    this.handler.onError(reason ?? new Error("the request was aborted"));
  }
}

/** What undici's `fetch` sends its requests with. */
export const dispatcher = {
  __proto__: null,
  dispatch(options, handler) {
    new Exchange(options, handler).start();
    return true;
  },
};
