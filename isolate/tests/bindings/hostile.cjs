/**
 * Every native function with arguments of all kinds, among them views of memory that is gone or goes
 * during the call. Each has to give a result or an error: the process must be there at the end.
 */

"use strict";

let state = 1;

function below(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % limit;
}

const detach = (buffer) => natives.messaging.structuredClone(1, { transfer: [buffer] });

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const detached = new Uint8Array(8);
detach(detached.buffer);
const shrunk = new ArrayBuffer(16, { maxByteLength: 32 });
const views = [DataView, Uint8Array].flatMap((View) => [new View(shrunk, 8, 8), new View(shrunk), new View(shrunk, 8)]);
shrunk.resize(4);
const ofWebAssembly = new WebAssembly.Memory({ initial: 1 }).buffer;

let victim;

/** Takes the memory away when an argument is converted to a number. */
const thief = {
  valueOf() {
    if (!victim.buffer.detached) detach(victim.buffer);
    return 2;
  },
};
const thrower = {
  valueOf() {
    throw new Error("thrown by a conversion");
  },
};

function values() {
  const numbers = [1, -1, 0.5, 1e12, NaN, Infinity, 5n];
  const texts = ["", "x", "é", "€", "hex", "\ud800", "http://a/b?c#d"];
  const others = [
    undefined,
    null,
    true,
    Symbol("s"),
    {},
    [],
    () => {},
    new Proxy([], {}),
    revoked.proxy,
    thrower,
    thief,
  ];
  const buffers = [new ArrayBuffer(4), new SharedArrayBuffer(4), shrunk, ofWebAssembly, detached.buffer];
  const arrays = [detached, new Uint8Array(5), new Float64Array(3), new Uint8Array(new SharedArrayBuffer(4)), ...views];
  return [...numbers, ...texts, ...others, ...buffers, ...arrays, victim, victim, victim];
}

let calls = 0;
// Cryptography and compression take as long as their arguments say.
const { crypto: _crypto, zlib: _zlib, ...groups } = natives;
for (const group of Object.values(groups)) {
  for (const [name, call] of Object.entries(group)) {
    // The hooks are set once by the prelude, before any other code runs.
    if (typeof call !== "function" || name === "setHooks") continue;
    for (let round = 0; round < 2000; round++) {
      if (round % 100 === 0) victim = new Uint8Array(64);
      const choice = values();
      const any = () => choice[below(choice.length)];
      const args = Array.from({ length: below(7) }, any);
      calls++;
      try {
        call.apply(any(), args);
      } catch {
        // An error is as good as a result.
      }
    }
  }
}
if (calls < 150_000) print(`only ${calls} calls`);
print("done");
