// Only compiled: the types of the package as a strict project sees them.

import { WORKSPACE_ROOT, Workspace, WorkspaceError } from "carrel";

export async function firstLine(path: string): Promise<string | undefined> {
  await using workspace = new Workspace({ storage: { path: ":memory:", durability: "normal" } });
  try {
    const text: string = await workspace.fs.readFile(`${WORKSPACE_ROOT}/${path}`, "utf8");
    return text.split("\n")[0];
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "ENOENT") return undefined;
    throw error;
  }
}
