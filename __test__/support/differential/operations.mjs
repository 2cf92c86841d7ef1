// Operations as data: how to make them up, and how to do them in a workspace and on the host.
//
// Both sides work at the same absolute paths, so that paths, link targets and results compare as
// they are. The host's side says what POSIX and Node make of an operation; where a workspace is
// meant to differ is for the test to say.

import * as host from "node:fs/promises";
import { Readable } from "node:stream";
import fc from "fast-check";
import { bytesOf } from "../workspace.mjs";
import { comparable } from "./tree.mjs";

const isRoot = process.getuid?.() === 0;

const CHUNK_BYTES = 512 * 1024;

/** Few names, so that operations meet. */
const NAMES = ["a", "b", "c"];
const ODD_NAMES = [
  "caf\u00e9", // NFC
  "cafe\u0301", // NFD
  "\u{1f600}",
  "__proto__",
  "constructor",
  "x\ny",
  " ",
  "\\",
  "..a",
  "A",
  "n".repeat(255),
  "n".repeat(256),
];

const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_NAMES) },
);

/** A path below the base, and how it is spelled; the first two of each are the plainest. */
const path = fc.record({
  names: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(name) },
    { weight: 4, arbitrary: fc.tuple(name, name) },
    { weight: 2, arbitrary: fc.tuple(name, name, name) },
  ),
  spelling: fc.oneof(
    { weight: 20, arbitrary: fc.constant("plain") },
    { weight: 1, arbitrary: fc.constantFrom("slash", "dot", "up") },
  ),
});

const SPELLINGS = {
  plain: (text) => text,
  slash: (text) => `${text}/`,
  dot: (text) => text.replace(/\/([^/]*)$/, "//./$1/."),
  up: (text) => text.replace(/\/([^/]*)$/, "/nowhere/../$1"),
};

/** At most one `..`, so that links do not lead out of the folder that the test owns. */
const target = fc.oneof(
  { weight: 6, arbitrary: name },
  {
    weight: 6,
    arbitrary: fc.constantFrom("a/b", "../a", "../b", "b/../a", ".", "..", "a/", "b/.", "./a", "c/..", "a//b", "../c/"),
  },
  { weight: 3, arbitrary: fc.constantFrom("BASE/a", "BASE/b/", "BASE/c/a", "BASE", "BASE/a/../b") },
  { weight: 1, arbitrary: fc.constant("") },
);

const size = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 200 }) },
  { weight: 3, arbitrary: fc.constantFrom(2047, 2048, 2049, 32_768, 65_536, 65_537, 100_000) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1).map((more) => CHUNK_BYTES + more) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1).map((more) => 2 * CHUNK_BYTES + more) },
);

const content = fc.record({
  form: fc.constantFrom(
    "string",
    "bytes",
    "Buffer",
    "ArrayBuffer",
    "DataView",
    "Uint16Array",
    "Blob",
    "ReadableStream",
    "Readable",
    "iterable",
  ),
  size,
  fill: fc.constantFrom("text", "BOM", "binary", "zeros"),
});

// Without all of the owner's bits the host refuses what a workspace allows, except to root.
const fileMode = fc
  .constantFrom(0o644, 0o600, 0o777, 0o755, 0o444, 0o000, 0o111)
  .map((mode) => (isRoot ? mode : mode | 0o700));
const directoryMode = fc.constantFrom(0o755, 0o700, 0o777, 0o1777, 0o000).map((mode) => (isRoot ? mode : mode | 0o700));
const anyMode = fc
  .constantFrom(0o644, 0o600, 0o755, 0o777, 0o1777, 0o000, 0o100_644)
  .map((mode) => (isRoot ? mode : mode | 0o700));

const flag = fc.boolean();
const maybe = (arbitrary) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const rarely = (arbitrary) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const range = fc.record({
  byteOffset: fc.oneof(fc.integer({ min: 0, max: 250 }), fc.constantFrom(CHUNK_BYTES - 1, CHUNK_BYTES)),
  byteLength: fc.oneof(fc.integer({ min: 0, max: 250 }), fc.constantFrom(CHUNK_BYTES, CHUNK_BYTES + 2)),
});
/** Seconds. The time is one of the last century, and a double holds it to the millisecond. */
const time = fc.integer({ min: 0, max: 900_000_000_000 }).map((ms) => ms / 1000);

/** The bytes of a content. */
export function bytesOfContent({ size, fill }) {
  const patterns = {
    text: "The quick brown fox\r\njumps over \u00e9\u{1f600}\n",
    BOM: "\ufefftext\n",
    binary: Buffer.from(Array.from({ length: 251 }, (_, at) => (at * 37) & 0xff)),
    zeros: Buffer.alloc(1),
  };
  const bytes = Buffer.alloc(size, patterns[fill]);
  // A string cannot end within a character.
  return bytes;
}

/** A content in the form that it is to have. */
function formed({ form, ...content }) {
  const bytes = bytesOfContent(content);
  const cut = Math.floor(bytes.length / 3);
  const pieces = [bytes.subarray(0, cut), new Uint8Array(0), bytes.subarray(cut)];
  switch (form) {
    case "string":
      return bytes.toString("utf8");
    case "bytes":
      return new Uint8Array(bytes);
    case "Buffer":
      return bytes;
    case "ArrayBuffer":
      return new Uint8Array(bytes).buffer;
    case "DataView": {
      const wider = new Uint8Array(bytes.length + 3);
      wider.set(bytes, 2);
      return new DataView(wider.buffer, 2, bytes.length);
    }
    case "Uint16Array":
      return new Uint16Array(new Uint8Array(bytes.subarray(0, bytes.length & ~1)).buffer);
    case "Blob":
      return new Blob(pieces);
    case "ReadableStream":
      return new ReadableStream({
        pull(controller) {
          const piece = pieces.shift();
          if (piece) controller.enqueue(piece);
          else controller.close();
        },
      });
    case "Readable":
      return Readable.from(pieces.filter((piece) => piece.length > 0));
    case "iterable":
      return (async function* () {
        yield* pieces;
      })();
  }
}

/** What the host is given for the same content. */
function plain(content) {
  const bytes = bytesOfContent(content);
  if (content.form === "string") return Buffer.from(bytes.toString("utf8"));
  if (content.form === "Uint16Array") return bytes.subarray(0, bytes.length & ~1);
  return bytes;
}

function typeOf(it) {
  const is = (question) => (typeof it[question] === "function" ? it[question]() : it[question]);
  if (is("isFile")) return "file";
  return is("isDirectory") ? "directory" : "link";
}

/** What of `stat` is the same on both sides: no numbers of inodes, sizes of directories, times of the clock. */
function statResult(stat) {
  const type = typeOf(stat);
  const result = { type, mode: stat.mode & 0o7777 };
  if (type !== "directory") Object.assign(result, { size: stat.size, nlink: stat.nlink });
  if (type !== "link") result.mtime = comparable(stat.mtimeMs ?? stat.mtime);
  return result;
}

const byBytes = (left, right) => Buffer.compare(Buffer.from(left.name), Buffer.from(right.name));

const entryOf = (entry) => ({ name: entry.name, type: typeOf(entry) });

async function hostListing(path) {
  const entries = await host.readdir(path, { withFileTypes: true });
  return entries.sort(byBytes);
}

/** Depth first, each directory right before its contents, without following links. */
async function hostListingBelow(path) {
  const listing = [];
  for (const entry of await hostListing(path)) {
    listing.push({ ...entryOf(entry), parentPath: path });
    if (entry.isDirectory()) listing.push(...(await hostListingBelow(`${path}/${entry.name}`)));
  }
  return listing;
}

async function hostRange(path, { byteOffset = 0, byteLength } = {}) {
  const file = await host.open(path);
  try {
    const bytes = await file.readFile();
    return bytes.subarray(byteOffset, byteLength === undefined ? undefined : byteOffset + byteLength);
  } finally {
    await file.close();
  }
}

/** The code that stops `exists` from saying no. */
async function hostExists(path) {
  try {
    await host.access(path);
    return true;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
    throw error;
  }
}

/** Without keys that are undefined, which is how an option is not given. */
const given = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/**
 * For each operation how often it is made up, of what, and how each side does it. Both sides get
 * the operation with its paths as text: in the workspace as they are spelled, on the host canonical.
 */
const OPERATIONS = {
  writeFile: {
    weight: 14,
    fields: { path, content, mode: maybe(fileMode), exclusive: rarely(flag) },
    workspace: (fs, { path, content, mode, exclusive }) =>
      fs.writeFile(path, formed(content), given({ mode, exclusive })),
    host: ({ path, content, mode, exclusive }) =>
      host.writeFile(path, plain(content), given({ mode: mode ?? 0o644, flag: exclusive ? "wx" : "w" })),
  },
  appendFile: {
    weight: 5,
    fields: { path, content, mode: maybe(fileMode) },
    workspace: (fs, { path, content, mode }) => fs.appendFile(path, formed(content), given({ mode })),
    host: ({ path, content, mode }) => host.appendFile(path, plain(content), { mode: mode ?? 0o644 }),
  },
  mkdir: {
    weight: 12,
    fields: { path, recursive: flag, mode: maybe(directoryMode) },
    workspace: (fs, { path, recursive, mode }) => fs.mkdir(path, given({ recursive, mode })),
    host: ({ path, recursive, mode }) => host.mkdir(path, { recursive, mode: mode ?? 0o755 }),
  },
  readdir: {
    weight: 2,
    fields: { path },
    workspace: async (fs, { path, canonical }) => {
      const entries = await fs.readdir(path);
      return entries.map((entry) => ({ ...entryOf(entry), isRightParent: entry.parentPath === canonical }));
    },
    host: async ({ path }) => (await hostListing(path)).map((entry) => ({ ...entryOf(entry), isRightParent: true })),
  },
  readdirRecursive: {
    weight: 1,
    fields: { path },
    workspace: async (fs, { path }) => {
      const entries = await fs.readdir(path, { recursive: true });
      return entries.map((entry) => ({ ...entryOf(entry), parentPath: entry.parentPath }));
    },
    host: ({ path }) => hostListingBelow(path),
  },
  stat: {
    weight: 4,
    fields: { path },
    workspace: async (fs, { path }) => statResult(await fs.stat(path)),
    host: async ({ path }) => statResult(await host.stat(path)),
  },
  lstat: {
    weight: 4,
    fields: { path },
    workspace: async (fs, { path }) => statResult(await fs.lstat(path)),
    host: async ({ path }) => statResult(await host.lstat(path)),
  },
  readText: {
    weight: 3,
    fields: { path, range: rarely(range) },
    workspace: (fs, { path, range }) => fs.readFile(path, { encoding: "utf8", ...range }),
    host: async ({ path, range }) => (await hostRange(path, range)).toString("utf8"),
  },
  readBytes: {
    weight: 4,
    fields: { path, range: maybe(range) },
    workspace: async (fs, { path, range }) => (await bytesOf(fs.readFile(path, range))).toString("latin1"),
    host: async ({ path, range }) => (await hostRange(path, range)).toString("latin1"),
  },
  rm: {
    weight: 6,
    fields: { path, recursive: flag, force: flag },
    workspace: (fs, { path, recursive, force }) => fs.rm(path, { recursive, force }),
    host: ({ path, recursive, force }) => host.rm(path, { recursive, force }),
  },
  rename: {
    weight: 10,
    fields: { path, to: path },
    workspace: (fs, { path, to }) => fs.rename(path, to),
    host: ({ path, to }) => host.rename(path, to),
  },
  symlink: {
    weight: 6,
    fields: { target, path },
    workspace: (fs, { target, path }) => fs.symlink(target, path),
    host: ({ target, path }) => host.symlink(target, path),
  },
  readlink: {
    weight: 2,
    fields: { path },
    workspace: (fs, { path }) => fs.readlink(path),
    host: ({ path }) => host.readlink(path),
  },
  link: {
    weight: 5,
    fields: { path, to: path },
    workspace: (fs, { path, to }) => fs.link(path, to),
    host: ({ path, to }) => host.link(path, to),
  },
  realpath: {
    weight: 2,
    fields: { path },
    workspace: (fs, { path }) => fs.realpath(path),
    host: ({ path }) => host.realpath(path),
  },
  chmod: {
    weight: 3,
    fields: { path, mode: anyMode },
    workspace: (fs, { path, mode }) => fs.chmod(path, mode),
    host: ({ path, mode }) => host.chmod(path, mode & 0o7777),
  },
  truncate: {
    weight: 4,
    fields: { path, length: maybe(size) },
    workspace: (fs, { path, length }) => fs.truncate(path, length),
    host: ({ path, length }) => host.truncate(path, length),
  },
  copyFile: {
    weight: 5,
    fields: { path, to: path, exclusive: rarely(flag) },
    workspace: (fs, { path, to, exclusive }) => fs.copyFile(path, to, given({ exclusive })),
    host: ({ path, to, exclusive }) => host.copyFile(path, to, exclusive ? host.constants.COPYFILE_EXCL : 0),
  },
  cp: {
    weight: 6,
    fields: {
      path,
      to: path,
      recursive: maybe(fc.constant(true)),
      force: rarely(flag),
      errorOnExist: rarely(flag),
      dereference: rarely(flag),
      preserveTimestamps: rarely(flag),
    },
    workspace: (fs, { path, to, canonical: _, type: __, ...options }) => fs.cp(path, to, given(options)),
    host: async ({ path, to, canonical: _, type: __, ...options }) => {
      // For the directories that it makes above the copy; those in it get the mode of their source.
      const umask = process.umask(0o022);
      try {
        // Node writes the targets of links anew unless told not to.
        await host.cp(path, to, { ...given(options), verbatimSymlinks: true });
      } finally {
        process.umask(umask);
      }
    },
  },
  utimes: {
    weight: 3,
    fields: { path, atime: time, mtime: time, form: fc.constantFrom("number", "string", "Date") },
    workspace: async (fs, { path, atime, mtime, form }) => {
      const formed = { number: Number, string: String, Date: (time) => new Date(Math.round(time * 1000)) }[form];
      await fs.utimes(path, formed(atime), formed(mtime));
      const stat = await fs.stat(path);
      return [stat.atime, stat.mtime].map(Math.round);
    },
    host: async ({ path, atime, mtime }) => {
      await host.utimes(path, atime, mtime);
      const stat = await host.stat(path);
      return [stat.atimeMs, stat.mtimeMs].map(Math.round);
    },
  },
  access: {
    weight: 2,
    fields: { path, mode: isRoot ? fc.integer({ min: 0, max: 7 }) : fc.constantFrom(0, 2, 4, 6) },
    workspace: (fs, { path, mode }) => fs.access(path, mode),
    host: ({ path, mode }) => host.access(path, mode),
  },
  exists: {
    weight: 2,
    fields: { path },
    workspace: (fs, { path }) => fs.exists(path),
    host: ({ path }) => hostExists(path),
  },
};

/** The names of all operations. */
export const OPERATION_TYPES = Object.keys(OPERATIONS);

/** One operation, as data. */
export const operation = fc.oneof(
  ...Object.entries(OPERATIONS).map(([type, { weight, fields }]) => ({
    weight,
    arbitrary: fc.record({ type: fc.constant(type), ...fields }),
  })),
);

/** The operation as each side is told it, below `base`. */
export function below(base, { path, to, target, ...rest }) {
  const canonical = ({ names }) => `${base}/${names.join("/")}`;
  const spelled = (path) => SPELLINGS[path.spelling](canonical(path));
  const sides = (text) => ({
    ...rest,
    path: text(path),
    canonical: canonical(path),
    ...(to && { to: text(to) }),
    ...(target !== undefined && { target: target.replace("BASE", base) }),
  });
  return { workspace: sides(spelled), host: sides(canonical) };
}

/** Does the operation in a workspace; what came of it. */
export function inWorkspace(fs, operation) {
  return outcome(() => OPERATIONS[operation.type].workspace(fs, operation));
}

/** Does the operation on the host; what came of it. */
export function onHost(operation) {
  return outcome(() => OPERATIONS[operation.type].host(operation));
}

async function outcome(work) {
  try {
    return { value: await work() };
  } catch (error) {
    if (typeof error.code !== "string") throw error;
    return { code: error.code, error };
  }
}
