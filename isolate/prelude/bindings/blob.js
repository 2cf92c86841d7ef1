/**
 * `internalBinding('blob')`: the bytes of a `Blob` as a list of pieces that never change.
 *
 * A slice shares the pieces. Object URLs live as long as the run.
 */

import { primordials, privateSymbols, sharedSymbols } from "../primordials.js";
import { contentsOf, fs } from "./fs.js";
import { constants } from "./util.js";

const { ArrayPrototypePush, MathMin, SafeMap, TypedArrayPrototypeSet, TypedArrayPrototypeSubarray, Uint8Array } =
  primordials;

// What Node's readers tell with a piece, and at the end.
const STATUS_END = 0;
const STATUS_CONTINUE = 1;

/** Bytes of a piece that one read gives at most. */
const READ_BYTES_MAX = 64 * 1024;

const totalLength = primordials.uncurryThis(
  primordials.ObjectGetOwnPropertyDescriptor(primordials.TypedArrayPrototype, "byteLength").get,
);

class BlobHandle {
  constructor(pieces) {
    this.pieces = pieces;
    this[privateSymbols.transfer_mode_private_symbol] = constants.kCloneable;
  }

  // Pieces never change, so a clone is the same handle.
  [sharedSymbols.messaging_clone_symbol]() {
    return { __proto__: null, object: this };
  }

  slice(start, end) {
    const pieces = [];
    let offset = 0;
    for (let index = 0; index < this.pieces.length && offset < end; index++) {
      const piece = this.pieces[index];
      const length = totalLength(piece);
      if (offset + length > start) {
        ArrayPrototypePush(
          pieces,
          TypedArrayPrototypeSubarray(piece, start > offset ? start - offset : 0, MathMin(length, end - offset)),
        );
      }
      offset += length;
    }
    return new BlobHandle(pieces);
  }

  getReader() {
    return new BlobReader(this.pieces);
  }
}

class BlobReader {
  constructor(pieces) {
    this.pieces = pieces;
    this.index = 0;
    this.offset = 0;
  }

  setWakeup() {}

  pull(callback) {
    while (this.index < this.pieces.length) {
      const piece = this.pieces[this.index];
      const length = totalLength(piece);
      if (this.offset < length) {
        const end = MathMin(this.offset + READ_BYTES_MAX, length);
        const bytes = new Uint8Array(TypedArrayPrototypeSubarray(piece, this.offset, end));
        this.offset = end;
        callback(STATUS_CONTINUE, bytes.buffer);
        return;
      }
      this.index += 1;
      this.offset = 0;
    }
    callback(STATUS_END);
  }
}

const objectUrls = new SafeMap();

export const blob = {
  __proto__: null,
  concat(parts) {
    let length = 0;
    const views = [];
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      const view = primordials.ArrayBufferIsView(part)
        ? new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
        : new Uint8Array(part);
      length += totalLength(view);
      ArrayPrototypePush(views, view);
    }
    const joined = new Uint8Array(length);
    let offset = 0;
    for (let index = 0; index < views.length; index++) {
      TypedArrayPrototypeSet(joined, views[index], offset);
      offset += totalLength(views[index]);
    }
    return joined.buffer;
  },
  createBlob(sources) {
    const pieces = [];
    for (let index = 0; index < sources.length; index++) {
      const source = sources[index];
      if (source instanceof BlobHandle) {
        for (let inner = 0; inner < source.pieces.length; inner++) ArrayPrototypePush(pieces, source.pieces[inner]);
      } else {
        ArrayPrototypePush(pieces, source);
      }
    }
    return new BlobHandle(pieces);
  },
  /** As the file is now; undefined if it cannot be read, which the library makes an error of. */
  createBlobFromFilePath(path) {
    fs.stat(path, false, undefined, true);
    const bytes = contentsOf(path);
    return bytes === undefined ? undefined : [new BlobHandle([bytes]), totalLength(bytes)];
  },
  getDataObject: (id) => objectUrls.get(id),
  revokeObjectURL(id) {
    objectUrls.delete(id);
  },
  storeDataObject(id, handle, length, type) {
    objectUrls.set(id, [handle, length, type]);
  },
};
