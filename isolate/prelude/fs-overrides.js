/**
 * Whole files in one call: `readFile`, `writeFile` and `appendFile` of a path, and `rm`.
 *
 * Node opens, reads piece by piece, and closes; here that would be several calls to the host, and a
 * reader could see half of a write. What is more than a plain path and plain bytes (descriptors, file
 * handles, signals, iterables, other flags, a buffer of the caller's, contents that are too long for one
 * call) is left to Node's own functions.
 */

import { fs as binding, fitsCall, kUsePromises, readWhole, removeTree, writeWhole } from "./bindings/fs.js";
import { primordials } from "./primordials.js";

const { ErrorCaptureStackTrace, ObjectDefineProperty, PromisePrototypeThen, PromiseReject, ReflectApply, globalThis } =
  primordials;

const O_RDONLY = 0;

/** Runs `internal/fs/rimraf`'s part: the host removes a tree at once. */
export function rimraf(path, options, callback) {
  PromisePrototypeThen(
    rimrafPromises(path, options),
    () => globalThis.process.nextTick(callback, null),
    (error) => globalThis.process.nextTick(callback, error),
  );
}

export function rimrafPromises(path, options) {
  return PromisePrototypeThen(removeTree(path, options?.recursive === true, kUsePromises), undefined, recaptured);
}

/** A rejection whose stack is that of who awaits it. */
function recaptured(error) {
  ErrorCaptureStackTrace(error, recaptured);
  return PromiseReject(error);
}

/** Puts the functions of this file before Node's own in `fs` and `fs/promises`. */
export function overrideFiles(require) {
  const fs = require("fs");
  const { exports: promises, FileHandle } = require("internal/fs/promises");
  const { getOptions, getValidatedPath, stringToFlags } = require("internal/fs/utils");
  const { parseFileMode } = require("internal/validators");
  const { isArrayBufferView } = require("internal/util/types");
  const { Buffer } = require("buffer");
  const { FastBuffer } = require("internal/buffer");

  const { isURL } = require("internal/url");

  const isPath = (path) => typeof path === "string" || Buffer.isBuffer(path) || isURL(path);

  /** Options of a plain read; undefined if it is none. */
  function plainRead(path, given) {
    if (!isPath(path)) return undefined;
    const options = getOptions(given, { flag: "r" });
    if (options.signal || options.buffer !== undefined) return undefined;
    return stringToFlags(options.flag || "r") === O_RDONLY ? options : undefined;
  }

  /** Bytes, flags and mode of a plain write; undefined if it is none. */
  function plainWrite(path, data, given, flag) {
    if (!isPath(path)) return undefined;
    const options = getOptions(given, { encoding: "utf8", flag, mode: 0o666 });
    if (options.signal || options.flush !== undefined) return undefined;
    let bytes;
    if (typeof data === "string") bytes = Buffer.from(data, options.encoding || "utf8");
    else if (isArrayBufferView(data)) bytes = new FastBuffer(data.buffer, data.byteOffset, data.byteLength);
    else return undefined;
    if (!fitsCall(bytes.length)) return undefined;
    return { bytes, flags: stringToFlags(options.flag || flag), mode: parseFileMode(options.mode, "mode", 0o666) };
  }

  function decoded(buffer, options) {
    return options.encoding ? buffer.toString(options.encoding) : buffer;
  }

  function override(target, name, make) {
    const original = target[name];
    const replacement = make(original);
    ObjectDefineProperty(replacement, "length", { __proto__: null, configurable: true, value: original.length });
    ObjectDefineProperty(replacement, "name", { __proto__: null, configurable: true, value: name });
    target[name] = replacement;
  }

  override(
    promises,
    "readFile",
    (original) =>
      async function readFile(path, given) {
        const options = path instanceof FileHandle ? undefined : plainRead(path, given);
        if (options !== undefined) {
          const reading = readWhole(getValidatedPath(path), kUsePromises);
          const buffer = await PromisePrototypeThen(reading, undefined, recaptured);
          if (buffer !== null) return decoded(buffer, options);
        }
        return ReflectApply(original, this, [path, given]);
      },
  );

  const promisedWrite = (flag) => (original) => {
    const { [original.name]: replacement } = {
      async [original.name](path, data, given) {
        const plain = plainWrite(path, data, given, flag);
        if (plain === undefined) return ReflectApply(original, this, [path, data, given]);
        const writing = writeWhole(getValidatedPath(path), plain.bytes, plain.flags, plain.mode, kUsePromises);
        await PromisePrototypeThen(writing, undefined, recaptured);
        return undefined;
      },
    };
    return replacement;
  };
  override(promises, "writeFile", promisedWrite("w"));
  override(promises, "appendFile", promisedWrite("a"));

  override(
    fs,
    "readFileSync",
    (original) =>
      function readFileSync(path, given) {
        const options = plainRead(path, given);
        if (options !== undefined) {
          const buffer = readWhole(getValidatedPath(path), undefined);
          if (buffer !== null) return decoded(buffer, options);
        }
        return ReflectApply(original, this, [path, given]);
      },
  );

  const syncWrite = (flag) => (original) => {
    const { [original.name]: replacement } = {
      [original.name](path, data, given) {
        const plain = plainWrite(path, data, given, flag);
        if (plain === undefined) return ReflectApply(original, this, [path, data, given]);
        return writeWhole(getValidatedPath(path), plain.bytes, plain.flags, plain.mode, undefined);
      },
    };
    return replacement;
  };
  override(fs, "writeFileSync", syncWrite("w"));
  override(fs, "appendFileSync", syncWrite("a"));

  /** A request whose answer `settle(error, result)` takes. */
  function requestOf(settle) {
    const request = new binding.FSReqCallback();
    request.oncomplete = settle;
    return request;
  }

  override(
    fs,
    "readFile",
    (original) =>
      function readFile(path, given, callback) {
        const done = callback || given;
        const options = typeof done === "function" ? plainRead(path, given === done ? undefined : given) : undefined;
        if (options === undefined) return ReflectApply(original, this, [path, given, callback]);
        const request = requestOf((error, buffer) => {
          if (error) done(error);
          else if (buffer === null) ReflectApply(original, fs, [path, given, callback]);
          else done(null, decoded(buffer, options));
        });
        readWhole(getValidatedPath(path), request);
        return undefined;
      },
  );

  const calledWrite = (flag) => (original) => {
    const { [original.name]: replacement } = {
      [original.name](path, data, given, callback) {
        const done = callback || given;
        const plain =
          typeof done === "function" ? plainWrite(path, data, given === done ? undefined : given, flag) : undefined;
        if (plain === undefined) return ReflectApply(original, this, [path, data, given, callback]);
        const request = requestOf((error) => done(error));
        writeWhole(getValidatedPath(path), plain.bytes, plain.flags, plain.mode, request);
        return undefined;
      },
    };
    return replacement;
  };
  override(fs, "writeFile", calledWrite("w"));
  override(fs, "appendFile", calledWrite("a"));
}
