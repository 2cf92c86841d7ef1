/**
 * Calls of the isolate to its host, and who waits for their answers.
 *
 * An answer arrives as an event of the loop: its callback runs, then what the callback left to do.
 */

import { late } from "./late.js";
import { loop } from "./loop.js";
import { primordials } from "./primordials.js";

const { SafeMap, SafeSet } = primordials;

/** Who serves a call, by the number that the executable knows it by. */
export const FILE = 0;
export const HOST = 1;
export const FETCH = 2;

const nativeCall = late("core", "call");
const nativeCancel = late("core", "cancel");

/** `(kind, name, args)`: the answer itself; an error answer is thrown as it is. */
export const callSync = late("core", "callSync");

const waiting = new SafeMap();
const fileCalls = new SafeSet();

/** Makes a call; `settle(isOk, value)` gets the answer. The result names the call for `cancel`. */
export function call(kind, name, args, settle) {
  const id = nativeCall(kind, name, args);
  waiting.set(id, settle);
  if (kind === FILE) fileCalls.add(id);
  return id;
}

/** Nobody waits for the answer any more. */
export function cancel(id) {
  fileCalls.delete(id);
  if (waiting.delete(id)) nativeCancel(id);
}

/** The host's answer to call `id`. */
export function answer(id, isOk, value) {
  const settle = waiting.get(id);
  if (settle === undefined) return;
  waiting.delete(id);
  fileCalls.delete(id);
  loop.enter(settle, isOk, value);
}

/** Whether an answer is to come that somebody waits for. */
export function hasCalls() {
  return waiting.size > 0;
}

/** Whether one of them is about files. */
export function hasFileCalls() {
  return fileCalls.size > 0;
}
