// The shapes of `workspace.fs`.

import type { FileContent } from "./content.js";
import type { Backend } from "./runtime/backend.js";
import type { WorkspaceOutputOptions } from "./runtime/types.js";

/** How a workspace is stored and opened. */
export interface WorkspaceOptions {
  /**
   * Where: a path to a database file, `":memory:"`, or an object.
   *
   * The file and missing parent directories are created. Beside it are two files of SQLite's,
   * `-wal` and `-shm`, while it is open, and an empty one, `-pins`, once large files were streamed.
   */
  storage: string | StorageOptions;
  /**
   * The clock, in milliseconds since the epoch; called once for each change, of a streamed file
   * at its end.
   * @defaultValue the system's clock
   */
  now?: () => number;
  /**
   * Bytes of file contents that the workspace may hold, as `statfs` counts them in `bytes`. A
   * change that would exceed it is refused with `ENOSPC`; nothing is changed.
   * @defaultValue no limit
   */
  quotaBytes?: number;
  /**
   * What may be done with which paths, by `workspace.fs` and by tools. A path is judged by where it
   * really leads. The last rule that matches counts.
   * @defaultValue none: everything
   */
  rules?: PathRule[];
  /**
   * Keep a record of every call of a tool, without contents; see {@link Workspace.audit}.
   * @defaultValue `false`
   */
  audit?: boolean;
  /**
   * Where code runs, by {@link Workspace.runtime}. The first one is used where none is named.
   * @defaultValue none
   */
  backends?: readonly Backend[];
  /**
   * How much of its output the result of a run has, and where the whole is kept; `false`: results have all,
   * and nothing is kept.
   */
  output?: WorkspaceOutputOptions | false;
  /**
   * Settle the runs that other processes left behind now, and not with the first call of the runtime.
   * @defaultValue `false`
   */
  recover?: boolean;
}

/** What may be done with some paths. */
export interface PathRule {
  /**
   * A glob as `find` has them, from `/` or from the root of a set of tools. It is also about
   * everything below what it matches.
   */
  path: string;
  /** `"none"`: refused with `EACCES` and not shown; `"read"`: changes are refused with `EROFS`. */
  access: "none" | "read" | "read-write";
}

/** Where a workspace is, and what its promises mean. */
export interface StorageOptions {
  /** The database file, or `":memory:"`. */
  path: string;
  /**
   * What a resolved change survives: `"full"` a power cut, `"normal"` the end of the process,
   * `"off"` nothing, for tests.
   * @defaultValue `"full"`
   */
  durability?: "full" | "normal" | "off";
  /**
   * Refuse every change with `EROFS`. The file must exist.
   * @defaultValue `false`
   */
  readonly?: boolean;
}

/** What `stat` says. */
export interface WorkspaceStat {
  /** Last segment of the path that was asked about; `""` for the root. */
  name: string;
  /** Number of the inode. The same for all names of one file, and never used again. */
  inode: number;
  /** Permission bits, without the type. */
  mode: number;
  /** How many names lead here; for a directory two and one for each directory in it. */
  nlink: number;
  /** Bytes of the contents, or of a link's target; 0 for a directory. */
  size: number;
  /** Last change of the contents; of a directory, of its entries. Milliseconds since the epoch. */
  mtime: number;
  /** Last change of anything. */
  ctime: number;
  /** Set at creation and by `utimes`; reading does not change it. */
  atime: number;
  /** Creation. */
  birthtime: number;
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

/** An entry of a directory. */
export interface WorkspaceDirent {
  name: string;
  /** The directory that it is in; begins with the path as it was asked for. */
  parentPath: string;
  /** As in `stat`. */
  size: number;
  /** As in `stat`. */
  mtime: number;
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

/** A part of a file, in bytes. Beyond its end there is nothing; that is no error. */
export interface ByteRange {
  /** @defaultValue 0 */
  byteOffset?: number;
  /** @defaultValue all that follows */
  byteLength?: number;
}

/** Options of `readFile`. */
export interface ReadFileOptions extends ByteRange {
  /** `"utf8"` or `"utf-8"`, in any case: text. Not given, or `null`: a stream of bytes. */
  encoding?: string | null;
}

/** Options of `writeFile`. */
export interface WriteFileOptions {
  /**
   * Permission bits.
   * @defaultValue those of the existing file; 0o644 for a new one
   */
  mode?: number;
  /**
   * Fail with `EEXIST` if there is anything at the path, also a link.
   * @defaultValue `false`
   */
  exclusive?: boolean;
  /**
   * Stops the write; the promise rejects with the signal's reason and the file is as before. It
   * has no effect once all of the content has arrived.
   */
  signal?: AbortSignal;
}

/** Options of `appendFile`. */
export interface AppendFileOptions {
  /**
   * Permission bits of a file that is not there yet.
   * @defaultValue 0o644
   */
  mode?: number;
  /** As in `writeFile`. */
  signal?: AbortSignal;
}

/** Options of `mkdir`. */
export interface MkdirOptions {
  /**
   * Make the directories above too, and accept one that exists.
   * @defaultValue `false`
   */
  recursive?: boolean;
  /**
   * Permission bits of the directory; those above it get 0o755.
   * @defaultValue 0o755
   */
  mode?: number;
}

/** A page of a result. Counted anew with every call: what was made or removed since shifts it. */
export interface PageOptions {
  /**
   * How many at most.
   * @defaultValue all
   */
  limit?: number;
  /**
   * How many to skip before.
   * @defaultValue 0
   */
  offset?: number;
}

/** Options of `readdir`. */
export interface ReaddirOptions extends PageOptions {
  /**
   * Also what is in the directories, each right after its own entry. Links are not followed.
   * @defaultValue `false`
   */
  recursive?: boolean;
}

/** Options of `rm`. */
export interface RmOptions {
  /**
   * Remove a directory with its contents.
   * @defaultValue `false`
   */
  recursive?: boolean;
  /**
   * A path that leads nowhere is no error; anything else still is.
   * @defaultValue `false`
   */
  force?: boolean;
}

/** Options of `copyFile`. */
export interface CopyFileOptions {
  /**
   * Fail with `EEXIST` if there is anything at the destination.
   * @defaultValue `false`
   */
  exclusive?: boolean;
}

/** Options of `cp`, with the meaning they have in Node. */
export interface CpOptions {
  /**
   * Copy directories with their contents.
   * @defaultValue `false`
   */
  recursive?: boolean;
  /**
   * Replace files that exist.
   * @defaultValue `true`
   */
  force?: boolean;
  /**
   * With `force: false`: fail with `EEXIST` instead of leaving what exists.
   * @defaultValue `false`
   */
  errorOnExist?: boolean;
  /**
   * Copy what links lead to, not the links.
   * @defaultValue `false`
   */
  dereference?: boolean;
  /**
   * Copy access and modification times.
   * @defaultValue `false`
   */
  preserveTimestamps?: boolean;
  /**
   * Whether to copy this. Asked from the top down, before anything is copied; for a directory,
   * `false` leaves out all below it.
   */
  filter?: (source: string, destination: string) => boolean | Promise<boolean>;
}

/** Options of `find`. */
export interface FindOptions extends PageOptions {
  /**
   * Globs of what to leave out, relative to the directory. A directory that one matches is not
   * entered; one that ends in `/**` leaves out that directory too.
   */
  exclude?: string | string[];
}

/** Something that `find` found. */
export interface WorkspaceFindEntry {
  /** The whole path; begins with the directory as it was asked for. */
  path: string;
  type: "file" | "dir" | "symlink";
}

/** Options of `grep`. */
export interface GrepOptions extends PageOptions {
  /**
   * The pattern is a regular expression, in the syntax of the Rust crate `regex`: no look-around,
   * no back-references. It is compared with one line at a time.
   * @defaultValue `false`: it is literal text
   */
  regex?: boolean;
  /**
   * Upper and lower case are the same, by Unicode's simple case folding.
   * @defaultValue `false`
   */
  ignoreCase?: boolean;
  /**
   * Lines to show before and after each match, up to 1,000.
   * @defaultValue 0
   */
  context?: number;
  /**
   * A glob of the files to search, relative to the directory. No meaning if the path is a file.
   * @defaultValue all
   */
  include?: string;
  /** Globs of what to leave out, as in `find`. No meaning if the path is a file. */
  exclude?: string | string[];
}

/** A line that `grep` found. */
export interface WorkspaceGrepMatch {
  path: string;
  /** From 1. */
  line: number;
  /** The line without its end, `\n` or `\r\n`; of a long one the 2,048 characters around the match. */
  text: string;
  /** There if `text` was cut. */
  cut?: true;
  /**
   * With `context`: the line and those around it. Over all matches each line appears once: a
   * matching one with its own match, any other with the first match that it is near.
   */
  context?: { line: number; text: string; isMatch: boolean }[];
}

/** What `grep` found, and what it did not look at. */
export type WorkspaceGrepResult = WorkspaceGrepMatch[] & {
  /** There are more matches beyond `limit`. */
  truncated: boolean;
  /** Files whose lines were looked at. */
  filesSearched: number;
  /**
   * Files that were not: `binary` ones have a NUL in their first 8 KiB, `unreadable` ones are gone
   * meanwhile or damaged, `tooLong` ones have a line over 32 MiB.
   */
  skipped: { binary: number; unreadable: number; tooLong: number };
};

/** Use of a workspace. Sizes in bytes. */
export interface WorkspaceUsage {
  /** Files and links, each counted once however many names it has. */
  files: number;
  /** Directories, the root included. */
  directories: number;
  /** Contents of all files. */
  bytes: number;
  /** The same as stored: equal chunks count once, and what is not collected yet counts too. */
  storedBytes: number;
  /** Size of the database file. */
  databaseBytes: number;
  /** Size of its write-ahead log. */
  walBytes: number;
  /** What `bytes` may grow to, if that is limited. */
  quotaBytes?: number;
}

/** Options of `watch`. */
export interface WatchOptions {
  /**
   * Also what happens deeper than in the directory itself.
   * @defaultValue `false`
   */
  recursive?: boolean;
  /** Ends the watch: the iteration throws the signal's reason. */
  signal?: AbortSignal;
  /**
   * The `cursor` of an earlier event, in whatever process: go on after it.
   * @defaultValue begin now
   */
  since?: string;
}

/** Something that happened to a path. */
export interface WorkspaceEvent {
  /** `"change"` is one of contents, mode or times, also to what they were. */
  type: "create" | "change" | "delete" | "rename";
  /**
   * The real path, without links. A deleted or renamed directory stands for all below it.
   */
  path: string;
  /** Of a rename: the path before. One of the two may lie outside of what is watched. */
  from?: string;
  /** Where a later `watch` goes on after this event. Opaque; good for this workspace only. */
  cursor: string;
}

/** What `check` found. */
export interface WorkspaceReport {
  /** Nothing is wrong. */
  ok: boolean;
  /** Rules of the format that are broken, by their names; up to a hundred of each. */
  problems: { rule: string; detail: string; path?: string }[];
  /** Files, without links. */
  files: number;
  /** Bytes of their contents. */
  bytes: number;
}

/**
 * The files of a workspace.
 *
 * Paths are absolute and made canonical first: `.`, `..`, doubled and trailing slashes vanish
 * before any link is followed. A name is any string without `/` and NUL of up to 255 bytes of
 * UTF-8, a path has up to 4,096.
 *
 * Every method returns a promise (`watch` an async iterator) and never throws by itself. It rejects
 * with a `WorkspaceError`, or for an argument of a wrong type with a `TypeError` whose `code` is
 * `"ERR_INVALID_ARG_TYPE"`. An option that is `undefined` or `null` counts as not given, one with
 * an unknown name is refused. Codes that any method may have, and that are not repeated below: `EINVAL` (a path or option with a value that
 * is not allowed), `ENAMETOOLONG`, `ENOENT`, `ENOTDIR`, `ELOOP` (over 40 links), `EROFS` (changes
 * of a read-only workspace), `ENOSPC` (the quota or the disk), `EIO` (the database is damaged or
 * cannot be read), `ECLOSED` (after `close()`).
 */
export interface WorkspaceFilesystem {
  /**
   * The contents of a file as a byte stream, as they are when the promise resolves: what happens
   * to the file later does not change what the stream delivers. Pieces have up to 512 KiB and are
   * the consumer's own. A stream that is not read to its end should be cancelled.
   *
   * Rejects with `EISDIR` for a directory.
   */
  readFile(
    path: string,
    options?: (ByteRange & { encoding?: null | undefined }) | null,
  ): Promise<ReadableStream<Uint8Array>>;
  /**
   * The contents of a file as text. Bytes that are not UTF-8 become U+FFFD; a byte order mark
   * stays. `EFBIG` beyond what a string can hold.
   */
  readFile(path: string, options: Utf8Name | (ByteRange & { encoding: Utf8Name })): Promise<string>;
  readFile(path: string, options?: string | ReadFileOptions | null): Promise<string | ReadableStream<Uint8Array>>;

  /**
   * Writes a file: all of it or, on failure, nothing. An existing file keeps its inode and, unless
   * one is given, its mode; a link is followed; directories are not made.
   *
   * A source of bytes is read one piece at a time while the old file stays as it is. If the source
   * fails or the signal fires, the promise rejects with that very error; if the source delivers
   * something else than bytes, with a `TypeError`. However the write fails, the source is
   * released and cancelled.
   *
   * Rejects with `EISDIR` for a directory, `EEXIST` with `exclusive`, `EFBIG` over 1 TiB.
   */
  writeFile(path: string, content: FileContent, options?: WriteFileOptions | null): Promise<void>;

  /** Adds to the end of a file, which is made if it is not there. Otherwise like `writeFile`. */
  appendFile(path: string, content: FileContent, options?: AppendFileOptions | null): Promise<void>;

  /**
   * Makes a directory. With `recursive`, resolves with the first directory made, if any.
   *
   * Rejects with `EEXIST` if something is there; with `recursive` only if that is neither a
   * directory nor a link to one.
   */
  mkdir(path: string, options?: MkdirOptions | null): Promise<string | undefined>;

  /** Entries of a directory, by name in the order of their UTF-8 bytes. `ENOTDIR` for a file. */
  readdir(path: string, options?: ReaddirOptions | null): Promise<WorkspaceDirent[]>;

  /** About what the path leads to, links followed. */
  stat(path: string): Promise<WorkspaceStat>;

  /** About the path itself: a link is a link. */
  lstat(path: string): Promise<WorkspaceStat>;

  /**
   * Whether the path leads to something; a broken link does not. `false` instead of `ENOENT` and
   * `ENOTDIR`; other errors reject.
   */
  exists(path: string): Promise<boolean>;

  /**
   * Rejects if the path may not be used so. Permission bits are not enforced, so this is about
   * existence, `W_OK` in a read-only workspace (`EROFS`) and `X_OK` of a file without any `x` bit
   * (`EACCES`).
   *
   * @param mode bits of `fs.constants`. Default `F_OK`
   */
  access(path: string, mode?: number): Promise<void>;

  /**
   * Removes a file, a link, an empty directory, or with `recursive` a tree. Links are removed, not
   * followed.
   *
   * Rejects with `ENOTEMPTY` for a directory with entries, `EPERM` for the root.
   */
  rm(path: string, options?: RmOptions | null): Promise<void>;

  /**
   * Moves a file, link or directory, and replaces what has the new name: a file or link by a file
   * or link, an empty directory by a directory. What moves keeps inode, mode and `mtime`. Of two
   * names of the same file, nothing happens.
   *
   * Rejects with `EISDIR`, `ENOTDIR`, `ENOTEMPTY`, and `EINVAL` for a directory into itself and
   * for the root.
   */
  rename(oldPath: string, newPath: string): Promise<void>;

  /**
   * Makes a symbolic link. The target is kept as it is and may lead to nothing. `EEXIST` if
   * something is there, `ENOENT` for an empty target.
   */
  symlink(target: string, path: string): Promise<void>;

  /** The target of a symbolic link. `EINVAL` for anything else. */
  readlink(path: string): Promise<string>;

  /**
   * Gives a file, or a link itself, one more name. `EPERM` for a directory, `EEXIST` if something
   * has the new name.
   */
  link(existingPath: string, newPath: string): Promise<void>;

  /** The path without links. */
  realpath(path: string): Promise<string>;

  /** Sets the permission bits; type bits are cut off. They are kept, not enforced. */
  chmod(path: string, mode: number): Promise<void>;

  /**
   * Sets access and modification time. As in Node, a number or numeric string is in seconds since
   * the epoch.
   */
  utimes(path: string, atime: number | string | Date, mtime: number | string | Date): Promise<void>;

  /**
   * Cuts a file to `length` bytes or fills it up with zeros. `EISDIR`, `EFBIG` over 1 TiB.
   *
   * @param length Default 0
   */
  truncate(path: string, length?: number): Promise<void>;

  /**
   * Copies contents and mode of a file. The contents are shared, so it costs the same whatever the
   * size. An existing destination keeps its inode.
   *
   * Rejects with `EISDIR` for a directory at either end, `EEXIST` with `exclusive`.
   */
  copyFile(source: string, destination: string, options?: CopyFileOptions | null): Promise<void>;

  /**
   * Copies a file, a link or, with `recursive`, a tree, in one step: all or nothing. Makes the
   * directories above the destination, and merges with those that exist. Links are copied with
   * their target as it is written.
   *
   * Rejects with `EISDIR` for a directory without `recursive` and for a file onto a directory,
   * `ENOTDIR` for a directory onto a file, `EINVAL` for something onto itself or a directory into
   * itself, `EEXIST` with `errorOnExist`.
   */
  cp(source: string, destination: string, options?: CpOptions | null): Promise<void>;

  /** Use of the whole workspace. The path must exist. */
  statfs(path?: string): Promise<WorkspaceUsage>;

  /**
   * What is below a directory, depth first, names in byte order. Links are found, not followed.
   * Rejects with `ENOTDIR` for a file.
   *
   * @param pattern a glob, compared with the whole path relative to `directory`. `*` is any run of
   * characters without `/`; `**` followed by `/` is nothing or any text that ends in `/`; `**`
   * elsewhere is any run; `?` is one character but `/`; `{a,b}` is one of several. Everything else
   * stands for itself. Default: everything
   */
  find(directory: string, pattern?: string | null, options?: FindOptions | null): Promise<WorkspaceFindEntry[]>;

  /**
   * Every file at or below a path, sorted by path. Links are neither listed nor followed. A path
   * that leads nowhere has none.
   */
  ls(prefix: string): Promise<string[]>;

  /**
   * Lines that match, in a file or in all files below a directory, in the order of `find`. Links
   * are not followed, except the path itself. Files that are no text are skipped and counted.
   *
   * Rejects with `EINVAL` for a regular expression that cannot be used, naming the part; for a
   * pattern over 4 KiB or with a line break.
   */
  grep(pattern: string, path: string, options?: GrepOptions | null): Promise<WorkspaceGrepResult>;

  /**
   * What happens at a path and directly below it, in any process, in the order of commits. The
   * path must exist. The watch begins when this is called; it ends when the loop is left or the
   * signal fires. Errors come out of the iteration.
   *
   * A removed or moved directory makes one event, at its own path; `mkdir` with `recursive` and
   * `cp` make one for each thing that they make. The watch is of the path: it goes on when that is
   * removed and made again.
   *
   * Fails with `ESTALE` if `since` is older than the last 20,000 changes. Not in transactions.
   */
  watch(path: string, options?: WatchOptions | null): AsyncIterableIterator<WorkspaceEvent>;
}

/** How UTF-8 may be spelled. */
export type Utf8Name = "utf8" | "utf-8" | "UTF8" | "UTF-8";

/** One call of a tool, as `audit` keeps it. */
export interface AuditRecord {
  /** Number of the record; larger is later. */
  id: number;
  /** Milliseconds since the epoch. */
  at: number;
  tool: string;
  /** `auditTag` of the set of tools; absent if it has none. */
  tag?: string;
  /** SHA-256, in hex, of the arguments as JSON with sorted keys. */
  argumentsHash: string;
  /** Real paths that the call was about. */
  paths: string[];
  /** Size of the file before; absent if there was none or it does not apply. */
  bytesBefore?: number;
  /** Size of the file after. */
  bytesAfter?: number;
  status: "ok" | "error";
  /** Of an error. */
  code?: string;
  /** Milliseconds. */
  duration: number;
}

/** Which records `audit.query` gives. All that is named must hold. */
export interface AuditQuery {
  tool?: string;
  tag?: string;
  status?: "ok" | "error";
  /** A path that a call was about, or a directory above it. */
  path?: string;
  /** Milliseconds since the epoch, inclusive. */
  since?: number;
  /** Milliseconds since the epoch, exclusive. */
  until?: number;
  /** Records after this `id`: how to page. */
  after?: number;
  /** @defaultValue 1000, at most 10000 */
  limit?: number;
}

/** The record of tool calls. */
export interface WorkspaceAudit {
  /** Records in the order of the calls. */
  query(query?: AuditQuery): Promise<AuditRecord[]>;
}
