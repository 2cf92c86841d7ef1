// Small calls are done at once, so a loop that awaits them would never let the event loop turn.

// Imported, since test runners replace the global ones by fakes that stand still.
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers";

/** How long calls may go on within one turn of the event loop, in milliseconds. */
const TURN_MS = 5;

let startOfTurn: number | undefined;

/** Whether it is time to let timers, sockets and others have their turn. */
export function isTurnOver(): boolean {
  if (startOfTurn === undefined) {
    startOfTurn = performance.now();
    setImmediate(() => {
      startOfTurn = undefined;
    }).unref();
    return false;
  }
  return performance.now() - startOfTurn > TURN_MS;
}

/** What `settle` gives, in the next turn. */
export function inNextTurn<T>(settle: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(settle());
      } catch (error) {
        reject(error);
      }
    });
  });
}
