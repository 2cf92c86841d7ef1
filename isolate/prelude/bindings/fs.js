/**
 * `internalBinding("fs")`: every function of it that means something in a run is a call to the host,
 * which knows the files. Errors, results and the three ways to call are those of Node's C++:
 *
 * ```text
 *   f(…)                    waits for the answer; an error is thrown
 *   f(…, FSReqCallback)     calls `req.oncomplete(error, result)`
 *   f(…, kUsePromises)      gives a promise
 * ```
 *
 * Descriptors 0 to 2 are the streams of the run and need no host. What is longer than one call may be
 * goes in pieces.
 */

import { call, callSync, FILE } from "../calls.js";
import { late } from "../late.js";
import { primordials } from "../primordials.js";
import { lazyLoader } from "./util.js";

const {
  ArrayIsArray,
  ArrayPrototypeMap,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  BigInt,
  BigInt64Array,
  Error,
  ErrorCaptureStackTrace,
  Float64Array,
  FunctionPrototypeCall,
  MathMin,
  Number,
  NumberIsInteger,
  ObjectDefineProperty,
  Promise,
  PromisePrototypeThen,
  PromiseReject,
  PromiseResolve,
  RangeError,
  String,
  StringPrototypeEndsWith,
  StringPrototypeStartsWith,
  Symbol,
  TypeError,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeSet,
  TypedArrayPrototypeSubarray,
  Uint8Array,
  globalThis,
} = primordials;

const output = late("core", "output");
const random = late("core", "random");
const getContinuationData = late("core", "getContinuationData");
const setContinuationData = late("core", "setContinuationData");

const FD_MAX = 2 ** 31 - 1;
/** All of `R_OK`, `W_OK` and `X_OK`. */
const ACCESS_MODE_MAX = 7;
const STAT_FIELDS = 18;
const S_IFIFO = 0o010000;
const UV_DIRENT_DIR = 2;
const UV_DIRENT_LINK = 3;
const ENOENT = -2;
const ENOTDIR = -20;
/** Bytes of one piece: more at once would be in memory twice. */
const PIECE_BYTES = 1024 * 1024;
/** What a call has around its bytes, at most. */
const CALL_OVERHEAD_BYTES = 8192;

const kUsePromises = Symbol("fs_use_promises_symbol");

const uvErrors = {
  __proto__: null,
  EACCES: "permission denied",
  EBADF: "bad file descriptor",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EIO: "i/o error",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
  EMFILE: "too many open files",
  ENAMETOOLONG: "name too long",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOSYS: "function not implemented",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  ENOTSUP: "operation not supported on socket",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
};

/** Bytes that one call may carry. */
let pieceMax = 16 * 1024 * 1024 - CALL_OVERHEAD_BYTES;
let standardInput = new Uint8Array(0);
let standardInputAt = 0;

/** Takes over what the run was started with. */
export function startFiles({ callBytesMax, stdin }) {
  pieceMax = callBytesMax > 2 * CALL_OVERHEAD_BYTES ? callBytesMax - CALL_OVERHEAD_BYTES : callBytesMax / 2;
  standardInput = stdin;
}

/** Whether so many bytes fit into one call. */
export function fitsCall(length) {
  return length <= pieceMax;
}

function bufferOf(bytes) {
  const { FastBuffer } = lazyLoader.require("internal/buffer");
  return new FastBuffer(bytes.buffer, bytes.byteOffset, TypedArrayPrototypeGetLength(bytes));
}

/** The error that an answer means. Its properties come in Node's order. */
function toError(answer, { syscall, path, dest } = { __proto__: null }) {
  if (!ArrayIsArray(answer)) {
    return answer instanceof Error ? answer : new Error(String(answer));
  }
  const code = answer[0];
  syscall ??= answer[1];
  if (path === undefined) path = answer[2];
  dest ??= answer[3];
  const hasPath = path !== null && path !== undefined;
  const hasDest = dest !== null && dest !== undefined;
  let message = `${code}: ${answer[4] ?? uvErrors[code] ?? "unknown error"}`;
  if (syscall) message += `, ${syscall}`;
  if (hasPath) message += ` '${path}'`;
  if (hasDest) message += ` -> '${dest}'`;
  const error = new Error(message);
  if (answer[5]) define(error, "errno", answer[5]);
  define(error, "code", code);
  if (syscall) define(error, "syscall", syscall);
  if (hasPath) define(error, "path", path);
  if (hasDest) define(error, "dest", dest);
  return error;
}

function define(target, key, value) {
  ObjectDefineProperty(target, key, { __proto__: null, configurable: true, enumerable: true, value, writable: true });
}

function failure(code, errno, syscall, path) {
  return [code, syscall, path ?? null, null, null, errno];
}

/** A request whose answer goes to `oncomplete`, in the asynchronous context that it was made in. */
class FSReqCallback {
  #context = getContinuationData();

  constructor(bigint) {
    this.oncomplete = null;
    this.context = undefined;
    if (bigint) this.bigint = true;
  }

  static settle(request, error, result) {
    const outer = getContinuationData();
    setContinuationData(request.#context);
    try {
      const { oncomplete } = request;
      if (error !== null) FunctionPrototypeCall(oncomplete, request, error);
      else if (result === undefined) FunctionPrototypeCall(oncomplete, request, null);
      else FunctionPrototypeCall(oncomplete, request, null, result);
    } finally {
      setContinuationData(outer);
    }
  }
}
const settleRequest = FSReqCallback.settle;
delete FSReqCallback.settle;

function same(value) {
  return value;
}

function nothing() {}

/** A call in one of the three ways. `decode(answer)` makes the result, `about` names it in errors. */
function perform(name, args, request, decode = nothing, about = undefined) {
  if (request === undefined) {
    let answer;
    try {
      answer = callSync(FILE, name, args);
    } catch (error) {
      const thrown = toError(error, about);
      ErrorCaptureStackTrace(thrown, perform);
      throw thrown;
    }
    return decode(answer);
  }
  return begin(request, (resolve, reject) => {
    call(FILE, name, args, (isOk, answer) => {
      if (!isOk) {
        reject(toError(answer, about));
        return;
      }
      let result;
      try {
        result = decode(answer);
      } catch (error) {
        reject(error);
        return;
      }
      resolve(result);
    });
  });
}

/** Starts asynchronous work for a request. */
function begin(request, work) {
  if (request === kUsePromises) return new Promise(work);
  try {
    work(
      (result) => settleRequest(request, null, result),
      (error) => settleRequest(request, error),
    );
  } catch (error) {
    soon(() => settleRequest(request, error));
  }
  return undefined;
}

/** Gives a result that is known already in one of the three ways. */
function settled(request, result) {
  if (request === undefined) return result;
  if (request === kUsePromises) return PromiseResolve(result);
  soon(() => settleRequest(request, null, result));
  return undefined;
}

function failed(request, answer) {
  const error = toError(answer);
  if (request === undefined) {
    ErrorCaptureStackTrace(error, failed);
    throw error;
  }
  if (request === kUsePromises) return PromiseReject(error);
  soon(() => settleRequest(request, error));
  return undefined;
}

function soon(callback) {
  globalThis.process.nextTick(callback);
}

/** Repeats `step`, which takes `then(hasMore)` and may be synchronous, for a request. */
function repeat(request, name, next, finish) {
  if (request === undefined) {
    for (let args = next(); args !== undefined; ) {
      const answer = perform(name, args, undefined, same);
      args = next(answer);
    }
    return finish();
  }
  return begin(request, (resolve, reject) => {
    const step = (answer) => {
      let args;
      try {
        args = next(answer);
        if (args === undefined) {
          resolve(finish());
          return;
        }
        call(FILE, name, args, (isOk, value) => {
          if (isOk) step(value);
          else reject(toError(value));
        });
      } catch (error) {
        reject(error);
      }
    };
    step();
  });
}

// Results.

const statValues = new Float64Array(2 * STAT_FIELDS);
const bigintStatValues = new BigInt64Array(2 * STAT_FIELDS);

function fill(array, numbers, isBigint) {
  for (let index = 0; index < numbers.length; index++) {
    array[index] = isBigint ? BigInt(numbers[index]) : numbers[index];
  }
  return array;
}

/** Numbers of `stat` as Node's library takes them: one array for all synchronous calls. */
function statsDecoder(bigint, request, fields = STAT_FIELDS) {
  return (numbers) => {
    if (request === undefined) return fill(bigint ? bigintStatValues : statValues, numbers, bigint);
    return fill(bigint ? new BigInt64Array(fields) : new Float64Array(fields), numbers, bigint);
  };
}

function encoded(name, encoding) {
  if (encoding === undefined || encoding === null || encoding === "utf8" || encoding === "utf-8") return name;
  const { Buffer } = lazyLoader.require("buffer");
  const bytes = Buffer.from(name, "utf8");
  return encoding === "buffer" ? bytes : bytes.toString(encoding);
}

function nameDecoder(encoding) {
  return (name) => (name === null || name === undefined ? undefined : encoded(name, encoding));
}

function bytesOf(view, offset = 0, length = view.byteLength - offset) {
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}

function place(position) {
  if (position === null || position === undefined) return null;
  const number = Number(position);
  return number < 0 ? null : number;
}

function isStandard(fd) {
  return fd === 0 || fd === 1 || fd === 2;
}

// Stat.

/** `stat` and `lstat`: with `throwIfNoEntry` off, nothing where there is nothing. */
function statFunction(name) {
  return (path, bigint, request, throwIfNoEntry) => {
    const decode = statsDecoder(bigint, request);
    if (throwIfNoEntry !== false) return perform(name, [path], request, decode);
    if (request === undefined) {
      let numbers;
      try {
        numbers = callSync(FILE, name, [path]);
      } catch (error) {
        if (isMissing(name, error)) return undefined;
        const thrown = toError(error);
        ErrorCaptureStackTrace(thrown, statFunction);
        throw thrown;
      }
      return decode(numbers);
    }
    return begin(request, (resolve, reject) => {
      call(FILE, name, [path], (isOk, answer) => {
        if (isOk) resolve(decode(answer));
        else if (isMissing(name, answer)) resolve(undefined);
        else reject(toError(answer));
      });
    });
  };
}

/** As in Node, a file where a directory should be makes only `stat` say that nothing is there. */
function isMissing(name, answer) {
  return ArrayIsArray(answer) && (answer[5] === ENOENT || (answer[5] === ENOTDIR && name === "stat"));
}

/** Refuses what no descriptor can be: the library leaves that to C++. */
function checkDescriptor(fd) {
  if (typeof fd !== "number") {
    const { ERR_INVALID_ARG_TYPE } = lazyLoader.require("internal/errors").codes;
    throw new ERR_INVALID_ARG_TYPE("fd", "number", fd);
  }
  if (NumberIsInteger(fd) && fd >= 0 && fd <= FD_MAX) return;
  const wanted = NumberIsInteger(fd) ? `>= 0 && <= ${FD_MAX}` : "an integer";
  const error = new RangeError(`The value of "fd" is out of range. It must be ${wanted}. Received ${fd}`);
  error.code = "ERR_OUT_OF_RANGE";
  throw error;
}

/** `perform` for a function whose first argument is a descriptor. */
function performOn(name, args, request, decode, about) {
  checkDescriptor(args[0]);
  return perform(name, args, request, decode, about);
}

function access(path, mode, request) {
  let error;
  if (mode !== undefined && mode !== null) {
    if (typeof mode !== "number") error = new TypeError("mode must be int32 or null/undefined");
    else if (mode < 0 || mode > ACCESS_MODE_MAX) error = new RangeError("mode is out of range: >= 0 && <= 7");
  }
  if (error === undefined) return perform("access", [path, mode ?? 0], request);
  error.code = typeof mode === "number" ? "ERR_OUT_OF_RANGE" : "ERR_INVALID_ARG_TYPE";
  throw error;
}

function fstat(fd, bigint, request) {
  checkDescriptor(fd);
  const decode = statsDecoder(bigint, request);
  if (!isStandard(fd)) return perform("fstat", [fd], request, decode);
  const numbers = new Float64Array(STAT_FIELDS);
  numbers[1] = S_IFIFO | 0o600;
  numbers[2] = 1;
  numbers[6] = 4096;
  return settled(request, decode(numbers));
}

// Contents.

function readStandard(fd, view) {
  if (fd !== 0) return undefined;
  const count = MathMin(view.length, standardInput.length - standardInputAt);
  TypedArrayPrototypeSet(view, TypedArrayPrototypeSubarray(standardInput, standardInputAt, standardInputAt + count));
  standardInputAt += count;
  return count;
}

/** Fills `view` from where `fd` stands, or from `position`. */
function readInto(fd, view, position, request) {
  checkDescriptor(fd);
  if (isStandard(fd)) {
    const count = readStandard(fd, view);
    return count === undefined ? failed(request, failure("EBADF", -9, "read")) : settled(request, count);
  }
  const at = place(position);
  let done = 0;
  let wanted = 0;
  return repeat(
    request,
    "read",
    (bytes) => {
      if (bytes !== undefined) {
        TypedArrayPrototypeSet(view, bytes, done);
        done += bytes.length;
        if (bytes.length < wanted || done >= view.length) return undefined;
      }
      wanted = MathMin(view.length - done, pieceMax, PIECE_BYTES);
      return [fd, wanted, at === null ? null : at + done];
    },
    () => done,
  );
}

function read(fd, buffer, offset, length, position, request) {
  return readInto(fd, bytesOf(buffer, offset, length), position, request);
}

function readBuffers(fd, buffers, position, request) {
  let total = 0;
  for (let index = 0; index < buffers.length; index++) total += buffers[index].byteLength;
  const whole = new Uint8Array(total);
  const scatter = (count) => {
    let at = 0;
    for (let index = 0; index < buffers.length && at < count; index++) {
      const target = bytesOf(buffers[index]);
      const end = MathMin(at + target.length, count);
      TypedArrayPrototypeSet(target, TypedArrayPrototypeSubarray(whole, at, end));
      at = end;
    }
    return count;
  };
  if (request === undefined) return scatter(readInto(fd, whole, position, undefined));
  return begin(request, (resolve, reject) => {
    PromisePrototypeThen(readInto(fd, whole, position, kUsePromises), (count) => resolve(scatter(count)), reject);
  });
}

/** Writes all of `bytes`. */
function writeAll(fd, bytes, position, request) {
  checkDescriptor(fd);
  if (isStandard(fd)) {
    if (fd === 0) return failed(request, failure("EBADF", -9, "write"));
    output(fd, bytes);
    return settled(request, bytes.length);
  }
  const at = place(position);
  let done = 0;
  return repeat(
    request,
    "write",
    (written) => {
      if (written !== undefined) done += written;
      if (written !== undefined && (done >= bytes.length || written === 0)) return undefined;
      const piece = TypedArrayPrototypeSubarray(
        bytes,
        done,
        MathMin(done + pieceMax, done + PIECE_BYTES, bytes.length),
      );
      return [fd, piece, at === null ? null : at + done];
    },
    () => done,
  );
}

/** Some callers get the error in `context`, and throw it themselves. */
function withContext(context, work) {
  if (context === undefined) return work();
  try {
    return work();
  } catch (error) {
    if (error.errno === undefined) {
      context.error = error;
    } else {
      context.errno = error.errno;
      context.syscall = error.syscall;
    }
    return undefined;
  }
}

function writeBuffer(fd, buffer, offset, length, position, request, context) {
  return withContext(context, () => writeAll(fd, bytesOf(buffer, offset, length), position, request));
}

function writeBuffers(fd, buffers, position, request) {
  let total = 0;
  for (let index = 0; index < buffers.length; index++) total += buffers[index].byteLength;
  const whole = new Uint8Array(total);
  let at = 0;
  for (let index = 0; index < buffers.length; index++) {
    const piece = bytesOf(buffers[index]);
    TypedArrayPrototypeSet(whole, piece, at);
    at += piece.length;
  }
  return writeAll(fd, whole, position, request);
}

function writeString(fd, text, position, encoding, request, context) {
  const { Buffer } = lazyLoader.require("buffer");
  const bytes = bytesOf(Buffer.from(text, typeof encoding === "string" ? encoding : "utf8"));
  return withContext(context, () => writeAll(fd, bytes, position, request));
}

/** All bytes that are left behind a descriptor. */
function readRest(fd, size = 0) {
  // One byte more than is expected shows that the end was reached.
  let whole = new Uint8Array(size > 0 ? size + 1 : PIECE_BYTES);
  let done = 0;
  for (;;) {
    done += readInto(fd, TypedArrayPrototypeSubarray(whole, done), null, undefined);
    if (done < whole.length) return TypedArrayPrototypeSubarray(whole, 0, done);
    const longer = new Uint8Array(2 * whole.length);
    TypedArrayPrototypeSet(longer, whole);
    whole = longer;
  }
}

/** All bytes of a file. */
function readAll(path, flags) {
  if (flags === 0) {
    const bytes = perform("readFile", [path], undefined, same);
    if (bytes !== null) return bytes;
  }
  const fd = perform("open", [path, flags, 0o666], undefined, same);
  try {
    const { 8: size } = fstat(fd, false, undefined);
    return readRest(fd, size);
  } finally {
    close(fd);
  }
}

function readFileUtf8(path, flags) {
  return bufferOf(typeof path === "number" ? readRest(path) : readAll(path, flags)).utf8Slice();
}

/** All bytes of a file; undefined if they cannot be read. */
export function contentsOf(path) {
  try {
    return readAll(path, 0);
  } catch {
    return undefined;
  }
}

function writeFileUtf8(path, text, flag, mode) {
  // Three bytes are the most that a unit of a string takes.
  if (typeof path !== "number" && fitsCall(text.length * 3)) {
    return perform("writeFile", [path, text, flag, mode], undefined);
  }
  const { Buffer } = lazyLoader.require("buffer");
  const bytes = bytesOf(Buffer.from(text, "utf8"));
  if (typeof path === "number") {
    writeAll(path, bytes, null, undefined);
    return undefined;
  }
  const fd = perform("open", [path, flag, mode], undefined, same);
  try {
    writeAll(fd, bytes, null, undefined);
  } finally {
    close(fd);
  }
  return undefined;
}

/** The whole of a file, if it fits into a call; otherwise null. */
export function readWhole(path, request) {
  return perform("readFile", [path], request, (bytes) => (bytes === null ? null : bufferOf(bytes)));
}

/** Writes a whole file, whose bytes fit into a call. */
export function writeWhole(path, bytes, flags, mode, request) {
  return perform("writeFile", [path, bytes, flags, mode], request);
}

/** Removes whatever is there. */
export function removeTree(path, isRecursive, request) {
  return perform("rm", [path, isRecursive], request);
}

// Names.

function close(fd, request) {
  checkDescriptor(fd);
  if (isStandard(fd)) return settled(request, undefined);
  return perform("close", [fd], request);
}

function readdir(path, encoding, withFileTypes, request) {
  return perform("readdir", [path], request, ({ 0: names, 1: types }) => {
    const shown = isPlain(encoding) ? names : ArrayPrototypeMap(names, (name) => encoded(name, encoding));
    return withFileTypes ? [shown, types] : shown;
  });
}

function isPlain(encoding) {
  return encoding === undefined || encoding === null || encoding === "utf8" || encoding === "utf-8";
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const MKDTEMP_ATTEMPTS = 100;

function mkdtemp(prefix, encoding, request) {
  const text = typeof prefix === "string" ? prefix : bufferOf(prefix).utf8Slice();
  const about = { __proto__: null, path: `${text}XXXXXX`, syscall: "mkdtemp" };
  const candidate = () => {
    const bytes = new Uint8Array(6);
    random(bytes);
    let path = text;
    for (let index = 0; index < 6; index++) path += LETTERS[bytes[index] % LETTERS.length];
    return path;
  };
  const attempt = (left) => {
    const path = candidate();
    const made = () => encoded(path, encoding);
    const again = (error) => left > 0 && error?.code === "EEXIST";
    if (request === undefined) {
      try {
        return perform("mkdir", [path, 0o700, false], undefined, made, about);
      } catch (error) {
        if (again(error)) return attempt(left - 1);
        throw error;
      }
    }
    return PromisePrototypeThen(
      perform("mkdir", [path, 0o700, false], kUsePromises, made, about),
      undefined,
      (error) => (again(error) ? attempt(left - 1) : PromiseReject(error)),
    );
  };
  if (request === undefined || request === kUsePromises) return attempt(MKDTEMP_ATTEMPTS);
  return begin(request, (resolve, reject) => {
    PromisePrototypeThen(attempt(MKDTEMP_ATTEMPTS), resolve, reject);
  });
}

// Copies of trees: the parts of `cpSync` that Node has in C++.

function cpError(code, message) {
  const error = new Error(message);
  define(error, "code", code);
  return error;
}

function trailing(path) {
  return StringPrototypeEndsWith(path, "/") ? path : `${path}/`;
}

function cpSyncCheckPaths(src, dest, dereference, recursive) {
  const look = dereference ? binding.stat : binding.lstat;
  const source = ArrayPrototypeSlice(look(src, false, undefined, true));
  const target = look(dest, false, undefined, false);
  const isDirectory = (numbers) => (numbers[1] & 0o170000) === 0o040000;
  if (target !== undefined) {
    if (target[7] === source[7]) throw cpError("ERR_FS_CP_EINVAL", `src and dest cannot be the same ${dest}`);
    if (isDirectory(source) && !isDirectory(target)) {
      throw cpError("ERR_FS_CP_DIR_TO_NON_DIR", `Cannot overwrite non-directory ${dest} with directory ${src}`);
    }
    if (!isDirectory(source) && isDirectory(target)) {
      throw cpError("ERR_FS_CP_NON_DIR_TO_DIR", `Cannot overwrite directory ${dest} with non-directory ${src}`);
    }
  }
  const { dirname, resolve } = lazyLoader.require("path");
  if (isDirectory(source)) {
    if (StringPrototypeStartsWith(trailing(resolve(dest)), trailing(resolve(src)))) {
      throw cpError("ERR_FS_CP_EINVAL", `Cannot copy ${trailing(src)} to a subdirectory of self ${dest}`);
    }
    if (!recursive) {
      throw cpError("ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${trailing(src)}`);
    }
  }
  perform("mkdir", [dirname(resolve(dest)), 0o777, true], undefined);
}

function cpSyncOverrideFile(src, dest, mode, preserveTimestamps) {
  perform("unlink", [dest], undefined);
  perform("copyFile", [src, dest, mode ?? 0], undefined);
  if (preserveTimestamps) copyTimes(src, dest);
}

function copyTimes(src, dest) {
  const numbers = perform("stat", [src], undefined, same);
  perform("utimes", [dest, numbers[10] + numbers[11] / 1e9, numbers[12] + numbers[13] / 1e9], undefined);
}

function cpSyncCopyDir(src, dest, force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps) {
  const path = lazyLoader.require("path");
  perform("mkdir", [dest, 0o777, true], undefined);
  const { 0: names, 1: types } = perform("readdir", [src], undefined, same);
  for (let index = 0; index < names.length; index++) {
    const from = path.join(src, names[index]);
    const to = path.join(dest, names[index]);
    const isLink = types[index] === UV_DIRENT_LINK;
    const leadsToDirectory = isLink && dereference && internalModuleStat(from) === 1;
    if (types[index] === UV_DIRENT_DIR || leadsToDirectory) {
      cpSyncCopyDir(from, to, force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps);
      continue;
    }
    const isThere = binding.lstat(to, false, undefined, false) !== undefined;
    if (isThere && !force) {
      if (!errorOnExist) continue;
      throw cpError(
        "ERR_FS_CP_EEXIST",
        `[ERR_FS_CP_EEXIST]: Target already exists: cp returned EEXIST (${to} already exists) ${to}`,
      );
    }
    if (isLink && !dereference) {
      let target = perform("readlink", [from], undefined, same);
      if (!verbatimSymlinks && !path.isAbsolute(target)) target = path.resolve(path.dirname(from), target);
      if (isThere) perform("unlink", [to], undefined);
      perform("symlink", [target, to], undefined);
    } else {
      perform("copyFile", [from, to, 0], undefined);
      if (preserveTimestamps) copyTimes(from, to);
    }
  }
  if (preserveTimestamps) copyTimes(src, dest);
}

function internalModuleStat(path) {
  return perform("internalModuleStat", [path], undefined, same);
}

/** What `fs/promises` has behind a `FileHandle`. */
class FileHandle {
  #isClosed = false;

  constructor(fd) {
    this.fd = fd;
  }

  getAsyncId() {
    return 0;
  }

  close() {
    if (this.#isClosed) return PromiseReject(toError(failure("EBADF", -9, "close")));
    return close(this.releaseFD(), kUsePromises);
  }

  closeSync() {
    if (!this.#isClosed) close(this.releaseFD());
  }

  releaseFD() {
    const { fd } = this;
    this.#isClosed = true;
    this.fd = -1;
    return fd;
  }
}

function refused(feature, instead) {
  const error = new Error(`${feature} is not available in a run${instead}`);
  error.code = "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM";
  return error;
}

class StatWatcher {
  constructor() {
    throw refused("fs.watchFile", ": nothing tells a run of changes; look again with fs.stat");
  }
}

class FSEvent {
  constructor() {
    throw refused("fs.watch", ": nothing tells a run of changes; look again with fs.stat or fs.readdir");
  }
}

function unavailable(name) {
  return () => {
    throw refused(name, "");
  };
}

const binding = {
  __proto__: null,
  FSReqCallback,
  FileHandle,
  StatWatcher,
  access,
  bigintStatValues,
  chmod: (path, mode, request) => perform("chmod", [path, mode], request),
  chown: (path, user, group, request) => perform("chown", [path, user, group], request),
  close,
  copyFile: (src, dest, mode, request) => perform("copyFile", [src, dest, mode ?? 0], request),
  cpSyncCheckPaths,
  cpSyncCopyDir,
  cpSyncOverrideFile,
  existsSync: (path) => perform("exists", [path], undefined, same),
  fchmod: (fd, mode, request) => performOn("fchmod", [fd, mode], request),
  fchown: (fd, user, group, request) => performOn("fchown", [fd, user, group], request),
  fdatasync: (fd, request) => (isStandard(fd) ? settled(request) : performOn("fdatasync", [fd], request)),
  fstat,
  fsync: (fd, request) => (isStandard(fd) ? settled(request) : performOn("fsync", [fd], request)),
  ftruncate: (fd, length, request) => performOn("ftruncate", [fd, length ?? 0], request),
  futimes: (fd, atime, mtime, request) => performOn("futimes", [fd, atime, mtime], request),
  getFormatOfExtensionlessFile: () => 0,
  internalModuleStat,
  kFsStatsFieldsNumber: STAT_FIELDS,
  kUsePromises,
  lchown: (path, user, group, request) => perform("lchown", [path, user, group], request),
  legacyMainResolve: unavailable("legacyMainResolve"),
  link: (existing, path, request) => perform("link", [existing, path], request),
  lstat: statFunction("lstat"),
  lutimes: (path, atime, mtime, request) => perform("lutimes", [path, atime, mtime], request),
  mkdir: (path, mode, isRecursive, request) =>
    perform("mkdir", [path, mode, isRecursive], request, (made) => made ?? undefined),
  mkdtemp,
  open: (path, flags, mode, request) => perform("open", [path, flags, mode], request, same),
  openFileHandle: (path, flags, mode, request) =>
    perform("open", [path, flags, mode], request, (fd) => new FileHandle(fd)),
  read,
  readBuffers,
  readFileUtf8,
  readdir,
  readlink: (path, encoding, request) => perform("readlink", [path], request, nameDecoder(encoding)),
  realpath: (path, encoding, request) => perform("realpath", [path], request, nameDecoder(encoding)),
  rename: (from, to, request) => perform("rename", [from, to], request),
  rmSync: (path, _maxRetries, isRecursive) => removeTree(path, isRecursive, undefined),
  rmdir: (path, request) => perform("rmdir", [path], request),
  stat: statFunction("stat"),
  statValues,
  statfs: (path, bigint, request) =>
    perform("statfs", [path], request, (numbers) =>
      fill(bigint ? new BigInt64Array(numbers.length) : new Float64Array(numbers.length), numbers, bigint),
    ),
  symlink: (target, path, _flags, request) => perform("symlink", [target, path], request),
  unlink: (path, request) => perform("unlink", [path], request),
  utimes: (path, atime, mtime, request) => perform("utimes", [path, atime, mtime], request),
  writeBuffer,
  writeBuffers,
  writeFileUtf8,
  writeString,
};

export { binding as fs, kUsePromises };

export const fsEvent = { __proto__: null, FSEvent };

/** An open directory: its names as they were when it was opened. */
class DirHandle {
  #names;
  #types;
  #at = 0;

  constructor({ 0: names, 1: types }) {
    this.#names = names;
    this.#types = types;
  }

  read(encoding, bufferSize, request) {
    if (this.#at >= this.#names.length) return settled(request, null);
    const entries = [];
    const end = MathMin(this.#at + (bufferSize ?? 32), this.#names.length);
    for (; this.#at < end; this.#at++) {
      ArrayPrototypePush(entries, encoded(this.#names[this.#at], encoding), this.#types[this.#at]);
    }
    return settled(request, entries);
  }

  close(request) {
    return settled(request, undefined);
  }
}

function opendir(path, _encoding, request) {
  const about = { __proto__: null, syscall: "opendir" };
  return perform("readdir", [path], request, (listing) => new DirHandle(listing), about);
}

export const fsDir = {
  __proto__: null,
  opendir,
  // As in Node, its errors do not name the path.
  opendirSync: (path) =>
    perform("readdir", [path], undefined, (listing) => new DirHandle(listing), {
      __proto__: null,
      path: null,
      syscall: "opendir",
    }),
};
