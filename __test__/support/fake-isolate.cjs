// A program that speaks the frames of `wire/`, for tests of what the addon does with isolates that lie.
//
//   const program = fakeIsolate(folder, ({ write, ready }) => { write(ready()); … });
//
// The function runs in the process that the addon starts, where nothing of the test is in scope.

const { closeSync, readSync, writeSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

/** The version of the frames. */
const VERSION = 1;

const u8 = (value) => Buffer.from([value]);
const u32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const f64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};
const text = (value) => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
const optional = (value) => (value === null ? u8(0) : Buffer.concat([u8(1), text(value)]));

/** An argument of a call. */
function value(item) {
  if (item === null) return u8(0);
  if (typeof item === "boolean") return Buffer.from([1, item ? 1 : 0]);
  if (typeof item === "number") return Buffer.concat([u8(2), f64(item)]);
  if (typeof item === "string") return Buffer.concat([u8(3), text(item)]);
  if (Array.isArray(item)) return Buffer.concat([u8(5), u32(item.length), ...item.map(value)]);
  return Buffer.concat([u8(4), u32(item.length), item]);
}

const frame = (...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length), body]);
};

const KINDS = { file: 0, host: 1, fetch: 2, import: 3 };
const ENDINGS = { completed: 0, failed: 1, outOfMemory: 2, exited: 3, tooLong: 4 };

const frames = {
  frame,
  u8,
  u32,
  f64,
  text,
  value,
  ready: (version = VERSION) => frame(u8(1), u32(version)),
  loaded: () => frame(u8(2)),
  notLoaded: (name, message, code = null, path = null) =>
    frame(u8(3), text(name), text(message), optional(code), optional(path)),
  call: (id, kind, name, args, isSync = false) =>
    frame(u8(4), u32(id), u8(KINDS[kind]), u8(isSync ? 1 : 0), text(name), u32(args.length), ...args.map(value)),
  cancel: (id) => frame(u8(5), u32(id)),
  output: (stream, bytes) => frame(u8(6), u8(stream), text(bytes)),
  wake: (afterMs) => frame(u8(7), u8(afterMs === null ? 0 : 1), f64(afterMs ?? 0)),
  done: (ending, result, exitCode = null) =>
    frame(u8(8), u8(ENDINGS[ending]), u8(exitCode === null ? 0 : 1), u32(exitCode ?? 0), text(result)),
};

/** Writes all of the bytes, waiting as long as nobody reads. */
function write(...parts) {
  const bytes = Buffer.concat(parts);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function readBytes(count) {
  const bytes = Buffer.alloc(count);
  for (let at = 0; at < count; ) {
    const read = readSync(0, bytes, at, count - at);
    if (read === 0) process.exit(0);
    at += read;
  }
  return bytes;
}

/** The next frame from the host: its kind, and its fields as bytes. Ends the process at the end of input. */
function read() {
  const body = readBytes(readBytes(4).readUInt32LE());
  return { kind: { 1: "start", 2: "go", 3: "answer", 4: "tick" }[body[0]], body: body.subarray(1) };
}

/** Plays an honest isolate up to the moment at which code runs. */
function begin() {
  write(frames.ready());
  read();
  write(frames.loaded());
  read();
}

/** Does nothing until its input ends. */
function hang() {
  for (;;) read();
}

/** Does nothing, for ever. */
function sleep() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Says something where code runs, and no more. */
function say(...parts) {
  begin();
  write(...parts);
  hang();
}

/** Says something where code is being loaded, and no more. */
function sayEarly(...parts) {
  write(frames.ready());
  read();
  write(...parts);
  hang();
}

/** Says something where code runs, and ends. */
function endWith(...parts) {
  begin();
  end(...parts);
}

/** Ends where code runs, without a word. */
function exit(code) {
  begin();
  process.exit(code);
}

/** Sends itself a signal where code runs. */
function signal(name) {
  begin();
  process.kill(process.pid, name);
  hang();
}

/** Closes its output where code runs, and goes on. */
function closeOutput() {
  begin();
  closeSync(1);
  hang();
}

/** Says its last words. */
function end(...parts) {
  write(...parts);
  process.exit(0);
}

/** Makes the program of a behaviour; its path. */
function fakeIsolate(folder, name, behaviour) {
  const path = join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, "-")}.cjs`);
  const source = `#!${process.execPath}\n(${behaviour})(require(${JSON.stringify(__filename)}).inside);\n`;
  writeFileSync(path, source, { mode: 0o755 });
  return path;
}

module.exports = {
  fakeIsolate,
  inside: { ...frames, write, read, begin, hang, sleep, end, say, sayEarly, endWith, exit, signal, closeOutput },
};
