/* Written by `npm run build` from the #[napi] items of src/binding. Do not edit. */
/* eslint-disable */

/** What index.js exports: the native binding. At run time the items below are its properties; only their types can be imported by name. */
declare const binding: typeof import('./index.js')
export default binding

/** What `stat` says: name, type (1 file, 2 directory, 3 symbolic link), inode, mode, nlink, size, mtime, ctime, atime, birthtime. */
export type NativeStat = [string, number, number, number, number, number, number, number, number, number]

/** The bytes of a file, as they were when it was opened. */
export declare class NativeDownload {
  /** All bytes, if they are at hand; then the download is over. */
  take(): Uint8Array | null
  /** The next piece, or null at the end. */
  next(): Promise<Uint8Array | null>
  /** Lets go of what the download holds. */
  cancel(): void
}

/** A call of `exec`, told what its run does. */
export declare class NativeExecution {
  /** What is to be run: JSON of `{ source, options }`. */
  request(): string
  /** The run has begun. */
  begun(run: string): void
  /** The run has printed to stdout (0) or stderr (1). */
  print(stream: number, bytes: Uint8Array): void
  /** What there is to see now, as JSON. */
  snapshot(): string
  /** Ends the call with JSON of `{ code, reason?, truncated? }`, and what the run gave as JSON. */
  finish(exitJson: string, resultJson?: string | undefined | null): Promise<NativeOutcome>
  /** Ends the call of a run that did not begin, because of an error. */
  fail(name: string, code: string | undefined | null, message: string): Promise<NativeOutcome>
}

/** The files of a workspace, or of an open transaction. */
export declare class NativeFiles {
  /** Writes a file from content in one piece. */
  writeFile(path: unknown, contentValue: unknown, options: unknown, now?: number | undefined | null): void | Promise<void>
  /** Adds content in one piece to the end of a file. */
  appendFile(path: unknown, contentValue: unknown, options: unknown, now?: number | undefined | null): void | Promise<void>
  /** Begins a write or append of content that comes in pieces. The target is checked first. */
  upload(path: unknown, options: unknown, isAppend: boolean, isAtHand: boolean): NativeUpload | Promise<NativeUpload>
  /** `mkdir`: the first directory made, if the call was recursive. */
  mkdir(path: unknown, options: unknown, now?: number | undefined | null): string | null | Promise<string | null>
  /** `rm`. */
  rm(path: unknown, options: unknown, now?: number | undefined | null): void | Promise<void>
  /** `rename`. */
  rename(from: unknown, to: unknown, now?: number | undefined | null): void | Promise<void>
  /** `symlink`. */
  symlink(target: unknown, path: unknown, now?: number | undefined | null): void | Promise<void>
  /** `link`. */
  link(existing: unknown, path: unknown, now?: number | undefined | null): void | Promise<void>
  /** `chmod`. */
  chmod(path: unknown, mode: unknown, now?: number | undefined | null): void | Promise<void>
  /** `utimes`, with both times in milliseconds since the epoch. */
  utimes(path: unknown, atime: unknown, mtime: unknown, now?: number | undefined | null): void | Promise<void>
  /** `truncate`. */
  truncate(path: unknown, length: unknown, now?: number | undefined | null): void | Promise<void>
  /** `copyFile`. */
  copyFile(from: unknown, to: unknown, options: unknown, now?: number | undefined | null): void | Promise<void>
  /** The paths that `cp` with these options would copy, a directory before its contents. */
  cpSources(from: unknown, to: unknown, options: unknown): Promise<string[]>
  /** `cp`. `skipped` are the source paths that the caller's filter refused. */
  cp(from: unknown, to: unknown, options: unknown, skipped: Array<string>, now?: number | undefined | null): void | Promise<void>
  /** Whether these options of `readFile` ask for text. Checks them. */
  wantsText(options: unknown): boolean
  /** A path in its canonical form. */
  canonical(path: unknown): string
  /** `readFile` as text. */
  readText(path: unknown, options: unknown): string | Promise<string>
  /** `readFile` as bytes: all of them, if they are few, or a download to take pieces from. */
  download(path: unknown, options: unknown): NativeDownload | Promise<NativeDownload>
  /** `readdir`. */
  readdir(path: unknown, options: unknown): NativeListing | Promise<NativeListing>
  /** `stat`, or `lstat`. */
  stat(path: unknown, followsLinks: boolean): NativeStat | Promise<NativeStat>
  /** `exists`. */
  exists(path: unknown): boolean | Promise<boolean>
  /** `access`, with the bits of `fs.constants`. */
  access(path: unknown, mode: unknown): void | Promise<void>
  /** `readlink`. */
  readlink(path: unknown): string | Promise<string>
  /** `realpath`. */
  realpath(path: unknown): string | Promise<string>
  /** `statfs`. */
  statfs(path: unknown): Promise<NativeUsage>
  /**
   * `find`. The types, one character each (`f`, `d`, `l`), and after a NUL the paths, joined
   * by NUL.
   */
  find(directory: unknown, pattern: unknown, options: unknown): Promise<string>
  /** `ls`: the paths, joined by NUL; none is an empty string. */
  ls(prefix: unknown): Promise<string>
  /** `grep`: JSON, as bytes, of `{ matches, truncated, filesSearched, skipped }`. */
  grep(pattern: unknown, path: unknown, options: unknown): Promise<Uint8Array>
  /** `watch`. */
  watch(path: unknown, options: unknown): Promise<NativeWatch>
}

/** Runs of one backend in one workspace. */
export declare class NativeRuntime {
  /** Starts a run; its id, once its modules are loaded. */
  exec(requestJson: string, source: string, stdin?: Uint8Array | undefined | null): Promise<string>
  /** Answers what the callback was called with. What nobody waits for any more is dropped. */
  answer(run: string, call: number, isOk: boolean, bytes?: Uint8Array | undefined | null, json?: string | undefined | null): void
  /** The events after one, at least one; none when the exit has been handed out. */
  next(run: string, afterSeq: number): Promise<NativeRunEvent[]>
  /** The number of the last event so far. */
  lastSeq(run: string): Promise<number>
  /** The result as JSON, when the run is over. */
  result(run: string, outputJson?: string | undefined | null): Promise<string>
  /** Whether there is such a run. */
  has(run: string): Promise<boolean>
  /** Ends a run; resolves when it has ended. */
  kill(run: string): Promise<void>
  /** Forgets a run that is over. */
  dispose(run: string): Promise<void>
  /** Settles what processes that have ended left. */
  recover(): Promise<void>
  /** What runs now, as JSON. */
  stats(): Promise<string>
  /** Makes processes ready for the runs that come. */
  prewarm(): Promise<void>
  /** Ends all runs; resolves when no process of theirs is left. */
  close(): Promise<void>
}

/** A set of tools. */
export declare class NativeTools {
  /** What a model is told of the tools: a JSON array. */
  definitions(): string
  /** Whether a tool changes nothing. */
  isReadOnly(name: string): boolean
  /** Checks arguments as JSON, or none if they cannot be: JSON of `{ value }` or `{ issues }`. */
  validate(name: string, json?: string | undefined | null): string
  /** Where a path really leads, and the version of a file: JSON of `{ path, version? }`. */
  locate(path: string): Promise<string>
  /** Calls a tool with arguments as JSON, or none if they cannot be. */
  call(name: string, json?: string | undefined | null, now?: number | undefined | null): Promise<NativeOutcome>
  /** What a model is told of `exec`, with what the backends say of themselves: a JSON object by their ids. */
  describeExec(textsJson: string): string
  /** Begins a call of `exec`; null if its arguments are wrong, or there is no such tool, which `call` tells. */
  beginExec(json?: string | undefined | null, now?: number | undefined | null): NativeExecution | null
}

/** An open transaction. Dropped without an end, it is rolled back. */
export declare class NativeTransaction {
  /** The files as the transaction sees and changes them. */
  files(): NativeFiles
  /** Ends it: all or nothing becomes visible. */
  end(isCommit: boolean): Promise<void>
}

/** Content on its way into a file. */
export declare class NativeUpload {
  /** Takes more bytes, copied. A promise asks the caller to wait before it brings more. */
  push(bytes: Uint8Array): void | Promise<void>
  /** Makes the bytes the file's. */
  commit(now?: number | undefined | null): Promise<void>
  /** Forgets the bytes. */
  abort(): void
}

/** Events of a path. */
export declare class NativeWatch {
  /** The next events, at least one; none when the watch has ended. */
  next(): Promise<NativeEvent[]>
  /** Ends the watch. */
  cancel(): void
}

/** An open workspace. */
export declare class NativeWorkspace {
  /** Connects a backend. */
  runtime(configJson: string, upcall: (json: string, bytes: Uint8Array | null) => void): NativeRuntime
  /** A set of tools over the workspace, which has these backends: a JSON array of `{ id, callable }`. */
  tools(options: unknown, backendsJson: string): NativeTools
  /** Calls of tools: a JSON array. */
  audit(query: unknown): Promise<string>
  /** Opens a workspace, and makes it if there is none. */
  constructor(options: unknown)
  /** Its files. */
  files(): NativeFiles
  /** Begins a transaction when its turn comes. */
  begin(): Promise<NativeTransaction>
  /** Checks the database and every rule of its format. */
  check(): Promise<NativeReport>
  /** Gives unused space back; the bytes freed. */
  compact(): Promise<number>
  /** Ends the use of the workspace, after the calls under way. */
  close(): Promise<void>
}

/** Something that happened. */
export interface NativeEvent {
  type: string
  path: string
  from?: string
  cursor: string
}

/**
 * A listing, by column: one object an entry would be made on the JavaScript thread, through
 * N-API, at ten times the cost. Names are joined by `/`, which none contains, parents by NUL.
 */
export interface NativeListing {
  parents: string
  names: string
  /** For each entry its type (1 file, 2 directory, 3 link), size and mtime. */
  numbers: Float64Array
}

/** What came of a call. */
export interface NativeOutcome {
  json: string
  media?: Uint8Array
}

/** One broken rule. */
export interface NativeProblem {
  rule: string
  detail: string
  path?: string
}

/** What `check` found. */
export interface NativeReport {
  ok: boolean
  problems: Array<NativeProblem>
  files: number
  bytes: number
}

/** Something that happened in a run. */
export interface NativeRunEvent {
  seq: number
  name: string
  /** Of output. */
  bytes?: Uint8Array
  /** Of the exit. */
  json?: string
}

/** Use of the workspace, in bytes and pieces. */
export interface NativeUsage {
  files: number
  directories: number
  bytes: number
  storedBytes: number
  databaseBytes: number
  walBytes: number
  quotaBytes?: number
}

/** Most bytes that `writeFile` and `appendFile` take in one piece; more goes through an upload. */
export declare const PIECE_BYTES_MAX: number

/** Fails for options that a backend cannot have. */
export declare function validateRuntimeConfig(configJson: string): void
