// The types of the package, checked with its own compiler options and without skipLibCheck. A line
// marked @ts-expect-error must not compile.

import { Workspace, WorkspaceError } from "carrel";

export async function overloads(workspace: Workspace): Promise<void> {
  const text: string = await workspace.fs.readFile("/a", "utf8");
  const stream: ReadableStream<Uint8Array> = await workspace.fs.readFile("/a");
  const range: ReadableStream<Uint8Array> = await workspace.fs.readFile("/a", {
    byteOffset: 1,
    byteLength: 2,
  });
  // @ts-expect-error: without an encoding there is a stream, not a string.
  const wrong: string = await workspace.fs.readFile("/a");
  await workspace.fs.writeFile("/b", stream, { mode: 0o600, exclusive: true });
  await workspace.fs.writeFile("/c", new Uint8Array([1]));
  // @ts-expect-error: a number is no content.
  await workspace.fs.writeFile("/d", 1);
  const isFile: boolean = (await workspace.fs.stat("/b")).isFile;
  const count: number = await workspace.transaction(async (fs) => (await fs.readdir("/")).length);
  console.log(text, range, wrong, isFile, count);
}

export function storage(): void {
  new Workspace({ storage: ":memory:" });
  new Workspace({ storage: { path: "agent.db", durability: "full", readonly: true }, quotaBytes: 1024 });
  // @ts-expect-error: there is no such durability.
  new Workspace({ storage: { path: "agent.db", durability: "some" } });
  // @ts-expect-error: a workspace has to be somewhere.
  new Workspace({});
}

export function isMissing(error: unknown): boolean {
  return error instanceof WorkspaceError && error.code === "ENOENT" && error.path !== undefined;
}
