// How a call of the binding becomes one of ours.

import { userError } from "./errors.js";
import { inNextTurn, isTurnOver } from "./turn.js";

/**
 * Runs a call of the binding; its failures become users' errors.
 *
 * Not an async function: what is done already should not cost another promise.
 */
export function call<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = work();
    if (isPromise(result)) return result.catch(rethrow);
    return isTurnOver() ? inNextTurn(() => result) : result;
  } catch (thrown) {
    const error = userError(thrown);
    if (!isTurnOver()) throw error;
    return inNextTurn(() => {
      throw error;
    });
  }
}

/** Test runners run modules in realms of their own, so `instanceof` would not do. */
function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as Promise<T>).then === "function";
}

function rethrow(thrown: unknown): never {
  throw userError(thrown);
}
