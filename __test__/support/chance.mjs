// Chance that repeats: numbers from a seed, and bytes that belong to a number.

import { createCipheriv, createHash } from "node:crypto";

/** The seed of this run: `SEED` of the environment, or always the same. */
export const seed = Number(process.env.SEED ?? 20_250_101);

/** A source of numbers that depends on its arguments only. */
export function chance(...from) {
  let state = createHash("sha256").update(from.join()).digest().readUInt32LE();
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** An integer from 0 to `end - 1`. */
    below: (end) => Math.floor(next() * end),
    pick: (list) => list[Math.floor(next() * list.length)],
    /** Whether something of this probability happens. */
    happens: (probability) => next() < probability,
  };
}

/**
 * `size` bytes that belong to `id`: no other id has them, not even in part, and fewer bytes of the
 * same id are their beginning.
 */
export function uniqueBytes(id, size) {
  const key = createHash("sha256").update(String(id)).digest();
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** A short name for some bytes. */
export function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** Bytes as an async iterable of pieces. */
export async function* inPieces(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
