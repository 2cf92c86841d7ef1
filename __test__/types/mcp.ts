// The MCP server against the types of the real SDK.

import { InMemoryTransport, type McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Workspace } from "carrel";
import { createMcpServer, type McpServerOptions } from "carrel/tools/mcp";

export async function serve(workspace: Workspace): Promise<void> {
  const server: McpServer = createMcpServer({ workspace });
  await server.connect(new StdioServerTransport());
  const [ours] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ workspace }).connect(ours);
  serveStdio(() => createMcpServer({ workspace, readonly: true }));
}

export function options(workspace: Workspace): McpServerOptions {
  return {
    workspace,
    name: "notes",
    version: "1.0.0",
    instructions: "Notes of the team.",
    root: "/workspace/notes",
    rules: [{ path: "private/**", access: "none" }],
    requireReadBeforeOverwrite: true,
    auditTag: "desk",
  };
}

export function wrong(workspace: Workspace): void {
  // @ts-expect-error: a workspace is required.
  createMcpServer({});
  // @ts-expect-error: there is no such option.
  createMcpServer({ workspace, title: "Notes" });
}
