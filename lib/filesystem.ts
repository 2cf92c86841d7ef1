// `workspace.fs` over the binding: translates shapes, decides nothing.

import type { NativeFiles, NativeListing, NativeStat, NativeUpload } from "../index.js";
import { call } from "./call.js";
import { type FileContent, prepare, type Source } from "./content.js";
import { readableFrom } from "./download.js";
import { argumentTypeError } from "./errors.js";
import type {
  AppendFileOptions,
  CopyFileOptions,
  CpOptions,
  FindOptions,
  GrepOptions,
  MkdirOptions,
  ReaddirOptions,
  ReadFileOptions,
  RmOptions,
  WatchOptions,
  WorkspaceDirent,
  WorkspaceEvent,
  WorkspaceFilesystem,
  WorkspaceFindEntry,
  WorkspaceGrepMatch,
  WorkspaceGrepResult,
  WorkspaceStat,
  WorkspaceUsage,
  WriteFileOptions,
} from "./types.js";
import { watchEvents } from "./watch.js";

const FILE = 1;
const DIRECTORY = 2;
const LINK = 3;
const FOUND_TYPES = { f: "file", d: "dir", l: "symlink" } as const;

/** What a workspace gives its files besides the native ones. */
export interface Surroundings {
  /** The host's clock. */
  now?: (() => number) | undefined;
  /** Asked before each change. */
  guard?: () => void;
  /** Fires when the workspace begins to close. */
  closing?: AbortSignal;
}

/** The files behind `native`. */
export class Filesystem implements WorkspaceFilesystem {
  readonly #native: NativeFiles;
  readonly #around: Surroundings;

  constructor(native: NativeFiles, around: Surroundings) {
    this.#native = native;
    this.#around = around;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads are in the interface
  async readFile(path: string, options?: string | ReadFileOptions | null): Promise<any> {
    if (typeof options === "string") return await call(() => this.#native.readText(path, options));
    if (options && (await call(() => this.#native.wantsText(options)))) {
      return await call(() => this.#native.readText(path, options));
    }
    return readableFrom(await call(() => this.#native.download(path, options)));
  }

  async writeFile(path: string, content: FileContent, options?: WriteFileOptions | null): Promise<void> {
    return await this.#put(path, content, options, false);
  }

  async appendFile(path: string, content: FileContent, options?: AppendFileOptions | null): Promise<void> {
    return await this.#put(path, content, options, true);
  }

  async mkdir(path: string, options?: MkdirOptions | null): Promise<string | undefined> {
    return (await this.#change((now) => this.#native.mkdir(path, options, now))) ?? undefined;
  }

  async readdir(path: string, options?: ReaddirOptions | null): Promise<WorkspaceDirent[]> {
    return direntsOf(await call(() => this.#native.readdir(path, options)));
  }

  async stat(path: string): Promise<WorkspaceStat> {
    return statOf(await call(() => this.#native.stat(path, true)));
  }

  async lstat(path: string): Promise<WorkspaceStat> {
    return statOf(await call(() => this.#native.stat(path, false)));
  }

  async exists(path: string): Promise<boolean> {
    return await call(() => this.#native.exists(path));
  }

  async access(path: string, mode?: number): Promise<void> {
    return await call(() => this.#native.access(path, mode));
  }

  async rm(path: string, options?: RmOptions | null): Promise<void> {
    return await this.#change((now) => this.#native.rm(path, options, now));
  }

  async rename(oldPath: string, newPath: string): Promise<void> {
    return await this.#change((now) => this.#native.rename(oldPath, newPath, now));
  }

  async symlink(target: string, path: string): Promise<void> {
    return await this.#change((now) => this.#native.symlink(target, path, now));
  }

  async readlink(path: string): Promise<string> {
    return await call(() => this.#native.readlink(path));
  }

  async link(existingPath: string, newPath: string): Promise<void> {
    return await this.#change((now) => this.#native.link(existingPath, newPath, now));
  }

  async realpath(path: string): Promise<string> {
    return await call(() => this.#native.realpath(path));
  }

  async chmod(path: string, mode: number): Promise<void> {
    return await this.#change((now) => this.#native.chmod(path, mode, now));
  }

  async utimes(path: string, atime: number | string | Date, mtime: number | string | Date): Promise<void> {
    return await this.#change((now) =>
      this.#native.utimes(path, milliseconds("atime", atime), milliseconds("mtime", mtime), now),
    );
  }

  async truncate(path: string, length?: number): Promise<void> {
    return await this.#change((now) => this.#native.truncate(path, length, now));
  }

  async copyFile(source: string, destination: string, options?: CopyFileOptions | null): Promise<void> {
    return await this.#change((now) => this.#native.copyFile(source, destination, options, now));
  }

  async cp(source: string, destination: string, options?: CpOptions | null): Promise<void> {
    const filter = options?.filter ?? undefined;
    if (filter !== undefined && typeof filter !== "function") {
      throw argumentTypeError("filter must be a function");
    }
    const skipped = filter ? await this.#refused(source, destination, options as CpOptions, filter) : [];
    return await this.#change((now) => this.#native.cp(source, destination, options, skipped, now));
  }

  async statfs(path?: string): Promise<WorkspaceUsage> {
    const { quotaBytes, ...usage } = await call(() => this.#native.statfs(path));
    return quotaBytes == null ? usage : { ...usage, quotaBytes };
  }

  async find(directory: string, pattern?: string | null, options?: FindOptions | null): Promise<WorkspaceFindEntry[]> {
    const [types = "", ...paths] = (await call(() => this.#native.find(directory, pattern, options))).split("\0");
    return paths.map((path, index) => ({ path, type: FOUND_TYPES[types[index] as keyof typeof FOUND_TYPES] }));
  }

  async ls(prefix: string): Promise<string[]> {
    const paths = await call(() => this.#native.ls(prefix));
    return paths === "" ? [] : paths.split("\0");
  }

  async grep(pattern: string, path: string, options?: GrepOptions | null): Promise<WorkspaceGrepResult> {
    const json = await call(() => this.#native.grep(pattern, path, options));
    const { matches, ...about } = JSON.parse(new TextDecoder().decode(json)) as {
      matches: WorkspaceGrepMatch[];
    } & Omit<WorkspaceGrepResult, keyof WorkspaceGrepMatch[]>;
    return Object.assign(matches, about);
  }

  watch(path: string, options?: WatchOptions | null): AsyncIterableIterator<WorkspaceEvent> {
    return watchEvents(this.#native, path, options);
  }

  /** A change, with the time and once it is allowed. */
  async #change<T>(work: (now: number | undefined) => T | Promise<T>): Promise<T> {
    this.#around.guard?.();
    return await call(() => work(this.#timestamp()));
  }

  #timestamp(): number | undefined {
    const { now } = this.#around;
    if (!now) return undefined;
    const time: unknown = now();
    if (typeof time !== "number") throw argumentTypeError(`now() must return a number; it returned a ${typeof time}`);
    return time;
  }

  async #put(
    path: string,
    content: FileContent,
    options: WriteFileOptions | null | undefined,
    isAppend: boolean,
  ): Promise<void> {
    // Nothing is awaited before the native call, so that a close() right after it waits for this.
    let prepared: ReturnType<typeof prepare>;
    try {
      prepared = prepare(content);
    } catch (error) {
      return await call(() => {
        throw error;
      });
    }
    if (typeof prepared === "string" || prepared instanceof Uint8Array) {
      signalOf(options)?.throwIfAborted();
      return await this.#change((now) =>
        isAppend
          ? this.#native.appendFile(path, prepared, options, now)
          : this.#native.writeFile(path, prepared, options, now),
      );
    }
    return await this.#upload(prepared, options, async () => {
      this.#around.guard?.();
      return call(() => this.#native.upload(path, options, isAppend, prepared.isAtHand));
    });
  }

  /** Pumps a source into an upload. On any failure the source is let go and nothing has changed. */
  async #upload(
    source: Source,
    options: { signal?: AbortSignal } | null | undefined,
    open: () => Promise<NativeUpload>,
  ): Promise<void> {
    let upload: NativeUpload | undefined;
    try {
      const signal = signalOf(options);
      signal?.throwIfAborted();
      // close() waits for what is at hand, and for nothing that may never come.
      const ends = [signal, source.isAtHand ? undefined : this.#around.closing];
      const target = await open();
      upload = target;
      for (;;) {
        const piece = await unlessAborted(source.next(), ends);
        if (!piece) break;
        const pushed = call(() => target.push(piece));
        if (pushed) await unlessAborted(pushed, ends);
      }
      signal?.throwIfAborted();
      await source.release();
    } catch (error) {
      upload?.abort();
      // Not waited for: a source that hangs may hang in this too.
      source.release(error ?? new Error("the write failed")).catch(() => {});
      throw error;
    }
    const committing = upload;
    try {
      await this.#change((now) => committing.commit(now));
    } catch (error) {
      // The clock may have failed.
      committing.abort();
      throw error;
    }
  }

  /** The source paths of `cp` that the filter refuses, asked from the top down. */
  async #refused(
    source: string,
    destination: string,
    options: CpOptions,
    filter: NonNullable<CpOptions["filter"]>,
  ): Promise<string[]> {
    const [paths, to] = await call(async () => [
      await this.#native.cpSources(source, destination, options),
      this.#native.canonical(destination),
    ]);
    const from = paths[0] as string;
    const refused: string[] = [];
    for (const path of paths) {
      if (refused.some((above) => path.startsWith(`${above}/`))) continue;
      const isWanted = Promise.resolve(filter(path, to + path.slice(from.length)));
      if (!(await unlessAborted(isWanted, [this.#around.closing]))) refused.push(path);
    }
    return refused;
  }
}

function statOf([name, type, inode, mode, nlink, size, mtime, ctime, atime, birthtime]: NativeStat): WorkspaceStat {
  return {
    name,
    inode,
    mode,
    nlink,
    size,
    mtime,
    ctime,
    atime,
    birthtime,
    isFile: type === FILE,
    isDirectory: type === DIRECTORY,
    isSymbolicLink: type === LINK,
  };
}

function direntsOf({ parents, names, numbers }: NativeListing): WorkspaceDirent[] {
  if (numbers.length === 0) return [];
  const parentPaths = parents.split("\0");
  return names.split("/").map((name, index) => {
    const type = numbers[3 * index];
    return {
      name,
      parentPath: (parentPaths[index] ?? parentPaths[0]) as string,
      size: numbers[3 * index + 1] as number,
      mtime: numbers[3 * index + 2] as number,
      isFile: type === FILE,
      isDirectory: type === DIRECTORY,
      isSymbolicLink: type === LINK,
    };
  });
}

/** A time as `utimes` of Node takes it, in milliseconds. */
function milliseconds(name: string, time: unknown): number {
  if (Object.prototype.toString.call(time) === "[object Date]") return (time as Date).getTime();
  if (typeof time === "string" && time.trim() !== "" && Number.isFinite(Number(time))) return Number(time) * 1000;
  if (typeof time === "number") return time * 1000;
  throw argumentTypeError(`${name} must be a Date, a number of seconds or such a number as a string`);
}

function signalOf(options: { signal?: AbortSignal } | null | undefined): AbortSignal | undefined {
  const signal = options?.signal ?? undefined;
  if (signal !== undefined && typeof signal.throwIfAborted !== "function") {
    throw argumentTypeError("signal must be an AbortSignal");
  }
  return signal;
}

/** The promise's outcome, or the reason of the first signal if that comes first. */
async function unlessAborted<T>(promise: Promise<T>, ends: (AbortSignal | undefined)[]): Promise<T> {
  const signals = ends.filter((signal) => signal !== undefined);
  if (signals.length === 0) return promise;
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
    }
  });
  // The one that loses may still reject.
  promise.catch(() => {});
  aborted.catch(() => {});
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    done.abort();
  }
}
