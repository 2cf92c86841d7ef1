/**
 * The tools for OpenCode: a plugin for version 1, a transform for version 2.
 *
 * `@opencode-ai/plugin` is imported when a plugin of version 1 starts, for the zod that it brings;
 * version 2 needs no import.
 *
 * @packageDocumentation
 */

import { argumentTypeError, WorkspaceError } from "../errors.js";
import { base64 } from "./base64.js";
import type { JSONObject, ToolJSONSchema } from "./schema.js";
import { createToolSet, type Tool, type ToolCallOptions, type ToolSet } from "./tool-set.js";
import type {
  ExecInput,
  ExecOutput,
  ExecOutputOptions,
  ReadToolOptions,
  ToolFailure,
  ToolMedia,
  ToolName,
  ToolOutcome,
  ToolSetOptions,
} from "./types.js";

export type * from "./schema.js";
export type * from "./types.js";

/** How the tools are made. */
export interface OpenCodeOptions extends ToolSetOptions {
  /**
   * Take the place of OpenCode's own file tools, so that an agent has one file system instead of two:
   * `find` is called `glob`, and OpenCode's tools that would still reach the host's disk go (see
   * `shell`). Otherwise they stay, and the names here begin with `workspace_`.
   * @defaultValue `true`
   */
  replace?: boolean;
  /** Other names for some tools. */
  names?: Partial<Record<ToolName, string>>;
  /**
   * With `replace`: leave OpenCode's shell, which works on the host's disk.
   * @defaultValue `false`
   */
  shell?: boolean;
  /**
   * OpenCode 1: calls for which OpenCode's permissions are asked first, as names of tools or
   * `"mutating"` for `write`, `edit`, `delete` and `exec`. What is to be allowed, asked or denied is said in
   * OpenCode's configuration: the first three are `edit` there, and `exec` is `exec`.
   * @defaultValue `"mutating"`
   */
  approve?: readonly ToolName[] | "mutating";
  /**
   * Longest text of one result, in bytes. A page that is longer is made shorter: OpenCode would put
   * it into a file on the host's disk, which these tools cannot read.
   * @defaultValue 51200, where OpenCode cuts unless it is configured otherwise
   */
  maxOutputBytes?: number;
}

// OpenCode cuts longer results.
const OUTPUT_BYTES_MAX = 50 * 1024;
const OUTPUT_LINES_MAX = 2000;

/** The names that are those of OpenCode's own tools. */
const REPLACING: Partial<Record<ToolName, string>> = { find: "glob" };
/** What OpenCode 2 has for files and commands. */
const BUILT_IN = ["read", "write", "edit", "patch", "glob", "grep", "shell"];
const MUTATING: readonly ToolName[] = ["write", "edit", "delete", "exec"];
/** What OpenCode's configuration of permissions calls the tools. */
const PERMISSIONS: Record<ToolName, string> = {
  read: "read",
  ls: "list",
  find: "glob",
  grep: "grep",
  write: "edit",
  edit: "edit",
  delete: "edit",
  // Not `bash`, which is denied where these tools take the place of OpenCode's.
  exec: "exec",
};

/** What OpenCode 1 tells a plugin of the project that was opened, as far as it helps to choose a workspace. */
export interface OpenCodeInput {
  /** The directory that OpenCode works in. */
  directory: string;
  /** The root of the repository that it is in. */
  worktree: string;
  project: { id: string; worktree: string };
}

/** What OpenCode 1 passes to a tool, as far as it is looked at. */
export interface OpenCodeToolContext {
  abort?: AbortSignal;
  ask(request: {
    permission: string;
    patterns: string[];
    always: string[];
    metadata: Record<string, unknown>;
  }): Promise<void>;
  /** Shows something beside a call that goes on. */
  metadata?(shown: { title?: string; metadata?: Record<string, unknown> }): void;
}

/** What a tool of OpenCode 1 gives. */
export interface OpenCodeToolResult {
  title: string;
  output: string;
  metadata: Record<string, unknown>;
  attachments?: { type: "file"; mime: string; url: string; filename: string }[];
}

/** A tool of OpenCode 1. */
export interface OpenCodeTool {
  description: string;
  /** A shape of zod, told as a type that fits every zod. */
  args: Record<string, never>;
  /** Rejects with an error whose message is for the model if the tool fails. */
  execute(args: Record<string, unknown>, context: OpenCodeToolContext): Promise<OpenCodeToolResult>;
}

/** What the plugin gives to OpenCode 1. */
export interface OpenCodeHooks {
  tool: Record<string, OpenCodeTool>;
  config(config: { permission?: unknown }): Promise<void>;
}

/** A plugin of OpenCode 1. */
export type OpenCodePlugin<Input = OpenCodeInput> = (
  input: Input,
  options?: Record<string, unknown>,
) => Promise<OpenCodeHooks>;

/**
 * Makes a plugin for OpenCode 1.
 *
 * OpenCode starts a plugin once for each project that is opened; a function in place of options is
 * called each time, with what OpenCode passes to plugins: the project's `directory`, among others.
 *
 * @throws the plugin rejects with `WorkspaceError` `EINVAL` or a `TypeError` for options that are
 * wrong, and if `@opencode-ai/plugin` is not installed.
 *
 * @example
 * ```js
 * export const Carrel = createOpenCodePlugin({ workspace: new Workspace({ storage: "agent.db" }) });
 * ```
 */
export function createOpenCodePlugin<Input = OpenCodeInput>(
  options:
    | OpenCodeOptions
    | ((input: Input, options: Record<string, unknown>) => OpenCodeOptions | Promise<OpenCodeOptions>),
): OpenCodePlugin<Input> {
  return async (input, pluginOptions = {}) => {
    const settings = typeof options === "function" ? await options(input, pluginOptions) : options;
    const tools = prepare(settings);
    const shapeOf = shapes((await zod()).schema);
    const entries = tools.list.map((tool): [string, OpenCodeTool] => [
      tools.names[tool.name],
      {
        get description() {
          return tools.rename(tool.description);
        },
        args: shapeOf(tool.jsonSchema),
        execute: (args, context) => callOne(tools, tool, args, context),
      },
    ]);
    const change = tools.replaces && !tools.isReadOnly ? [changeTool(tools, shapeOf)] : [];
    return {
      tool: Object.fromEntries([...entries, ...change]),
      config: async (config) => {
        if (!tools.replaces) return;
        if (!tools.keepsShell) deny(config, "bash");
        // `write`, `edit` and `apply_patch`, of which there is none here to take the place.
        if (tools.isReadOnly) deny(config, "edit");
      },
    };
  };
}

/** A list of OpenCode 2's tools that is being made, as far as it is used. */
export interface OpenCodeToolEditor {
  add(tool: OpenCodeTool2): void;
  remove(id: string): void;
}

/** A tool of OpenCode 2. */
export interface OpenCodeTool2 {
  name: string;
  description: string;
  /** JSON Schema. */
  input: Record<string, unknown>;
  options: {
    /** The model calls the tool itself, not through code that it writes. */
    codemode: false;
    permission: string;
  };
  /** Rejects with an error whose message is for the model if the tool fails. */
  execute(input: unknown, context: OpenCodeToolContext2): Promise<OpenCodeToolResult2>;
}

/** What OpenCode 2 passes to a tool, as far as it is looked at. */
export interface OpenCodeToolContext2 {
  signal?: AbortSignal;
  /** Shows something beside a call that goes on. */
  progress?(metadata: Record<string, unknown>): unknown;
}

/** What a tool of OpenCode 2 gives. */
export interface OpenCodeToolResult2 {
  content: ({ type: "text"; text: string } | { type: "file"; uri: string; mime: string; name: string })[];
  metadata: Record<string, unknown>;
}

/**
 * Makes what OpenCode 2 calls a transform of its tools, for `ctx.tool.transform` in the `setup` of a
 * plugin.
 *
 * @throws WorkspaceError `EINVAL`, and `TypeError`, for options that are wrong.
 *
 * @example
 * ```js
 * export default {
 *   id: "carrel",
 *   async setup(ctx) {
 *     const workspace = new Workspace({ storage: "agent.db" });
 *     await ctx.tool.transform(createOpenCodeTransform({ workspace }));
 *     return () => workspace.close();
 *   },
 * };
 * ```
 */
export function createOpenCodeTransform(options: OpenCodeOptions): (editor: OpenCodeToolEditor) => void {
  const tools = prepare(options);
  return (editor) => {
    if (tools.replaces) {
      for (const id of BUILT_IN) if (id !== "shell" || !tools.keepsShell) editor.remove(id);
    }
    for (const tool of tools.list) {
      editor.add({
        name: tools.names[tool.name],
        get description() {
          return tools.rename(tool.description);
        },
        input: { ...tool.jsonSchema },
        options: { codemode: false, permission: PERMISSIONS[tool.name] },
        execute: async (input, context) => {
          const { signal } = context;
          const onUpdate = (output: ExecOutput) => {
            // Whatever becomes of it, the call goes on.
            Promise.resolve(context.progress?.({ output: printed(output) })).catch(() => {});
          };
          const outcome = succeeded(tools, await fitted(tools, tool.name, input, { signal, onUpdate }));
          const { text, media } = outcome;
          const file = media && {
            type: "file" as const,
            uri: dataOf(media),
            mime: media.mediaType,
            name: media.name,
          };
          return {
            content: [{ type: "text", text }, ...(file ? [file] : [])],
            metadata: metadataOf(outcome),
          };
        },
      });
    }
  };
}

/** Options, understood. */
interface Prepared {
  set: ToolSet;
  list: readonly Tool[];
  names: Record<ToolName, string>;
  replaces: boolean;
  keepsShell: boolean;
  isReadOnly: boolean;
  asks: ReadonlySet<ToolName>;
  maxOutputBytes: number;
  /** A text for models with the names that the tools have here. */
  rename(text: string): string;
}

function prepare(options: OpenCodeOptions): Prepared {
  const {
    replace = true,
    names: given = {},
    shell = false,
    approve = "mutating",
    maxOutputBytes = OUTPUT_BYTES_MAX,
    read,
    execOutput,
    ...settings
  } = options ?? {};
  if (!Number.isSafeInteger(maxOutputBytes) || maxOutputBytes < 1024) {
    throw invalid(`maxOutputBytes must be a whole number, 1024 or more, not ${String(maxOutputBytes)}`);
  }
  const pages = {
    // A file's last line end begins a line for OpenCode.
    maxLines: OUTPUT_LINES_MAX - 1,
    // Of a page, JSON makes more: it escapes quotes and line ends.
    maxBytes: Math.floor(maxOutputBytes * 0.75),
  };
  const set = createToolSet({
    ...(settings as ToolSetOptions),
    // What is no object is refused there.
    read: typeof (read ?? {}) === "object" ? { ...pages, ...read } : (read as ReadToolOptions),
    // Both streams and a result, each as long as it may be, are one result.
    execOutput:
      typeof (execOutput ?? {}) === "object"
        ? { maxBytes: Math.floor(pages.maxBytes / 3), ...execOutput }
        : (execOutput as ExecOutputOptions),
  });
  const names = Object.fromEntries(
    set.tools.map(({ name }) => [name, given[name] ?? (replace ? (REPLACING[name] ?? name) : `workspace_${name}`)]),
  ) as Record<ToolName, string>;
  if (new Set(Object.values(names)).size < set.tools.length) throw invalid("two tools would have one name");
  return {
    set,
    list: set.tools,
    names,
    replaces: replace,
    keepsShell: shell,
    isReadOnly: set.tools.every(({ isReadOnly }) => isReadOnly),
    asks: new Set(asked(approve)),
    maxOutputBytes,
    rename: (text) =>
      text.replaceAll(/`(\w+)`/g, (quoted, name: string) =>
        Object.hasOwn(names, name) ? `\`${names[name as ToolName]}\`` : quoted,
      ),
  };
}

function asked(approve: unknown): readonly ToolName[] {
  if (approve === "mutating") return MUTATING;
  if (!Array.isArray(approve)) throw argumentTypeError('approve must be a list of names of tools, or "mutating"');
  const unknown = approve.find((name) => !Object.hasOwn(PERMISSIONS, name));
  if (unknown !== undefined) throw invalid(`approve names a tool that does not exist: ${JSON.stringify(unknown)}`);
  return approve;
}

function invalid(sentence: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: ${sentence}`, { errno: -22 });
}

/** A call under OpenCode 1. */
async function callOne(
  tools: Prepared,
  tool: Tool,
  args: Record<string, unknown>,
  context: OpenCodeToolContext,
): Promise<OpenCodeToolResult> {
  const agreed = tools.asks.has(tool.name) ? await ask(tools, tool, args, context) : args;
  const onUpdate = (output: ExecOutput) => {
    context.metadata?.({ title: titleOf(output), metadata: { output: printed(output) } });
  };
  const outcome = succeeded(tools, await fitted(tools, tool.name, agreed, { signal: context.abort, onUpdate }));
  const { text, media } = outcome;
  return {
    title: titleOf(outcome.output) || String(args.path ?? ""),
    output: text,
    metadata: metadataOf(outcome),
    ...(media && {
      attachments: [{ type: "file", mime: media.mediaType, url: dataOf(media), filename: media.name }],
    }),
  };
}

/** What a call is called where it is shown: its path, or how its code begins. */
function titleOf(output: object): string {
  if ("path" in output) return String(output.path);
  return "command" in output ? firstLine(String(output.command)) : "";
}

function firstLine(text: string): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line.length > TITLE_CHARS_MAX ? `${line.slice(0, TITLE_CHARS_MAX)}…` : line;
}

const TITLE_CHARS_MAX = 80;

/** What code has printed, as OpenCode shows it for its own shell. */
function printed({ stdout, stderr }: ExecOutput): string {
  return [stdout, stderr].filter(Boolean).join("\n");
}

/**
 * The tool in the place of `apply_patch`, which OpenCode 1 offers to some models (GPT-5 and later)
 * instead of every tool that is called `edit` or `write`. Without it those models would work on the
 * host's disk.
 */
function changeTool(tools: Prepared, shapeOf: ShapeOf): [string, OpenCodeTool] {
  const [write, edit] = (["write", "edit"] as const).map((name) => tools.list.find((tool) => tool.name === name));
  if (!write || !edit) throw new Error("a set of tools that is not read-only has `write` and `edit`");
  const { path, ...contents } = write.jsonSchema.properties;
  const { path: _, ...edits } = edit.jsonSchema.properties;
  const description = [
    "Changes one file: pass `content` to write the whole file, or `edits` to replace parts of it. It takes no patch text.",
    `With \`content\`: ${write.description}`,
    `With \`edits\`: ${edit.description}`,
  ].join("\n\n");
  return [
    "apply_patch",
    {
      description: tools.rename(description),
      args: shapeOf({
        type: "object",
        properties: { ...(path && { path }), ...contents, ...edits },
        required: ["path"],
        additionalProperties: false,
      }),
      execute: (args, context) => {
        const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
        return callOne(tools, "content" in given ? write : edit, given, context);
      },
    },
  ];
}

/**
 * Asks for a call, and returns the arguments that were agreed to. What is asked about is the path that is
 * really meant, whatever links lead there.
 */
async function ask({ set }: Prepared, { name, inputSchema }: Tool, args: unknown, context: OpenCodeToolContext) {
  const checked = inputSchema["~standard"].validate(args);
  // Nobody has to be asked about a call that will be refused.
  if (checked.issues) return args;
  const input: Record<string, unknown> = { ...checked.value };
  if (name === "exec") {
    const { command, backend, cwd } = input as unknown as ExecInput;
    const metadata = { command, ...(backend && { backend }), ...(cwd && { cwd }) };
    await context.ask({ permission: PERMISSIONS.exec, patterns: [command], always: ["*"], metadata });
    return input;
  }
  const given = String(input.path ?? "");
  // What cannot be located will be refused, but not without having been asked about.
  const { path, version } = await set.locate(given).catch(() => ({ path: given, version: undefined }));
  const pattern = name === "find" ? input.pattern : name === "grep" ? input.query : path;
  await context.ask({
    permission: PERMISSIONS[name],
    patterns: [String(pattern)],
    always: ["*"],
    metadata: { filepath: path, ...previewOf(path, input) },
  });
  // What a person has agreed to replace is what was there when they were asked.
  return name === "write" && version !== undefined ? { ifUnchanged: version, ...input } : input;
}

/** What a person is shown of a change before it is made, as a diff: its line numbers count within it. */
function previewOf(path: string, { content, edits }: Record<string, unknown>): { diff?: string } {
  const changes =
    typeof content === "string"
      ? [{ oldText: "", newText: content }]
      : Array.isArray(edits)
        ? (edits as { oldText: string; newText: string }[])
        : [];
  if (changes.length === 0) return {};
  let [oldLine, newLine] = [1, 1];
  const hunks = changes.map(({ oldText, newText }) => {
    const [removed, added] = [linesOf(oldText), linesOf(newText)];
    const header = `@@ -${range(oldLine, removed)} +${range(newLine, added)} @@`;
    oldLine += removed.length;
    newLine += added.length;
    return [header, ...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)].join("\n");
  });
  return { diff: `--- ${path}\n+++ ${path}\n${hunks.join("\n")}\n` };
}

function range(first: number, { length }: string[]): string {
  return `${length === 0 ? first - 1 : first},${length}`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Calls a tool; a page that is too long is made again, shorter. */
async function fitted(
  { set, maxOutputBytes }: Prepared,
  name: ToolName,
  input: unknown,
  options: ToolCallOptions,
): Promise<ToolOutcome> {
  let outcome = await set.execute(name, input, options);
  for (;;) {
    const size = Buffer.byteLength(outcome.text);
    const count = countOf(outcome);
    if (size <= maxOutputBytes || count < 2) return outcome;
    const limit = Math.min(count - 1, Math.max(1, Math.floor((count * maxOutputBytes * 0.9) / size)));
    outcome = await set.execute(name, { ...(input as object), limit }, options);
  }
}

/** How many lines or entries a page has; 0 of what has no pages. */
function countOf({ output, isError }: ToolOutcome): number {
  if (isError) return 0;
  if ("startLine" in output) return output.endLine - output.startLine + 1;
  return "count" in output && "truncated" in output ? output.count : 0;
}

/** The outcome, if it is no failure; that is thrown, as OpenCode's own tools do. */
function succeeded(tools: Prepared, outcome: ToolOutcome): Success {
  const { output, text } = outcome;
  if (!("error" in output)) return { ...outcome, output };
  const { code } = output;
  // These quote the file and the call, which may hold the name of a tool as well.
  const quotes = code === "ENOMATCH" || code === "EAMBIGUOUS";
  throw Object.assign(new Error(quotes ? text : tools.rename(text)), { code });
}

type Success = ToolOutcome & { output: Exclude<ToolOutcome["output"], ToolFailure> };

function metadataOf({ output }: ToolOutcome): Record<string, unknown> {
  // OpenCode shows a diff of that name.
  if ("patch" in output) return { diff: output.patch, firstChangedLine: output.firstChangedLine };
  return "exitCode" in output ? { output: printed(output), exit: output.exitCode } : {};
}

function dataOf({ mediaType, data }: ToolMedia): string {
  return `data:${mediaType};base64,${base64(data)}`;
}

/** Denies something in OpenCode 1's configuration; of its rules the last one counts. */
function deny(config: { permission?: unknown }, what: string): void {
  const { permission } = config;
  const { [what]: _, ...rest } =
    typeof permission === "string" ? { "*": permission } : ((permission ?? {}) as JSONObject);
  config.permission = { ...rest, [what]: "deny" };
}

type ShapeOf = (schema: ToolJSONSchema) => Record<string, never>;

/** What is used of zod. */
interface Zod {
  unknown(): { meta(jsonSchema: JSONObject): { optional(): unknown } };
}

/**
 * Shapes of zod that let everything through and carry JSON Schema as it is: the model is told exactly what
 * the tools take, and the tools themselves answer wrong arguments.
 */
function shapes(zod: Zod): ShapeOf {
  return ({ properties, required }) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const field = zod.unknown().meta(property);
        return [name, (required.includes(name) ? field : field.optional()) as never];
      }),
    );
}

async function zod(): Promise<{ schema: Zod }> {
  try {
    return (await import("@opencode-ai/plugin/tool")).tool;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(
      "carrel/tools/opencode needs a package that is not installed: run `npm install @opencode-ai/plugin` where the plugin is",
      { cause: error },
    );
  }
}
