// The types of the package, checked with its own compiler options and without skipLibCheck. A line
// marked @ts-expect-error must not compile.

import { Workspace, WorkspaceError } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { WorkerJavaScriptBackend } from "carrel/backends/worker-javascript";
import { createToolBindings } from "carrel/modules/tools";

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

export async function runs(): Promise<void> {
  const backend = new JavaScriptBackend({
    root: "/workspace",
    access: "read",
    egress: { mode: "direct", allow: ["example.com"] },
    modules: {
      lib: "export default 1",
      "ws:db": {
        query: async ([sql]: readonly [string], { signal, callId }) => ({ sql, callId, aborted: signal.aborted }),
      },
      "ws:made": ({ fs }) => ({ list: () => fs.readdir("/workspace") }),
      "ws:tools": createToolBindings([]),
    },
  });
  const workspace = new Workspace({ storage: ":memory:", backends: [backend], output: { keep: 10 }, recover: true });
  const handle = await workspace.runtime.exec("export default () => 1", { encoding: "utf8", input: { a: [1, null] } });
  for await (const event of handle) {
    if (event.name === "exit") {
      const code: number = event.code;
      const status: "completed" | "failed" | "cancelled" = event.status;
      console.log(code, status, event.result, event.reason);
    } else {
      const text: string = event.value;
      console.log(text);
    }
  }
  await using bytes = await workspace.runtime.getExec(handle.id, { resume: "tail" });
  const result = await bytes.result();
  const stdout: Uint8Array = result.stdout;
  // @ts-expect-error: without an encoding output is bytes.
  const wrong: string = result.stdout;
  const { live, runs } = await workspace.runtime.stats();
  console.log(stdout, wrong, live, runs[0]?.pid, workspace.runtime.backends()[0]?.description);
}

export function backends(): void {
  new WorkerJavaScriptBackend({ loader: {}, compatibilityDate: "2026-05-23" });
  // @ts-expect-error: only this backend takes a loader.
  new JavaScriptBackend({ loader: {} });
  // @ts-expect-error: a network without hosts has to be said as such.
  new JavaScriptBackend({ egress: { mode: "direct" } });
  // @ts-expect-error: the input of a run is JSON.
  new Workspace({ storage: ":memory:" }).runtime.exec("", { input: new Date() });
}
