// The plugin and the transform for OpenCode: the plugin against the real types of version 1, whose
// package is installed; version 2 against the shapes that it documents.

import type { Plugin, PluginInput, PluginModule } from "@opencode-ai/plugin";
import type { Workspace } from "carrel";
import {
  createOpenCodePlugin,
  createOpenCodeTransform,
  type OpenCodeOptions,
  type OpenCodeToolEditor,
} from "carrel/tools/opencode";

export function version1(workspace: Workspace): Plugin[] {
  const plain: Plugin = createOpenCodePlugin({ workspace });
  const named: Plugin = createOpenCodePlugin({ workspace, names: { edit: "edit_file" }, approve: ["delete"] });
  const perProject: Plugin = createOpenCodePlugin((input: PluginInput, options) => ({
    workspace,
    root: `/workspace/${input.project.id}`,
    readonly: options.readonly === true,
  }));
  const module: PluginModule = { id: "carrel", server: plain };
  return [plain, named, perProject, module.server];
}

/** What is used of the context of OpenCode 2. */
interface Context {
  tool: { transform(callback: (editor: OpenCodeToolEditor) => void): Promise<{ dispose(): Promise<void> }> };
}

export const version2 = (workspace: Workspace) => ({
  id: "carrel",
  async setup(context: Context): Promise<() => Promise<void>> {
    await context.tool.transform(createOpenCodeTransform({ workspace, shell: true }));
    return () => workspace.close();
  },
});

export function options(workspace: Workspace): OpenCodeOptions {
  return { workspace, approve: "mutating", replace: false, maxOutputBytes: 100_000 };
}

export function wrong(workspace: Workspace): void {
  // @ts-expect-error: a workspace is required.
  createOpenCodePlugin({});
  // @ts-expect-error: there is no such tool.
  createOpenCodeTransform({ workspace, approve: ["erase"] });
}

export function perProject(workspace: Workspace) {
  return createOpenCodePlugin(async ({ project, directory }) => ({
    workspace,
    root: `/workspace/${project.id}`,
    auditTag: directory,
  }));
}
