// The shapes of the tools: what a model passes, and what it gets.

import type { WorkspaceRuntimeReason, WorkspaceRuntimeTruncation } from "../runtime/types.js";
import type { PathRule } from "../types.js";
import type { Workspace } from "../workspace.js";
import type { JSONObject, JSONValue } from "./schema.js";

/** The tools, in the order in which a model is shown them. */
export type ToolName = "read" | "ls" | "find" | "grep" | "write" | "edit" | "delete" | "exec";

/** How a set of tools is made. */
export interface ToolSetOptions {
  /** The workspace that they work in. */
  workspace: Workspace;
  /**
   * Offer only what changes nothing: `read`, `ls`, `find` and `grep`.
   * @defaultValue `false`
   */
  readonly?: boolean;
  /**
   * The directory that the tools cannot leave. Relative paths start here, and so do `find` and
   * `grep` without a path. A path is judged by where it really leads: links inside are fine, those
   * that lead out are refused with `EACCES`. It has to exist when a tool is called.
   * @defaultValue none; absolute paths only, and `/workspace` for `find` and `grep`
   */
  root?: string;
  /** What the tools may reach, narrower than the workspace's own rules; globs start at `root`. */
  rules?: PathRule[];
  /**
   * Refuse to `write` over a file that was not read in its present version with these tools. What was
   * read is kept in the workspace, for each `auditTag`, and survives a restart.
   * @defaultValue `false`
   */
  requireReadBeforeOverwrite?: boolean;
  /** How files are read. */
  read?: ReadToolOptions;
  /** How files are written. */
  write?: WriteToolOptions;
  /** How files are edited. */
  edit?: EditToolOptions;
  /**
   * The backends that `exec` may run code in, by their ids, with words for the model on when to take which;
   * `{}`: there is no `exec`. Code reaches what its backend lets it reach: `root` and `rules` of the tools do
   * not bind it.
   * @defaultValue all backends of the workspace; none with `rules`, and never any with `readonly`
   */
  exec?: Record<string, ExecBackendOptions>;
  /** How much output `exec` shows; the whole is in a file. */
  execOutput?: ExecOutputOptions;
  /** Who calls, for `workspace.audit` and for what was read. */
  auditTag?: string;
}

/** How `read` reads. */
export interface ReadToolOptions {
  /** Most lines of one page. @defaultValue 2000 */
  maxLines?: number;
  /** Most bytes of one page. @defaultValue 262144 */
  maxBytes?: number;
  /** Put the line's number and a tab before each line. @defaultValue `true` */
  includeLineNumbers?: boolean;
  /** Cut long lines, to bytes or characters, instead of delivering them in pieces. @defaultValue none */
  lineTruncation?: { bytes: number } | { chars: number };
  /** Largest image or PDF that a model is given, in bytes. @defaultValue 3670016 */
  maxModelBytes?: number;
}

/** How `write` writes. */
export interface WriteToolOptions {
  /** Most bytes of one call. @defaultValue 2097152 */
  maxBytes?: number;
}

/** How `edit` edits. */
export interface EditToolOptions {
  /** Largest file that is edited, in bytes. @defaultValue 2097152 */
  maxBytes?: number;
  /** Changed lines beyond which no diff is made. @defaultValue 2000 */
  maxDiffLines?: number;
  /** Longest diff, in bytes. @defaultValue 131072 */
  maxDiffBytes?: number;
}

/** What a model is told of a backend. */
export interface ExecBackendOptions {
  /** Comes before what the backend says of itself. */
  description?: string;
}

/** How much of stdout and of stderr `exec` shows: the end of it, whole lines. */
export interface ExecOutputOptions {
  /** @defaultValue 2000 */
  maxLines?: number;
  /** @defaultValue 65536 */
  maxBytes?: number;
}

/** Arguments of `read`. */
export interface ReadInput {
  path: string;
  /** First line, from 1. */
  offset?: number;
  /** Where that line begins, from an earlier page's `nextByteOffset`. */
  byteOffset?: number;
  /** Most lines. */
  limit?: number;
  /** An earlier page's `version`: the answer says if the file has changed since. */
  version?: string;
}

/** Arguments of `ls`. */
export interface LsInput {
  path: string;
  /** @defaultValue 200, at most 1000 */
  limit?: number;
  /** @defaultValue 0 */
  offset?: number;
}

/** Arguments of `find`. */
export interface FindInput {
  /** @defaultValue the root of the tools, else `/workspace` */
  path?: string;
  /** A glob; `""` is everything. */
  pattern: string;
  exclude?: string[];
  /** @defaultValue 200, at most 1000 */
  limit?: number;
  /** @defaultValue 0 */
  offset?: number;
}

/** Arguments of `grep`. */
export interface GrepInput {
  /** A file or a directory. @defaultValue the root of the tools, else `/workspace` */
  path?: string;
  query: string;
  include?: string[];
  exclude?: string[];
  /** @defaultValue `false`: the query is plain text */
  regex?: boolean;
  /** @defaultValue `false` */
  ignoreCase?: boolean;
  /** Lines around each match, at most 10. @defaultValue 0 */
  context?: number;
  /** @defaultValue `"content"` */
  outputMode?: "content" | "files" | "count";
  /** @defaultValue 200, at most 1000 */
  limit?: number;
  /** @defaultValue 0 */
  offset?: number;
}

/** Arguments of `write`. */
export interface WriteInput {
  path: string;
  content: string;
  /** Write only over this version of the file. */
  ifUnchanged?: string;
}

/** Arguments of `edit`. */
export interface EditInput {
  path: string;
  edits: { oldText: string; newText: string; replaceAll?: boolean }[];
}

/** Arguments of `delete`. */
export interface DeleteInput {
  path: string;
  recursive?: boolean;
}

/** Arguments of `exec`. */
export interface ExecInput {
  /** The source of a module. */
  command: string;
  /** Has to be there if the tools have several. */
  backend?: string;
  /** @defaultValue the backend's root */
  cwd?: string;
  /** Argument of the module's default function. @defaultValue null */
  input?: JSONObject;
  /** `process.env` of the run. */
  env?: Record<string, string>;
  /** @defaultValue `"javascript"` */
  language?: "javascript" | "typescript";
  /** @defaultValue the backend's `defaultTimeoutMs` */
  timeoutMs?: number;
}

/** The arguments of each tool. */
export interface ToolInputs {
  read: ReadInput;
  ls: LsInput;
  find: FindInput;
  grep: GrepInput;
  write: WriteInput;
  edit: EditInput;
  delete: DeleteInput;
  exec: ExecInput;
}

/** A call that failed. */
export interface ToolFailure {
  /** For a model: what is wrong, and what to do next. */
  error: string;
  /** `"ENOENT"`, `"EINVAL"`, `"EACCES"`, `"ENOMATCH"`, … */
  code: string;
  /** Paths that may have been meant. */
  candidates?: string[];
  /** The text that is most like what an edit looked for. */
  nearest?: { startLine: number; endLine: number; text: string; difference: string };
  /** Lines where an edit found its text, if that was more than one. */
  lines?: number[];
  /** Of a conflict: the version of the file now. */
  version?: string;
  /** Of code that was not run: what it was, */
  command?: string;
  /** where it should have run, */
  cwd?: string | null;
  /** and the backend. */
  backend?: string;
}

/** What `read` gives for text. */
export interface ReadTextOutput {
  path: string;
  content: string;
  startLine: number;
  endLine: number;
  /** Null where counting would be much work. */
  totalLines: number | null;
  /** Whether there is more; `nextOffset` and `nextByteOffset` say where. */
  truncated: boolean;
  /** The line to read on with; the last one of this page, if that goes on. */
  nextOffset?: number;
  /** The byte to read on with. */
  nextByteOffset?: number;
  /** Of the whole file. The same bytes have the same version. */
  version: string;
  /** If it is not UTF-8. */
  encoding?: string;
  bom?: true;
  /** The page begins or ends inside a line. */
  partialLine?: true;
  /** The file ends here, without a line break after its last line. */
  finalNewline?: false;
  /** The file is not the version that was passed. */
  changed?: true;
}

/** What `read` gives for anything else. */
export interface ReadMediaOutput {
  path: string;
  kind: "image" | "file" | "binary";
  name: string;
  mediaType: string;
  sizeBytes: number;
  version?: string;
  /** Of a kind that no model is given. */
  unsupported?: true;
  /** What a binary file is, and how it begins. */
  description?: string;
  firstBytes?: string;
}

/** What `ls` gives. */
export interface LsOutput {
  path: string;
  count: number;
  entries: {
    name: string;
    size: number;
    mtime: number;
    isFile: boolean;
    isDirectory: boolean;
    isSymbolicLink: boolean;
  }[];
  truncated: boolean;
  nextOffset?: number;
}

/** What `find` gives. */
export interface FindOutput {
  path: string;
  pattern: string;
  count: number;
  entries: { path: string; type: "file" | "dir" | "symlink" }[];
  truncated: boolean;
  nextOffset?: number;
  /** How to find more, if nothing was found. */
  note?: string;
}

/** What `grep` gives. */
export interface GrepOutput {
  path: string;
  query: string;
  count: number;
  /** With `outputMode: "content"`. */
  matches?: {
    path: string;
    line: number;
    text: string;
    cut?: true;
    context?: { line: number; text: string; isMatch: boolean }[];
  }[];
  /** With `"files"`. */
  files?: string[];
  /** With `"count"`. */
  counts?: { path: string; count: number }[];
  truncated: boolean;
  nextOffset?: number;
  filesSearched: number;
  skipped: { binary: number; unreadable: number; tooLong: number };
  /** How to find more, if no file was searched. */
  note?: string;
}

/** What `write` gives. */
export interface WriteOutput {
  path: string;
  bytesWritten: number;
  existed: boolean;
  sizeBefore?: number;
  version: string;
}

/** What `edit` gives. */
export interface EditOutput {
  path: string;
  editsApplied: number;
  diff: string;
  patch: string;
  firstChangedLine?: number;
  diffTruncated?: true;
  /** Whether the file has other contents now. */
  changed: boolean;
  /** What else there is to know, such as that there was nothing to change. */
  note?: string;
  matches: {
    edit: number;
    startLine: number;
    endLine: number;
    rule: "exact" | "line-endings" | "loose" | "indentation";
    count: number;
  }[];
  sizeBefore: number;
  sizeAfter: number;
  version: string;
}

/** What `delete` gives. */
export interface DeleteOutput {
  deleted: string;
  existed: boolean;
}

/** What `exec` gives. Code that fails is no failure of the tool. */
export interface ExecOutput {
  /** The run, for `workspace.runtime`. */
  id?: string;
  command: string;
  cwd: string | null;
  backend: string;
  /** Null as long as the run goes on; 0 for success. */
  exitCode: number | null;
  /** Why it did not succeed. */
  reason?: WorkspaceRuntimeReason;
  /** The end of it if it is long, then with a note below that says where the whole is. */
  stdout: string;
  stderr: string;
  /** What the code returned, `null` for nothing; absent if it did not succeed, or if it is too large. */
  result?: JSONValue;
  /** What there is to know of a result that is too large. */
  note?: string;
  /** Of which streams the end only is there. */
  truncated?: WorkspaceRuntimeTruncation;
}

/** What each tool gives if it does not fail. */
export interface ToolOutputs {
  read: ReadTextOutput | ReadMediaOutput;
  ls: LsOutput;
  find: FindOutput;
  grep: GrepOutput;
  write: WriteOutput;
  edit: EditOutput;
  delete: DeleteOutput;
  exec: ExecOutput;
}

/** An image or a document for a model. */
export interface ToolMedia {
  kind: "image" | "file";
  mediaType: string;
  name: string;
  data: Uint8Array;
}

/** What came of a call. */
export interface ToolOutcome<Output = ToolOutputs[ToolName]> {
  /** Plain JSON. */
  output: Output | ToolFailure;
  /** Whether `output` is a {@link ToolFailure}. */
  isError: boolean;
  /** The same for a model that is given text: a whole file as it is, a failure in sentences, else JSON. */
  text: string;
  /** The bytes of an image or PDF that was read. */
  media?: ToolMedia;
}
