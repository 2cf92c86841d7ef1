// The tools for TanStack AI against its own types.

import { type AnyTextAdapter, chat, type InferToolOutput, type Tool } from "@tanstack/ai";
import type { Workspace } from "carrel";
import { createTanStackTools, type TanStackTool, TanStackToolError } from "carrel/tools/tanstack-ai";

export async function run(adapter: AnyTextAdapter, workspace: Workspace): Promise<string> {
  const tools = createTanStackTools({ workspace, approve: ["write", "delete"], lazy: "all", readonly: true });
  const { read, grep } = createTanStackTools({ workspace, format: "object" });
  const stream = chat({ adapter, messages: [{ role: "user", content: "go" }], tools });
  for await (const event of stream) console.log(event.type);
  return await chat({ adapter, messages: [], tools: [read, grep, ...tools], stream: false });
}

export async function direct(workspace: Workspace): Promise<void> {
  const { read, ls, edit, write } = createTanStackTools({ workspace, format: "object", approve: "mutating" });
  const text = await read.execute({ path: "/a", limit: 10 });
  if (typeof text !== "string" && !Array.isArray(text) && "content" in text) console.log(text.nextOffset);
  const count: number = (await ls.execute({ path: "/" }, { abortSignal: AbortSignal.timeout(10) })).count;
  await write.execute({ path: "/a", content: "" });
  try {
    await edit.execute({ path: "/a", edits: [{ oldText: "a", newText: "b" }] });
    // @ts-expect-error: there is no such argument.
    await edit.execute({ path: "/a", edit: [] });
  } catch (error) {
    if (error instanceof TanStackToolError) console.log(error.code, error.failure.nearest?.difference, count);
  }
}

export function inferred(edit: TanStackTool<"edit">): [string, number] {
  const tool: Tool<typeof edit.inputSchema> = edit;
  const output = {} as InferToolOutput<typeof edit>;
  return [tool.name, output?.editsApplied ?? 0];
}

export function options(workspace: Workspace): void {
  createTanStackTools({ workspace, streamEventName: "output" });
  // @ts-expect-error: there is no such tool.
  createTanStackTools({ workspace, approve: ["wrte"] });
  // @ts-expect-error: there is no such format.
  createTanStackTools({ workspace, format: "map" });
  // @ts-expect-error: a workspace has to be given.
  createTanStackTools({});
}

export function named(workspace: Workspace): void {
  const byName = createTanStackTools({ workspace, format: "object" });
  void byName.write.name;
  const reading = createTanStackTools({ workspace, format: "object", readonly: true });
  // @ts-expect-error: it may not be there.
  void reading.write.name;
}
