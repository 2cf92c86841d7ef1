// Bytes to stream.

const PIECE_BYTES = 64 * 1024;

/** Pieces that are in memory at one time. */
const RING = 16;

/**
 * `bytes` bytes in pieces of 64 KiB, no two of which are equal, nor equal to one of another `seed`: a
 * store that keeps equal parts once must keep all of these.
 *
 * A piece is overwritten after 15 more have been asked for, so that what memory a side takes is its own.
 * Who keeps pieces for longer has to copy them.
 */
export async function* source(bytes, seed = 1) {
  const ring = Array.from({ length: RING }, (_, slot) => noise(seed * RING + slot));
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    const piece = ring[(at / PIECE_BYTES) % RING];
    new DataView(piece.buffer).setFloat64(0, at);
    yield piece.subarray(0, Math.min(PIECE_BYTES, bytes - at));
  }
}

/** A piece that does not compress, the same for the same seed. */
function noise(seed) {
  const words = new Uint32Array(PIECE_BYTES / 4);
  let state = seed;
  for (let index = 0; index < words.length; index++) {
    // Xorshift, by Marsaglia.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  return new Uint8Array(words.buffer);
}
