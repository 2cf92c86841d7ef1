// The entry points of the package: each loads in a process of its own where only carrel is installed,
// unless it is made with a library, and has the names that the documentation explains.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../support/consumer.mjs";
import { installAlone } from "../support/installed.mjs";
import { folderFor } from "../support/workspace.mjs";

/** Of each entry point: its names, the page that explains them, and the library it cannot do without. */
const ENTRY_POINTS = {
  carrel: { names: ["WORKSPACE_ROOT", "Workspace", "WorkspaceError"], page: "docs/filesystem.md" },
  "carrel/tools": { names: ["createToolSet"], page: "docs/tools.md" },
  "carrel/tools/ai-sdk": {
    names: [
      "approvals",
      "createAITools",
      "createDeleteTool",
      "createEditTool",
      "createExecTool",
      "createFindTool",
      "createGrepTool",
      "createListTool",
      "createReadTool",
      "createWriteTool",
      "forAISDKTools",
    ],
    page: "docs/ai-sdk.md",
  },
  "carrel/tools/pi-ai": {
    names: ["createAgentTools", "createPiTools", "createToolRegistrations", "forPiTools"],
    page: "docs/pi.md",
  },
  "carrel/tools/tanstack-ai": { names: ["TanStackToolError", "createTanStackTools"], page: "docs/tanstack-ai.md" },
  "carrel/tools/opencode": { names: ["createOpenCodePlugin", "createOpenCodeTransform"], page: "docs/opencode.md" },
  "carrel/backends/javascript": { names: ["JavaScriptBackend"], page: "docs/runtime.md" },
  "carrel/backends/worker-javascript": { names: ["WorkerJavaScriptBackend"], page: "docs/runtime.md" },
  "carrel/modules/tools": { names: ["createToolBindings", "forAISDKTools", "forPiTools"], page: "docs/runtime.md" },
  "carrel/tools/mcp": { names: ["createMcpServer"], page: "docs/mcp.md", needs: "@modelcontextprotocol/server" },
};

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** What a module that imports `specifier` in `folder` prints: the names, or the code of the error. */
function namesOf(folder, specifier) {
  const code = `
    const names = await import(${JSON.stringify(specifier)}).then((module) => Object.keys(module), (error) => error.code + " " + error.message);
    console.log(JSON.stringify(names));`;
  writeFileSync(join(folder, "load.mjs"), code);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["load.mjs"], { cwd: folder, encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""], specifier);
  return JSON.parse(stdout);
}

test("every entry point of package.json is known here", () => {
  const exported = Object.keys(manifest.exports).map((path) => path.replace(/^\./, "carrel"));
  assert.deepEqual([...exported].sort(), [...Object.keys(ENTRY_POINTS), "carrel/package.json"].sort());
});

test("every file that package.json names is there", () => {
  const files = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  const missing = [...files, ...Object.values(manifest.bin)].filter((file) => !existsSync(join(root, file)));
  assert.deepEqual(missing, []);
});

for (const [specifier, { names, needs }] of Object.entries(ENTRY_POINTS)) {
  test(`${specifier} has its names, and loads ${needs ? `only with ${needs}` : "where carrel is installed alone"}`, (t) => {
    const folder = folderFor(t);
    installAlone(folder);
    const alone = namesOf(folder, specifier);
    if (!needs) return assert.deepEqual(alone.sort(), names);
    assert.match(alone, new RegExp(`^ERR_MODULE_NOT_FOUND .*${needs}`));
    const beside = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", `console.log(JSON.stringify(Object.keys(await import("${specifier}"))))`],
      { cwd: root, encoding: "utf8" },
    );
    assert.deepEqual(JSON.parse(beside.stdout).sort(), names, beside.stderr);
  });
}

for (const [specifier, { names, page }] of Object.entries(ENTRY_POINTS)) {
  test(`${page} explains the names of ${specifier}`, () => {
    const text = readFileSync(join(root, page), "utf8");
    assert.deepEqual(
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
      [],
    );
  });
}

test("the libraries that entry points are for are optional peers", () => {
  // The one that is installed with carrel is loaded only when there is TypeScript to strip.
  assert.deepEqual(Object.keys(manifest.dependencies), ["@swc/wasm-typescript"]);
  for (const name of Object.keys(manifest.peerDependencies)) {
    assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true }, name);
  }
});
