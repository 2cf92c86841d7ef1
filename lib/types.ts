// The shapes of `workspace.fs`.

import type { FileContent } from "./content.js";

/** How a workspace is stored and opened. */
export interface WorkspaceOptions {
  /**
   * Where: a path to a database file, `":memory:"`, or an object.
   *
   * The file and missing parent directories are created. SQLite keeps two more files, `-wal` and
   * `-shm`, beside it while it is open.
   */
  storage: string | StorageOptions;
  /**
   * The clock, in milliseconds since the epoch; called once for each change.
   * @defaultValue the system's clock
   */
  now?: () => number;
  /**
   * Bytes of file contents that the workspace may hold. A write beyond it is refused with
   * `ENOSPC`; nothing is written.
   * @defaultValue no limit
   */
  quotaBytes?: number;
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
  /** The directory, as it was asked for. */
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
  /** `"utf8"` or `"utf-8"`, in any case, for text; none for a stream of bytes. */
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
  /** Stops the write; the promise rejects with the signal's reason and the file is as before. */
  signal?: AbortSignal;
}

/** Options of `appendFile`. */
export interface AppendFileOptions {
  /**
   * Permission bits of a file that is not there yet.
   * @defaultValue 0o644
   */
  mode?: number;
  /** Stops the write; the promise rejects with the signal's reason and the file is as before. */
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

/** A page of a result. */
export interface PageOptions {
  /** @defaultValue all */
  limit?: number;
  /** @defaultValue 0 */
  offset?: number;
}

/** Options of `readdir`. */
export interface ReaddirOptions extends PageOptions {
  /**
   * Also what is in the directories, each right after its own entry.
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
   * A path that leads nowhere is no error.
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
  /** Whether to copy this; of a directory `false` leaves out all below it. */
  filter?: (source: string, destination: string) => boolean | Promise<boolean>;
}

/** Options of `find`. */
export interface FindOptions extends PageOptions {
  /** Globs of what to leave out. A directory that one matches is not entered. */
  exclude?: string | string[];
}

/** Something that `find` found. */
export interface WorkspaceFindEntry {
  /** Begins with the directory as it was asked for. */
  path: string;
  type: "file" | "dir" | "symlink";
}

/** Options of `grep`. */
export interface GrepOptions extends PageOptions {
  /**
   * The pattern is a regular expression, in the syntax of the Rust crate `regex`: no look-around,
   * no back-references.
   * @defaultValue `false`: it is literal text
   */
  regex?: boolean;
  /** @defaultValue `false` */
  ignoreCase?: boolean;
  /**
   * Lines to show before and after each match.
   * @defaultValue 0
   */
  context?: number;
  /** A glob of the files to search, relative to the directory. */
  include?: string;
  /** Globs of what to leave out. */
  exclude?: string | string[];
}

/** A line that `grep` found. */
export interface WorkspaceGrepMatch {
  path: string;
  /** From 1. */
  line: number;
  /** The line without its end; a very long one is cut around the match. */
  text: string;
  /** Whether `text` was cut. */
  cut?: true;
  /** With `context`: lines around the match, each with the first match that it is near. */
  context?: { line: number; text: string; isMatch: boolean }[];
}

/** What `grep` found, and what it did not look at. */
export type WorkspaceGrepResult = WorkspaceGrepMatch[] & {
  /** There are more matches beyond `limit`. */
  truncated: boolean;
  /** Files whose lines were looked at. */
  filesSearched: number;
  /** Files that were not: no text, gone or damaged, or with a line too long to hold. */
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
  /** The same as stored: equal chunks count once. */
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
   * Also what happens deeper than directly in the directory.
   * @defaultValue `false`
   */
  recursive?: boolean;
  /** Ends the watch: the iteration throws the signal's reason. */
  signal?: AbortSignal;
  /**
   * The `cursor` of an event: go on after it.
   * @defaultValue begin now
   */
  since?: string;
}

/** Something that happened to a path. */
export interface WorkspaceEvent {
  type: "create" | "change" | "delete" | "rename";
  /** The path, links in it followed. Of a directory: and all below it. */
  path: string;
  /** Of a rename: the path before. */
  from?: string;
  /** Where a later `watch` goes on after this event. */
  cursor: string;
}

/** What `check` found. */
export interface WorkspaceReport {
  /** Nothing is wrong. */
  ok: boolean;
  problems: { rule: string; detail: string; path?: string }[];
  /** Files seen. */
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
 * Every method returns a promise and never throws by itself. It rejects with a
 * {@link WorkspaceError}, or for an argument of a wrong type with a `TypeError` whose `code` is
 * `"ERR_INVALID_ARG_TYPE"`. Codes that any may have: `EINVAL` (a path or option with a value that
 * is not allowed), `ENAMETOOLONG`, `ENOENT`, `ENOTDIR`, `ELOOP` (over 40 links), `EROFS` (changes
 * of a read-only workspace), `ENOSPC` (the quota or the disk), `EIO` (the database is damaged or
 * cannot be read), `ECLOSED` (after `close()`).
 */
export interface WorkspaceFilesystem {
  /**
   * The contents of a file as a byte stream, as they are now: what happens to the file later does
   * not change what the stream delivers. Pieces have up to 512 KiB and are the consumer's own.
   *
   * Rejects with `EISDIR` for a directory.
   */
  readFile(path: string, options?: (ByteRange & { encoding?: null | undefined }) | null): Promise<ReadableStream<Uint8Array>>;
  /**
   * The contents of a file as text. Bytes that are not UTF-8 become U+FFFD; a byte order mark
   * stays. `EFBIG` beyond what a string can hold.
   */
  readFile(path: string, options: Utf8Name | (ByteRange & { encoding: Utf8Name })): Promise<string>;
  readFile(path: string, options?: string | ReadFileOptions | null): Promise<string | ReadableStream<Uint8Array>>;

  /**
   * Writes a file: all of it or, on failure, nothing. An existing file keeps its inode and, unless
   * given, its mode; parents are not made.
   *
   * A source of bytes is read one piece at a time while the old file stays as it is. If it fails,
   * delivers something else than bytes, or the signal fires, the promise rejects with that very
   * error and the source is released and cancelled.
   *
   * Rejects with `EISDIR` for a directory, `EEXIST` with `exclusive`, `EFBIG` over 1 TiB.
   */
  writeFile(path: string, content: FileContent, options?: WriteFileOptions | null): Promise<void>;

  /** Adds to the end of a file, which is made if it is not there. Otherwise as `writeFile`. */
  appendFile(path: string, content: FileContent, options?: AppendFileOptions | null): Promise<void>;

  /**
   * Makes a directory. With `recursive`, resolves with the first directory made, if any.
   *
   * Rejects with `EEXIST` if something is there; with `recursive` only if that is no directory.
   */
  mkdir(path: string, options?: MkdirOptions | null): Promise<string | undefined>;

  /** Entries of a directory, by name in the order of their UTF-8 bytes. `ENOTDIR` for a file. */
  readdir(path: string, options?: ReaddirOptions | null): Promise<WorkspaceDirent[]>;

  /** About what the path leads to, links followed. */
  stat(path: string): Promise<WorkspaceStat>;

  /** About the path itself: a link is a link. */
  lstat(path: string): Promise<WorkspaceStat>;

  /** Whether the path leads to something. A broken link does not. */
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
   * or link, an empty directory by a directory. What moves keeps inode, mode and `mtime`.
   *
   * Rejects with `EISDIR`, `ENOTDIR`, `ENOTEMPTY`, and `EINVAL` for a directory into itself and
   * for the root.
   */
  rename(oldPath: string, newPath: string): Promise<void>;

  /** Makes a symbolic link. The target is kept as it is. `EEXIST` if something is there. */
  symlink(target: string, path: string): Promise<void>;

  /** The target of a symbolic link. `EINVAL` for anything else. */
  readlink(path: string): Promise<string>;

  /** Gives a file, or a link itself, one more name. `EPERM` for a directory. */
  link(existingPath: string, newPath: string): Promise<void>;

  /** The path without links. */
  realpath(path: string): Promise<string>;

  /** Sets the permission bits; others are cut off. They are kept, not enforced. */
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
   * size.
   *
   * Rejects with `EISDIR` for a directory, `EEXIST` with `exclusive`.
   */
  copyFile(source: string, destination: string, options?: CopyFileOptions | null): Promise<void>;

  /**
   * Copies a file, a link or, with `recursive`, a tree, in one step: all or nothing. Makes the
   * directories above the destination. Links are copied as they are.
   *
   * Rejects with `EISDIR` for a directory without `recursive` and for a file onto a directory,
   * `ENOTDIR` for a directory onto a file, `EINVAL` for a directory into itself, `EEXIST`.
   */
  cp(source: string, destination: string, options?: CpOptions | null): Promise<void>;

  /** Use of the whole workspace. The path must exist. */
  statfs(path?: string): Promise<WorkspaceUsage>;

  /**
   * Finds below a directory, depth first, names in byte order. Links are found, not followed.
   *
   * @param pattern a glob that must match the whole path relative to `directory`. `*` is any run
   * without `/`, `**` any run, `**` before `/` also nothing, `?` one character, `{a,b}` one of
   * several; everything else stands for itself. Default: everything
   */
  find(directory: string, pattern?: string | null, options?: FindOptions | null): Promise<WorkspaceFindEntry[]>;

  /** Every file at or below a path, sorted by path. A path that leads nowhere has none. */
  ls(prefix: string): Promise<string[]>;

  /**
   * Lines that match, in a file or in all files of a directory, in the order of `find`. Files that
   * are no text are skipped and counted.
   *
   * Rejects with `EINVAL` for a pattern that is no regular expression.
   */
  grep(pattern: string, path: string, options?: GrepOptions | null): Promise<WorkspaceGrepResult>;

  /**
   * What happens at a path and directly below it, in any process, as it is committed. The watch
   * begins when this is called; it ends when the loop is left or the signal fires.
   *
   * One call makes one event, at the topmost path: of a removed or moved directory there is one.
   * Rejects with `ESTALE` if `since` is older than the last 20,000 changes.
   */
  watch(path: string, options?: WatchOptions | null): AsyncIterableIterator<WorkspaceEvent>;
}

/** How UTF-8 may be spelled. */
export type Utf8Name = "utf8" | "utf-8" | "UTF8" | "UTF-8";
