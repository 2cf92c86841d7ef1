/**
 * Functions of the executable, before there is an executable.
 *
 * The library takes functions out of its bindings while it is loaded, and it is loaded when the
 * start-up snapshot is made: in a context that has no native function. So a binding holds a
 * forwarder for each; `fill` gives every forwarder its function once the process has started.
 */

import { primordials } from "./primordials.js";

const { ArrayPrototypePush, ReflectApply, TypeError } = primordials;

const waiting = [];

function missing(group, name) {
  return () => {
    throw new TypeError(`'${name}' of '${group}' is not available here`);
  };
}

/** The forwarder of function `name` of `natives[group]`, which is `until` before there is one. */
export function late(group, name, until = missing(group, name)) {
  let native = until;
  const { [name]: forward } = {
    [name](...args) {
      return ReflectApply(native, this, args);
    },
  };
  ArrayPrototypePush(waiting, {
    __proto__: null,
    fill(natives) {
      const found = natives[group]?.[name];
      if (typeof found === "function") native = found;
    },
    pretend(play) {
      native = play?.(group, name) ?? until;
    },
  });
  return forward;
}

/** Puts forwarders for `names` of `natives[group]` on `target`. */
export function lateAll(group, names, target = { __proto__: null }) {
  for (let index = 0; index < names.length; index++) target[names[index]] = late(group, names[index]);
  return target;
}

/** Something to be done with the executable's functions at the start of the process. */
export function whenNative(action) {
  ArrayPrototypePush(waiting, { __proto__: null, fill: action });
}

/** Gives all forwarders their functions. */
export function fill(natives) {
  for (let index = 0; index < waiting.length; index++) waiting[index].fill(natives);
}

/** Has `play(group, name)` give forwarders a function, until what this gives back is called. */
export function pretend(play) {
  for (let index = 0; index < waiting.length; index++) waiting[index].pretend?.(play);
  return () => {
    for (let index = 0; index < waiting.length; index++) waiting[index].pretend?.(undefined);
  };
}
