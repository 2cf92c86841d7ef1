/**
 * `internalBinding('zlib')`: the handles under the streams of `node:zlib`.
 *
 * The work is native and done at once. A program hears of an asynchronous write in a later turn of
 * the loop, as it does in Node, so that the order of its callbacks does not depend on how much there was to do.
 */

import { late } from "../late.js";
import { primordials } from "../primordials.js";
import { require } from "../realm.js";

const { Error, FunctionPrototypeCall } = primordials;

const open = late("zlib", "open");

/** The binding; made when the library first asks for it, which is in a run. */
export function zlib() {
  made ??= make();
  return made;
}
let made;

function make() {
  const native = open();
  const { setImmediate } = require("timers");

  /** A stream of either format. */
  class Handle {
    #stream;
    /** Where the library reads how much was left of the output and of the input. */
    #state;
    #callback;
    #isWriting = false;
    #closesLater = false;

    _open(stream, state, callback) {
      this.#stream = stream;
      this.#state = state;
      this.#callback = callback;
    }

    writeSync(flush, input, inOffset, inLength, output, outOffset, outLength) {
      const failure = this.#work(flush, input, inOffset, inLength, output, outOffset, outLength);
      if (failure !== undefined) this.#fail(failure);
    }

    write(flush, input, inOffset, inLength, output, outOffset, outLength) {
      this.#isWriting = true;
      const failure = this.#work(flush, input, inOffset, inLength, output, outOffset, outLength);
      setImmediate(() => {
        this.#isWriting = false;
        if (failure !== undefined) this.#fail(failure);
        else FunctionPrototypeCall(this.#callback, this);
        if (this.#closesLater) this.close();
      });
    }

    #work(flush, input, inOffset, inLength, output, outOffset, outLength) {
      return native.write(this.#stream, flush, input, inOffset, inLength, output, outOffset, outLength, this.#state);
    }

    #fail(failure) {
      this.onerror(failure[0], failure[1], failure[2]);
    }

    params(level, strategy) {
      const failure = native.params(this.#stream, level, strategy);
      if (failure !== undefined) this.#fail(failure);
    }

    reset() {
      const failure = native.reset(this.#stream);
      if (failure !== undefined) this.#fail(failure);
    }

    close() {
      if (this.#isWriting) {
        this.#closesLater = true;
        return;
      }
      this.#closesLater = false;
      native.close(this.#stream);
    }
  }

  class Zlib extends Handle {
    #mode;

    constructor(mode) {
      super();
      this.#mode = mode;
    }

    init(windowBits, level, memLevel, strategy, state, callback, dictionary, rejectGarbageAfterEnd) {
      const stream = native.zlib(this.#mode, windowBits, level, memLevel, strategy, dictionary, rejectGarbageAfterEnd);
      this._open(stream, state, callback);
    }
  }

  function openBrotli(handle, decodes, params, state, callback, dictionary) {
    if (dictionary !== undefined) throw unavailable("A dictionary for Brotli");
    handle._open(native.brotli(decodes, params), state, callback);
  }

  class BrotliEncoder extends Handle {
    init(params, state, callback, dictionary) {
      openBrotli(this, false, params, state, callback, dictionary);
    }
  }

  class BrotliDecoder extends Handle {
    init(params, state, callback, dictionary) {
      openBrotli(this, true, params, state, callback, dictionary);
    }
  }

  class ZstdCompress {
    constructor() {
      throw unavailable("Zstandard");
    }
  }

  class ZstdDecompress {
    constructor() {
      throw unavailable("Zstandard");
    }
  }

  return {
    __proto__: null,
    BrotliDecoder,
    BrotliEncoder,
    ZLIB_VERSION: "1.3.1",
    Zlib,
    ZstdCompress,
    ZstdDecompress,
    crc32: (data, value) => native.crc32(typeof data === "string" ? require("buffer").Buffer.from(data) : data, value),
  };
}

/** The error for something that Node has and a run has not. */
export function unavailable(what) {
  const error = new Error(`${what} is not available inside a run`);
  error.code = "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM";
  return error;
}
