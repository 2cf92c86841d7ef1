/**
 * The tools as a server of the Model Context Protocol, made with `@modelcontextprotocol/server` 2.
 *
 * `npx carrel mcp agent.db` serves the same on standard input and output.
 *
 * @packageDocumentation
 */

import { type CallToolResult, McpServer, type ServerContext, type ToolAnnotations } from "@modelcontextprotocol/server";
import { version as packageVersion } from "../version.js";
import { base64 } from "./base64.js";
import { toolSchema } from "./schema.js";
import { createToolSet, type Tool } from "./tool-set.js";
import type { ExecOutput, ToolMedia, ToolName, ToolOutcome, ToolSetOptions } from "./types.js";

export type * from "./schema.js";
export type * from "./types.js";

/** How the server is made. */
export interface McpServerOptions extends ToolSetOptions {
  /**
   * What the server calls itself.
   * @defaultValue `"carrel"`
   */
  name?: string;
  /**
   * The version that the server names.
   * @defaultValue the version of carrel
   */
  version?: string;
  /**
   * What a client tells its model about the server. A model that also has tools for the disk of its
   * computer has to know which files these tools are about.
   * @defaultValue a few sentences on where the files are and how paths are written
   */
  instructions?: string;
}

/**
 * Makes a server with the tools of a workspace. It is not connected yet: pass it a transport, for
 * example one of `@modelcontextprotocol/server/stdio`.
 *
 * A call that fails is a result with `isError`. A client that cancels a call, or goes away, ends it: what reads
 * is given up at once, a change that has begun is finished.
 *
 * Closing the server does not close the workspace.
 *
 * @throws WorkspaceError `EINVAL`, and `TypeError`, for options that are wrong.
 *
 * @example
 * ```js
 * const server = createMcpServer({ workspace });
 * await server.connect(new StdioServerTransport());
 * ```
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { name = "carrel", version = packageVersion, instructions, ...settings } = options ?? {};
  const set = createToolSet(settings as ToolSetOptions);
  const server = new McpServer(
    { name, version },
    // The tools of a server never change.
    { capabilities: { tools: { listChanged: false } }, instructions: instructions ?? instructionsFor(settings) },
  );
  for (const tool of set.tools) {
    const config = {
      title: tool.title,
      description: tool.description,
      // Told, not checked: the tool itself answers wrong arguments, in the words of every other refusal.
      inputSchema: toolSchema<unknown>(tool.jsonSchema, (value) => ({ value })),
      annotations: annotationsOf(tool),
    };
    server.registerTool(tool.name, config, async (input, { mcpReq }) => {
      const { signal } = mcpReq;
      return resultOf(tool.name, await set.execute(tool.name, input, { signal, onUpdate: progressTo(mcpReq) }));
    });
  }
  return server;
}

/** Tells a client that has asked for it what code prints while it runs: the last line, with a running number. */
function progressTo({ _meta, notify }: ServerContext["mcpReq"]): ((output: ExecOutput) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return ({ stdout, stderr }) => {
    progress += 1;
    const message = lastLine(stdout) || lastLine(stderr);
    // A client that has gone is no reason to stop.
    notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => {});
  };
}

/** The last line that is not empty, or its beginning. */
function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1, trimmed.lastIndexOf("\n") + 1 + PROGRESS_CHARS_MAX);
}

/** What a client has room for beside a call. */
const PROGRESS_CHARS_MAX = 200;

function instructionsFor({ root, readonly }: Partial<ToolSetOptions>): string {
  return [
    "These tools work on the files of a carrel workspace: a file tree of its own, kept in a database. They do not reach the disk of this computer, and its other tools do not reach these files.",
    root === undefined
      ? "Paths are absolute; work goes to /workspace."
      : `Everything is below ${root}; relative paths start there.`,
    ...(readonly ? ["The files can be read, not changed."] : []),
  ].join(" ");
}

function annotationsOf({ name, title, isReadOnly }: Tool): ToolAnnotations {
  return {
    title,
    readOnlyHint: isReadOnly,
    // Each of the others replaces or removes contents, or may.
    destructiveHint: !isReadOnly,
    // An edit that was made finds its text no more; code may do anything.
    idempotentHint: name !== "edit" && name !== "exec",
    // Code may have a network.
    openWorldHint: name === "exec",
  };
}

function resultOf(name: ToolName, { output, isError, text, media }: ToolOutcome): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text }];
  if (media) content.push(contentOf(media, "path" in output ? output.path : media.name));
  // A client may give its model structured content alone (Claude Code does). Then an image would be lost,
  // and a whole file would reach the model with every quote and line end escaped.
  const isPlain = media !== undefined || (name === "read" && !isError && !isJSON(text));
  return {
    content,
    // Of a run the same as the text, without what the call said itself.
    ...(!isPlain && { structuredContent: name === "exec" && !isError ? JSON.parse(text) : { ...output } }),
    ...(isError && { isError }),
  };
}

/** Whether the text of a page that was read is its output as JSON, not the contents of a whole file. */
function isJSON(text: string): boolean {
  return text.startsWith('{"path":');
}

function contentOf({ kind, mediaType, data }: ToolMedia, path: string): CallToolResult["content"][number] {
  if (kind === "image") return { type: "image", data: base64(data), mimeType: mediaType };
  return { type: "resource", resource: { uri: uriOf(path), mimeType: mediaType, blob: base64(data) } };
}

function uriOf(path: string): string {
  const absolute = path.startsWith("/") ? path : `/${path}`;
  return `carrel://${absolute.split("/").map(encodeURIComponent).join("/")}`;
}
