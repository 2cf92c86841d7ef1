// A native download as a web byte stream.

import type { NativeDownload } from "../index.js";
import { userError } from "./errors.js";

const EMPTY = new Uint8Array(0);

/**
 * A byte stream (BYOB readers work) that takes a piece when the consumer asks for one, and has
 * the next one read meanwhile.
 */
export function readableFrom(download: NativeDownload): ReadableStream<Uint8Array> {
  // Small contents are at hand already.
  let whole = download.take();
  let ahead: Promise<Uint8Array | null> | undefined;
  const next = () => {
    const piece = download.next();
    // Nobody may ever ask for it; then its failure is nobody's business.
    piece.catch(() => {});
    return piece;
  };
  const take = async () => {
    if (whole === null) return await (ahead ?? next());
    const piece = whole.byteLength > 0 ? whole : null;
    whole = EMPTY;
    return piece;
  };

  return new ReadableStream(
    {
      type: "bytes",
      async pull(controller: ReadableByteStreamController) {
        try {
          const piece = await take();
          ahead = piece && whole === null ? next() : undefined;
          if (piece) {
            deliver(controller, piece);
          } else {
            controller.close();
            // A BYOB read that waits ends only when it is answered.
            controller.byobRequest?.respond(0);
          }
        } catch (thrown) {
          download.cancel();
          throw userError(thrown);
        }
      },
      cancel() {
        download.cancel();
      },
    },
    // Nothing is read before somebody asks.
    { highWaterMark: 0 },
  );
}

/** Fills the view that a BYOB reader waits with, and queues the rest. */
function deliver(controller: ReadableByteStreamController, piece: Uint8Array) {
  const view = controller.byobRequest?.view;
  if (!view) {
    controller.enqueue(piece);
    return;
  }
  const length = Math.min(view.byteLength, piece.byteLength);
  new Uint8Array(view.buffer, view.byteOffset, length).set(piece.subarray(0, length));
  controller.byobRequest?.respond(length);
  if (length < piece.byteLength) controller.enqueue(piece.slice(length));
}
