/**
 * The backend of `carrel/backends/javascript` as code that was written for workers names it.
 *
 * @packageDocumentation
 */

import { argumentTypeError } from "../errors.js";
import { JavaScriptBackend, type JavaScriptBackendOptions } from "./javascript.js";

export type * from "./javascript.js";

/** Options of {@link WorkerJavaScriptBackend}. */
export interface WorkerJavaScriptBackendOptions extends JavaScriptBackendOptions {
  /** Accepted, and ignored: code runs in processes. */
  loader?: unknown;
  /** Accepted, and ignored. */
  compatibilityDate?: string;
  /** Accepted, and ignored. */
  compatibilityFlags?: readonly string[];
  /** Accepted, and ignored. */
  keepAliveIntervalMs?: number;
}

/** {@link JavaScriptBackend} with the id `"worker-javascript"`. */
export class WorkerJavaScriptBackend extends JavaScriptBackend {
  override readonly type = "worker-javascript";

  constructor(options?: WorkerJavaScriptBackendOptions) {
    if (options != null && typeof options !== "object") throw argumentTypeError("options must be an object");
    const {
      loader: _1,
      compatibilityDate: _2,
      compatibilityFlags: _3,
      keepAliveIntervalMs: _4,
      ...rest
    } = options ?? {};
    super({ ...rest, id: rest.id ?? "worker-javascript" });
  }
}
