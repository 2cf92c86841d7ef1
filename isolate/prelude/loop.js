/**
 * The loop of a run: what is due, in Node's order.
 *
 * ```text
 *   one turn:  timers ─▶ tasks ─▶ immediates        after each callback: ticks, microtasks, rejections
 * ```
 *
 * A task is what libuv would call back for: an answer of the host, a message, compressed bytes.
 * Nothing here waits: the run driver calls in, and asks what is left.
 */

import { callbacks, loopNow, scheduleTimer, taskQueue, timers, unscheduleTimer } from "./bindings/loop.js";
import { startClock } from "./bindings/performance.js";
import { late } from "./late.js";
import { primordials } from "./primordials.js";

const { ArrayPrototypePush, MathAbs, ReflectApply } = primordials;

// Of `tickInfo` and `immediateInfo`, as the library counts.
const HAS_TICK = 0;
const HAS_REJECTION = 1;
const IMMEDIATES = 0;
const REFERENCED_IMMEDIATES = 1;
const HAS_OUTSTANDING = 2;

const runMicrotasks = late("core", "runMicrotasks");

let tasks = [];

/** Has `callback` called as a task of the next turn. */
export function later(callback) {
  ArrayPrototypePush(tasks, callback);
}

/** Nobody caught `error`. */
function uncaught(error, isFromPromise = false) {
  callbacks.onUncaught(error, isFromPromise);
}

/** Ticks, microtasks and unhandled rejections, until none is left. */
function drain() {
  const { tickInfo } = taskQueue;
  if (tickInfo[HAS_TICK] === 0) runMicrotasks();
  while (tickInfo[HAS_TICK] !== 0 || tickInfo[HAS_REJECTION] !== 0) {
    try {
      callbacks.processTicks();
      return;
    } catch (error) {
      uncaught(error);
    }
  }
}

/** Calls `callback` like libuv would: what it throws is uncaught, and what it left to be done is done. */
function enter(callback, ...args) {
  try {
    return ReflectApply(callback, undefined, args);
  } catch (error) {
    uncaught(error);
  } finally {
    drain();
  }
}

/** Calls the timers that are due, and asks to be woken up for the next. */
function processTimers() {
  for (;;) {
    try {
      const next = callbacks.processTimers(loopNow());
      // Below zero: only timers that do not keep the run going are left. What is drained can set a
      // timer, which then asks for itself.
      if (next === 0) unscheduleTimer();
      else scheduleTimer(MathAbs(next) - loopNow());
      drain();
      return;
    } catch (error) {
      uncaught(error);
    }
  }
}

/** Calls the tasks that wait now. */
function processTasks() {
  const due = tasks;
  tasks = [];
  for (let index = 0; index < due.length; index++) enter(due[index]);
}

/** Calls the immediates that wait now. */
function processImmediates() {
  if (timers.immediateInfo[IMMEDIATES] === 0) return;
  do {
    try {
      callbacks.processImmediate();
    } catch (error) {
      uncaught(error);
    }
    drain();
  } while (timers.immediateInfo[HAS_OUTSTANDING] !== 0);
}

export const loop = {
  __proto__: null,
  drain,
  enter,
  /** Whether a task waits, or an immediate that keeps the run going. */
  hasImmediates: () => tasks.length > 0 || timers.immediateInfo[REFERENCED_IMMEDIATES] > 0,
  /** Whether a timer waits that keeps the run going. */
  hasRefTimers: () => timers.timeoutInfo[0] > 0,
  later,
  processImmediate() {
    processTasks();
    processImmediates();
  },
  processTimers,
  /** For V8's callback: `(type, promise, reason)`. */
  promiseReject: (type, promise, reason) => callbacks.promiseReject(type, promise, reason),
  /** Sets what is called with an error that nobody caught, and whether a promise had it. */
  setUncaught(callback) {
    callbacks.onUncaught = callback;
  },
  /** The run begins: `performance` counts from here. */
  startClock,
};
