/**
 * `WebAssembly.compileStreaming` and `instantiateStreaming`, which V8 has only with an embedder behind.
 *
 * Node's library checks the response and reads it; the module is compiled when all of it is there.
 */

import { blob } from "./bindings/blob.js";
import { primordials } from "./primordials.js";

const { ArrayPrototypePush, ObjectDefineProperty, Promise, PromisePrototypeThen, PromiseResolve, globalThis } =
  primordials;

let readResponse;

/** What the library reads a response with: `(state, source)`. */
export const wasmWebApi = {
  __proto__: null,
  setImplementation(implementation) {
    readResponse = implementation;
  },
};

/** All bytes of a response, which may be a promise. */
function bytesOf(source) {
  return new Promise((resolve, reject) => {
    const parts = [];
    const state = {
      __proto__: null,
      abort: reject,
      finish: () => resolve(blob.concat(parts)),
      push: (part) => ArrayPrototypePush(parts, part),
      setURL() {},
    };
    PromisePrototypeThen(PromiseResolve(source), (response) => readResponse(state, response), reject);
  });
}

/** Puts both functions in their place. V8 adds `WebAssembly` to a context when it starts, not in a snapshot. */
export function installStreaming() {
  const { WebAssembly } = globalThis;
  if (WebAssembly === undefined) return;
  const { compile, instantiate } = WebAssembly;
  const streaming = {
    compileStreaming: (source) => PromisePrototypeThen(bytesOf(source), (bytes) => compile(bytes)),
    instantiateStreaming: (source, imports) =>
      PromisePrototypeThen(bytesOf(source), (bytes) => instantiate(bytes, imports)),
  };
  for (const name of ["compileStreaming", "instantiateStreaming"]) {
    ObjectDefineProperty(WebAssembly, name, {
      __proto__: null,
      configurable: true,
      enumerable: true,
      value: streaming[name],
      writable: true,
    });
  }
}
