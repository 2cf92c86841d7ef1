// What can be written, brought into one of two forms: one piece, or a source of pieces.

import binding from "../index.js";
import { argumentTypeError } from "./errors.js";

/** Bytes in memory: a typed array, `Buffer`, `DataView`, `ArrayBuffer` or `SharedArrayBuffer`. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/**
 * Contents of a file: text, which is stored as UTF-8, bytes, or a source of bytes.
 *
 * A source is read one piece at a time: a web stream, a Node `Readable`, an async iterable, a `Blob`.
 */
export type FileContent = string | Bytes | Blob | ReadableStream<Uint8Array> | AsyncIterable<Bytes>;

/** Pieces, and how to let go of where they come from. */
export interface Source {
  next(): Promise<Uint8Array | undefined>;
  /** Ends the source: with an error if it was not read to the end. */
  release(error?: unknown): Promise<void>;
  /** Whether all of it is at hand: it will end, and soon. */
  isAtHand: boolean;
}

/** Content in one piece, if it is small enough for that; otherwise a source. */
export function prepare(content: FileContent): string | Uint8Array | Source {
  if (typeof content === "string") {
    // A UTF-16 unit takes at most three bytes.
    const isSmall =
      content.length * 3 <= binding.PIECE_BYTES_MAX || Buffer.byteLength(content) <= binding.PIECE_BYTES_MAX;
    return isSmall ? content : fromGenerator(slicesOfText(content));
  }
  const bytes = viewOf(content);
  if (bytes) {
    return bytes.byteLength <= binding.PIECE_BYTES_MAX ? bytes : fromGenerator(slicesOfBytes(bytes, bytes.byteLength));
  }
  if (isBlob(content)) {
    return { ...fromReadable(content.stream() as ReadableStream<Uint8Array>), isAtHand: true };
  }
  if (isReadableStream(content)) return fromReadable(content);
  if (isAsyncIterable(content)) return fromIterable(content);
  throw argumentTypeError(
    `content must be a string, bytes, a Blob, a stream or an async iterable of bytes; received ${describe(content)}`,
  );
}

/** The bytes of a value that is bytes, without copying them. */
function viewOf(value: unknown): Uint8Array | undefined {
  const isView = ArrayBuffer.isView(value);
  if (!isView && !isBuffer(value)) return undefined;
  const buffer = isView ? value.buffer : (value as ArrayBuffer);
  try {
    return isView ? new Uint8Array(buffer, value.byteOffset, value.byteLength) : new Uint8Array(buffer);
  } catch {
    throw argumentTypeError("content must be bytes; this buffer was transferred away or made smaller");
  }
}

function isBuffer(value: unknown): boolean {
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer || isForeignBuffer(value);
}

/** An `ArrayBuffer` of another realm, as a test runner's sandbox makes them. */
function isForeignBuffer(value: unknown): boolean {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]";
}

function* slicesOfBytes(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < length; at += binding.PIECE_BYTES_MAX) {
    // All of it or nothing, also if it was transferred away or made smaller meanwhile.
    if (bytes.byteLength !== length) throw argumentTypeError("the bytes of content were gone before they were written");
    yield bytes.subarray(at, at + binding.PIECE_BYTES_MAX);
  }
}

function* slicesOfText(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const units = binding.PIECE_BYTES_MAX / 4;
  let at = 0;
  while (at < text.length) {
    let end = Math.min(at + units, text.length);
    // A surrogate pair is one character and stays in one slice.
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield encoder.encode(text.slice(at, end));
    at = end;
  }
}

function fromGenerator(slices: Generator<Uint8Array>): Source {
  return {
    next: async () => slices.next().value ?? undefined,
    release: async () => {},
    isAtHand: true,
  };
}

function fromReadable(stream: ReadableStream<Uint8Array>): Source {
  // Throws the platform's own TypeError for a stream that somebody else reads.
  const reader = stream.getReader();
  return {
    async next() {
      const { done, value } = await reader.read();
      return done ? undefined : pieceOf(value);
    },
    async release(error) {
      // Cancelling a stream that failed, or ended, rejects with what is known already, or resolves.
      if (error !== undefined) await reader.cancel(error).catch(() => {});
      reader.releaseLock();
    },
    isAtHand: false,
  };
}

function fromIterable(iterable: AsyncIterable<Bytes>): Source {
  const iterator = iterable[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      return done ? undefined : pieceOf(value);
    },
    async release(error) {
      if (error === undefined) return;
      // The iterator of a Node stream ends the stream only once it was asked for a piece, and only
      // after that piece has come. Without a reason, which nobody may be listening for.
      if (isNodeStream(iterable)) iterable.destroy();
      await iterator.return?.();
    },
    isAtHand: false,
  };
}

function pieceOf(value: unknown): Uint8Array {
  const bytes = viewOf(value);
  if (bytes) return bytes;
  throw argumentTypeError(`a stream of content must deliver bytes; it delivered ${describe(value)}`);
}

function isBlob(value: unknown): value is Blob {
  return isObject(value) && typeof (value as Blob).stream === "function" && typeof (value as Blob).slice === "function";
}

function isReadableStream(value: unknown): value is ReadableStream<Uint8Array> {
  return isObject(value) && typeof (value as ReadableStream).getReader === "function";
}

function isNodeStream(value: object): value is { destroy(): void } {
  return "destroy" in value && typeof value.destroy === "function";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Bytes> {
  return isObject(value) && typeof (value as AsyncIterable<Bytes>)[Symbol.asyncIterator] === "function";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a value of type ${typeof value}`;
  return `an instance of ${value.constructor?.name ?? "an unknown class"}`;
}
