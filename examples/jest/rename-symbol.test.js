import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Workspace } from "carrel";
import { renameSymbol } from "./rename-symbol.js";

let workspace;

beforeEach(async () => {
  workspace = new Workspace({ storage: ":memory:" });
  await workspace.fs.mkdir("/workspace/src");
  await workspace.fs.writeFile("/workspace/src/add.js", "export const add = (a, b) => a + b;\n");
  await workspace.fs.writeFile("/workspace/src/main.js", 'import { add } from "./add.js";\nadd(1, 2);\n');
  await workspace.fs.writeFile("/workspace/notes.md", "add is in src/add.js\n");
});

// Nothing stays open after this: jest ends by itself, without --forceExit.
afterEach(() => workspace.close());

test("every use in a source file is renamed, and nothing else", async () => {
  const changed = await renameSymbol(workspace, "add", "sum");

  expect(changed.sort()).toEqual(["/workspace/src/add.js", "/workspace/src/main.js"]);
  expect(await workspace.fs.readFile("/workspace/src/add.js", "utf8")).toBe("export const sum = (a, b) => a + b;\n");
  expect(await workspace.fs.readFile("/workspace/notes.md", "utf8")).toBe("add is in src/add.js\n");
});

test("a name that is no identifier is refused and changes nothing", async () => {
  await expect(renameSymbol(workspace, "add", "a-b")).rejects.toThrow("not an identifier: a-b");

  expect(await workspace.fs.readFile("/workspace/src/add.js", "utf8")).toContain("const add");
});
