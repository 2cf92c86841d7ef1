// The tools under OpenCode, with stand-ins for its two versions: what they keep of OpenCode's own
// hosts is how tools of plugins are found, told to a model, called and cut.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tool } from "@opencode-ai/plugin/tool";
import { createOpenCodePlugin, createOpenCodeTransform } from "carrel/tools/opencode";
import { root } from "../support/consumer.mjs";
import { installAlone } from "../support/installed.mjs";
import { samplesOf } from "../support/library-samples.mjs";
import { PDF, PIXEL } from "../support/media.mjs";
import { folderFor, open } from "../support/workspace.mjs";

const OUTPUT_BYTES_MAX = 50 * 1024;
const OUTPUT_LINES_MAX = 2000;

const builtIn = (name) => ({ description: `OpenCode's own ${name}`, parameters: {}, execute: () => `host: ${name}` });

/**
 * OpenCode 1: later tools replace earlier ones of the same name; models of GPT-5 and later have `apply_patch` in
 * place of `edit` and `write`; a denied permission hides a tool; long results are cut.
 */
async function openCode1(plugin, { model = "claude", permission } = {}) {
  const config = { ...(permission && { permission }) };
  const hooks = await plugin({ directory: "/home/me/project" }, {});
  await hooks.config?.(config);
  const tools = new Map(
    ["bash", "read", "glob", "grep", "edit", "write", "apply_patch"].map((name) => [name, builtIn(name)]),
  );
  for (const [name, { description, args, execute }] of Object.entries(hooks.tool)) {
    const shape = tool.schema.object(args);
    const parameters = tool.schema.toJSONSchema(shape, { io: "input" });
    tools.set(name, { description, parameters, execute, accepts: (value) => shape.safeParse(value).success });
  }
  const usesPatch = model.startsWith("gpt-5");
  const ruleOf = (name) => {
    const rules = typeof config.permission === "string" ? { "*": config.permission } : (config.permission ?? {});
    const group = ["edit", "write", "apply_patch"].includes(name) ? "edit" : name;
    return Object.entries(rules).findLast(([key]) => key === "*" || key === group)?.[1];
  };
  const visible = [...tools.keys()].filter(
    (name) =>
      (name === "apply_patch" ? usesPatch : !usesPatch || !["edit", "write"].includes(name)) && ruleOf(name) !== "deny",
  );
  const asked = [];
  const call = async (name, args, { signal, answer = () => {} } = {}) => {
    assert.ok(visible.includes(name), `the model has no tool ${name}`);
    const { accepts, execute } = tools.get(name);
    if (accepts && !accepts(args)) throw new Error(`OpenCode refused the arguments of ${name}`);
    const ask = async (request) => {
      asked.push(request);
      await answer(request);
    };
    const result = await execute(args, { abort: signal ?? new AbortController().signal, ask, metadata() {} });
    const cut =
      Buffer.byteLength(result.output) > OUTPUT_BYTES_MAX || result.output.split("\n").length > OUTPUT_LINES_MAX;
    return { ...result, cut };
  };
  return { visible, tools, call, asked, config };
}

/** OpenCode 2: a transform edits the list of tools. */
function openCode2(transform) {
  const tools = new Map(
    ["read", "write", "edit", "patch", "glob", "grep", "shell", "question"].map((name) => [name, builtIn(name)]),
  );
  transform({ add: (added) => tools.set(added.name, added), remove: (id) => tools.delete(id) });
  const call = (name, input, { signal } = {}) =>
    tools.get(name).execute(input, { sessionID: "s", messageID: "m", id: "c", agent: "build", signal });
  return { tools, names: [...tools.keys()], call };
}

test("OpenCode 1: the tools take the place of its own, and nothing reaches the host's disk", async (t) => {
  const plugin = createOpenCodePlugin({ workspace: open(t) });
  const names = ["read", "glob", "grep", "edit", "write", "ls", "delete"];
  const { visible, tools } = await openCode1(plugin);
  assert.deepEqual(visible.toSorted(), names.toSorted());
  for (const name of visible) assert.doesNotMatch(tools.get(name).description, /OpenCode's own/);
  const gpt = await openCode1(plugin, { model: "gpt-5.2" });
  assert.deepEqual(gpt.visible.toSorted(), ["apply_patch", "delete", "glob", "grep", "ls", "read"]);
  assert.doesNotMatch(gpt.tools.get("apply_patch").description, /OpenCode's own/);
});

test("OpenCode 1: a model is told the JSON Schema of the tools, whatever zod checks", async (t) => {
  const { tools } = await openCode1(createOpenCodePlugin({ workspace: open(t) }));
  const { properties, required } = tools.get("edit").parameters;
  assert.deepEqual(required, ["path", "edits"]);
  assert.equal(properties.path.type, "string");
  assert.ok(properties.path.description);
  assert.deepEqual(properties.edits.items.required, ["oldText", "newText"]);
  const read = tools.get("read").parameters;
  assert.deepEqual(read.required, ["path"]);
  assert.equal(read.properties.limit.type, "integer");
  assert.equal(read.properties.limit.minimum, 1);
});

test("OpenCode 1: a model finds, reads, edits, is refused, recovers and deletes", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/src", { recursive: true });
  await workspace.fs.writeFile("/workspace/src/a.js", "const a = 1;\nconst b = 2;\n");
  const { call, asked } = await openCode1(createOpenCodePlugin({ workspace }));

  const found = await call("glob", { pattern: "**/*.js" });
  assert.equal(JSON.parse(found.output).entries[0].path, "/workspace/src/a.js");
  const read = await call("read", { path: "/workspace/src/a.js" });
  assert.match(read.output, /const b = 2;/);
  assert.equal(read.title, "/workspace/src/a.js");
  assert.equal(read.attachments, undefined);
  assert.deepEqual(asked, []);

  const edits = [{ oldText: "const c = 3;", newText: "const c = 4;" }];
  await assert.rejects(call("edit", { path: "/workspace/src/a.js", edits }), { code: "ENOMATCH" });
  const edited = await call("edit", {
    path: "/workspace/src/a.js",
    edits: [{ oldText: "const b = 2;", newText: "const b = 3;" }],
  });
  assert.equal(edited.metadata.diff, JSON.parse(edited.output).patch);
  assert.equal(await workspace.fs.readFile("/workspace/src/a.js", "utf8"), "const a = 1;\nconst b = 3;\n");

  await call("write", { path: "/workspace/b.txt", content: "b" });
  assert.equal(JSON.parse((await call("grep", { query: "const b" })).output).matches.length, 1);
  assert.equal(JSON.parse((await call("ls", { path: "/workspace" })).output).entries.length, 2);
  await call("delete", { path: "/workspace/b.txt" });
  assert.equal(await workspace.fs.exists("/workspace/b.txt"), false);
});

test("OpenCode 1: a model of GPT-5 writes and edits through the tool that it is given", async (t) => {
  const workspace = open(t);
  const { call, asked, tools } = await openCode1(createOpenCodePlugin({ workspace }), { model: "gpt-5.2" });
  const { properties, required } = tools.get("apply_patch").parameters;
  assert.deepEqual(required, ["path"]);
  assert.deepEqual(Object.keys(properties).sort(), ["content", "edits", "ifUnchanged", "path"]);
  await call("apply_patch", { path: "/workspace/a", content: "one\n", edits: null });
  await call("apply_patch", { path: "/workspace/a", content: null, edits: [{ oldText: "one", newText: "two" }] });
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "two\n");
  await call("apply_patch", { path: "/workspace/empty", content: "" });
  assert.equal(await workspace.fs.readFile("/workspace/empty", "utf8"), "");
  assert.deepEqual(
    asked.map(({ permission }) => permission),
    ["edit", "edit", "edit"],
  );
  await assert.rejects(call("apply_patch", { patchText: "*** Begin Patch" }), /path|patchText/);
});

test("OpenCode 1: failures are errors with a sentence that names the tools as they are called here", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\n");
  const { call, tools } = await openCode1(createOpenCodePlugin({ workspace }));
  await assert.rejects(call("read", { path: "/workspace/none" }), (error) => {
    assert.equal(error.code, "ENOENT");
    assert.ok(error instanceof Error);
    assert.match(error.message, /use `ls` or `glob` to see/);
    return true;
  });
  await assert.rejects(call("read", {}), { code: "EINVAL" });
  for (const { description } of tools.values()) assert.doesNotMatch(description, /`find`/);
});

test("OpenCode 1: text of a file is never renamed", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a.md", "use `find` here\n");
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  assert.match((await call("read", { path: "/workspace/a.md" })).output, /use `find` here/);
  const edits = [{ oldText: "used `find` here", newText: "" }];
  await assert.rejects(call("edit", { path: "/workspace/a.md", edits }), (error) => {
    assert.doesNotMatch(error.message, /`glob` here/);
    return true;
  });
});

test("OpenCode 1: arguments whose meaning is clear pass zod and are understood", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\ntwo\nthree\n");
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  const page = JSON.parse(
    (await call("read", { path: "/workspace/a", offset: "2", limit: "1", version: null })).output,
  );
  assert.deepEqual([page.startLine, page.endLine], [2, 2]);
  const edits = JSON.stringify([{ oldText: "two", newText: "2" }]);
  await call("edit", { path: "/workspace/a", edits });
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "one\n2\nthree\n");
});

test("OpenCode 1: images and PDFs are attachments", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/dot.png", PIXEL);
  await workspace.fs.writeFile("/workspace/paper.pdf", PDF);
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  const image = await call("read", { path: "/workspace/dot.png" });
  assert.match(image.output, /dot\.png/);
  assert.deepEqual(image.attachments, [
    {
      type: "file",
      mime: "image/png",
      url: `data:image/png;base64,${PIXEL.toString("base64")}`,
      filename: "dot.png",
    },
  ]);
  const paper = await call("read", { path: "/workspace/paper.pdf" });
  assert.equal(paper.attachments[0].url, `data:application/pdf;base64,${PDF.toString("base64")}`);
});

test("OpenCode 1: changes ask its permissions first, with what will change", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\ntwo\n");
  const { call, asked } = await openCode1(createOpenCodePlugin({ workspace, root: "/workspace" }));
  const denied = new Error("The user rejected permission to use this specific tool call.");
  const answer = () => Promise.reject(denied);
  const edits = [{ oldText: "one\ntwo", newText: "1" }];
  for (const [name, args] of [
    ["edit", { path: "a", edits }],
    ["write", { path: "./sub/../b", content: "new\nfile\n" }],
    ["delete", { path: "/workspace/a" }],
  ]) {
    await assert.rejects(call(name, args, { answer }), denied);
  }
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "one\ntwo\n");
  assert.equal(await workspace.fs.exists("/workspace/b"), false);
  const request = (path, diff) => ({
    permission: "edit",
    patterns: [path],
    always: ["*"],
    metadata: { filepath: path, ...(diff && { diff }) },
  });
  assert.deepEqual(asked, [
    request("/workspace/a", "--- /workspace/a\n+++ /workspace/a\n@@ -1,2 +1,1 @@\n-one\n-two\n+1\n"),
    request("/workspace/b", "--- /workspace/b\n+++ /workspace/b\n@@ -0,0 +1,2 @@\n+new\n+file\n"),
    request("/workspace/a"),
  ]);
  // Nobody is asked about a call that is refused anyway.
  await assert.rejects(call("write", { path: "a" }), { code: "EINVAL" });
  assert.equal(asked.length, 3);
});

test("OpenCode 1: what is asked about is the path that is really meant", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await fs.mkdir("/workspace/secret");
  await fs.writeFile("/workspace/secret/x", "one\n");
  await fs.symlink("secret", "/workspace/link");
  await fs.symlink("secret/new", "/workspace/to-new");
  const { call, asked } = await openCode1(createOpenCodePlugin({ workspace }));
  const edits = [{ oldText: "one", newText: "one" }];
  for (const path of ["secret/x", "/workspace/secret/x", "link/x", "./link/../link/x"])
    await call("edit", { path, edits });
  await call("write", { path: "to-new", content: "" });
  await call("write", { path: "link/a/b", content: "" });
  assert.deepEqual(
    asked.map(({ patterns }) => patterns[0]),
    [...Array(4).fill("/workspace/secret/x"), "/workspace/secret/new", "/workspace/secret/a/b"],
  );
});

test("OpenCode 1: what was written while somebody was asked is not replaced", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\n");
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  const answer = () => workspace.fs.writeFile("/workspace/a", "somebody else's\n");
  await assert.rejects(call("write", { path: "/workspace/a", content: "two\n" }, { answer }), { code: "ECONFLICT" });
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "somebody else's\n");
});

test("OpenCode 1: `approve` says which calls ask", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\n");
  const never = await openCode1(createOpenCodePlugin({ workspace, approve: [] }));
  await never.call("write", { path: "/workspace/b", content: "" });
  assert.deepEqual(never.asked, []);
  const some = await openCode1(createOpenCodePlugin({ workspace, approve: ["read", "find", "grep", "ls", "delete"] }));
  await some.call("read", { path: "/workspace/a" });
  await some.call("glob", { pattern: "*" });
  await some.call("grep", { query: "one" });
  await some.call("ls", { path: "/workspace" });
  await some.call("write", { path: "/workspace/b", content: "" });
  await some.call("delete", { path: "/workspace/b" });
  assert.deepEqual(
    some.asked.map(({ permission, patterns }) => [permission, ...patterns]),
    [
      ["read", "/workspace/a"],
      ["glob", "*"],
      ["grep", "one"],
      ["list", "/workspace"],
      ["edit", "/workspace/b"],
    ],
  );
});

test("OpenCode 1: no result is so long that OpenCode cuts it", async (t) => {
  const workspace = open(t);
  const quotes = `${'"'.repeat(60)}\n`.repeat(1500);
  await workspace.fs.writeFile("/workspace/lines", "x\n".repeat(2000));
  await workspace.fs.writeFile("/workspace/quotes", quotes);
  await workspace.fs.writeFile("/workspace/one-line", "word ".repeat(40_000));
  await workspace.fs.mkdir("/workspace/many");
  await workspace.transaction(async (fs) => {
    for (let n = 0; n < 900; n++) await fs.writeFile(`/workspace/many/${"long".repeat(20)}-${n}`, "");
  });
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  for (const [name, args] of [
    ["read", { path: "/workspace/lines" }],
    ["read", { path: "/workspace/quotes" }],
    ["read", { path: "/workspace/one-line" }],
    ["glob", { pattern: "**", limit: 1000 }],
    ["ls", { path: "/workspace/many", limit: 1000 }],
    ["grep", { query: '"', path: "/workspace/quotes", limit: 1000 }],
  ]) {
    const result = await call(name, args);
    assert.equal(result.cut, false, `${name} ${JSON.stringify(args)}: ${result.output.length}`);
  }
  // What was made shorter goes on where it ended.
  const seen = [];
  for (let offset = 0; offset !== undefined; ) {
    const page = JSON.parse(
      (await call("glob", { path: "/workspace/many", pattern: "*", limit: 1000, offset })).output,
    );
    seen.push(...page.entries.map(({ path }) => path));
    offset = page.nextOffset;
  }
  assert.equal(new Set(seen).size, 900);
  assert.equal(seen.length, 900);
});

test("OpenCode 1: an abort ends a call", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\n");
  const { call } = await openCode1(createOpenCodePlugin({ workspace }));
  const reason = new Error("stopped");
  await assert.rejects(call("read", { path: "/workspace/a" }, { signal: AbortSignal.abort(reason) }), reason);
  // While somebody is asked.
  const controller = new AbortController();
  const answer = () => controller.abort(reason);
  const write = call("write", { path: "/workspace/b", content: "" }, { signal: controller.signal, answer });
  await assert.rejects(write, reason);
  assert.equal(await workspace.fs.exists("/workspace/b"), false);
});

test("OpenCode 1: read-only leaves nothing that changes files", async (t) => {
  const plugin = createOpenCodePlugin({ workspace: open(t), readonly: true });
  for (const model of ["claude", "gpt-5"]) {
    const { visible } = await openCode1(plugin, { model });
    assert.deepEqual(visible.toSorted(), ["glob", "grep", "ls", "read"]);
  }
});

test("OpenCode 1: `shell` leaves the shell, and configured permissions stay", async (t) => {
  const workspace = open(t);
  const kept = await openCode1(createOpenCodePlugin({ workspace, shell: true }));
  assert.ok(kept.visible.includes("bash"));
  assert.equal(kept.config.permission, undefined);
  const all = await openCode1(createOpenCodePlugin({ workspace }), { permission: "ask" });
  assert.deepEqual(all.config.permission, { "*": "ask", bash: "deny" });
  const some = await openCode1(createOpenCodePlugin({ workspace }), { permission: { bash: "allow", edit: "ask" } });
  assert.deepEqual(Object.entries(some.config.permission), [
    ["edit", "ask"],
    ["bash", "deny"],
  ]);
  const denied = await openCode1(createOpenCodePlugin({ workspace }), { permission: { edit: "deny" } });
  assert.ok(!denied.visible.includes("edit") && !denied.visible.includes("write"));
});

test("OpenCode 1: without `replace` the tools stand beside its own", async (t) => {
  const workspace = open(t);
  const { visible, call, config } = await openCode1(createOpenCodePlugin({ workspace, replace: false }));
  const own = ["bash", "read", "glob", "grep", "edit", "write"];
  const added = ["read", "ls", "find", "grep", "write", "edit", "delete"].map((name) => `workspace_${name}`);
  assert.deepEqual(visible.toSorted(), [...own, ...added].toSorted());
  assert.equal(config.permission, undefined);
  await call("workspace_write", { path: "/workspace/a", content: "one\n" });
  assert.match((await call("workspace_read", { path: "/workspace/a" })).output, /one/);
});

test("OpenCode 1: `names` gives other names", async (t) => {
  const workspace = open(t);
  const plugin = createOpenCodePlugin({ workspace, names: { edit: "edit_file", find: "find" } });
  const { visible, tools } = await openCode1(plugin);
  assert.ok(visible.includes("edit_file") && visible.includes("find"));
  assert.match(tools.get("write").description, /`edit_file`/);
});

test("OpenCode 1: options may depend on the project", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/project", { recursive: true });
  await workspace.fs.writeFile("/workspace/project/a", "one\n");
  const plugin = createOpenCodePlugin(async ({ directory }, options) => {
    assert.deepEqual(options, {});
    return { workspace, root: `/workspace/${directory.split("/").at(-1)}` };
  });
  const { call } = await openCode1(plugin);
  assert.match((await call("read", { path: "a" })).output, /one/);
});

test("wrong options are refused", async (t) => {
  const workspace = open(t);
  for (const [options, error] of [
    [{}, { code: "ERR_INVALID_ARG_TYPE" }],
    [undefined, { code: "ERR_INVALID_ARG_TYPE" }],
    [{ workspace, rood: "/" }, /rood/],
    [{ workspace, read: 5 }, { code: "ERR_INVALID_ARG_TYPE" }],
    [{ workspace, approve: true }, { code: "ERR_INVALID_ARG_TYPE" }],
    [
      { workspace, approve: ["write", "erase"] },
      { code: "EINVAL", message: /"erase"/ },
    ],
    [
      { workspace, names: { read: "grep" } },
      { code: "EINVAL", message: /one name/ },
    ],
    [
      { workspace, maxOutputBytes: 10 },
      { code: "EINVAL", message: /maxOutputBytes/ },
    ],
  ]) {
    await assert.rejects(createOpenCodePlugin(options)({}), error);
    assert.throws(() => createOpenCodeTransform(options), error);
  }
});

test("OpenCode 1: without @opencode-ai/plugin the plugin says how to install it", (t) => {
  const folder = folderFor(t);
  installAlone(folder);
  writeFileSync(
    join(folder, "use.mjs"),
    `import { Workspace } from "carrel";
import { createOpenCodePlugin } from "carrel/tools/opencode";
await createOpenCodePlugin({ workspace: new Workspace({ storage: ":memory:" }) })({}).catch((error) => console.log(error.message));
`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, ["use.mjs"], { cwd: folder, encoding: "utf8" });
  assert.match(stdout, /npm install @opencode-ai\/plugin/, stderr);
});

test("OpenCode 2: the tools take the place of its own", (t) => {
  const workspace = open(t);
  const { names, tools } = openCode2(createOpenCodeTransform({ workspace }));
  assert.deepEqual(names.toSorted(), ["delete", "edit", "glob", "grep", "ls", "question", "read", "write"]);
  for (const name of names.filter((name) => name !== "question")) {
    const { input, options, description } = tools.get(name);
    assert.equal(input.type, "object");
    assert.equal(options.codemode, false);
    assert.equal(options.permission, { glob: "glob", grep: "grep", ls: "list", read: "read" }[name] ?? "edit");
    assert.doesNotMatch(description, /`find`/);
  }
  assert.ok(openCode2(createOpenCodeTransform({ workspace, shell: true })).names.includes("shell"));
  const beside = openCode2(createOpenCodeTransform({ workspace, replace: false }));
  assert.equal(beside.names.length, 8 + 7);
  const readonly = openCode2(createOpenCodeTransform({ workspace, readonly: true }));
  assert.deepEqual(readonly.names.toSorted(), ["glob", "grep", "ls", "question", "read"]);
});

test("OpenCode 2: a model finds, reads, sees, edits, is refused and is stopped", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a.js", "const a = 1;\n");
  await workspace.fs.writeFile("/workspace/dot.png", PIXEL);
  const { call } = openCode2(createOpenCodeTransform({ workspace }));
  const found = await call("glob", { pattern: "*.js" });
  assert.equal(JSON.parse(found.content[0].text).entries[0].path, "/workspace/a.js");
  assert.match((await call("read", { path: "/workspace/a.js" })).content[0].text, /const a = 1;/);
  const { content } = await call("read", { path: "/workspace/dot.png" });
  assert.equal(content[0].type, "text");
  assert.deepEqual(content[1], {
    type: "file",
    uri: `data:image/png;base64,${PIXEL.toString("base64")}`,
    mime: "image/png",
    name: "dot.png",
  });
  const edits = [{ oldText: "const a = 1;", newText: "const a = 2;" }];
  const edited = await call("edit", { path: "/workspace/a.js", edits });
  assert.equal(edited.metadata.diff, JSON.parse(edited.content[0].text).patch);
  await assert.rejects(call("edit", { path: "/workspace/a.js", edits }), { code: "ENOMATCH" });
  await assert.rejects(call("read", {}), { code: "EINVAL" });
  const reason = new Error("stopped");
  await assert.rejects(call("grep", { query: "a" }, { signal: AbortSignal.abort(reason) }), reason);
});

test("OpenCode 2: a transform may be made anew each time that OpenCode makes its list", async (t) => {
  const workspace = open(t);
  const transform = createOpenCodeTransform({ workspace });
  openCode2(transform);
  const { call } = openCode2(transform);
  await call("write", { path: "/workspace/a", content: "one" });
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "one");
});

test("the plugins of docs/opencode.md load and work", async (t) => {
  const samples = samplesOf("docs/opencode.md");
  assert.equal(samples.length, 3);
  for (const { code } of samples) {
    const folder = folderFor(t);
    const plugins = join(folder, ".opencode", "plugins");
    mkdirSync(plugins, { recursive: true });
    mkdirSync(join(folder, ".opencode", "node_modules"));
    symlinkSync(root, join(folder, ".opencode", "node_modules", "carrel"), "junction");
    writeFileSync(join(plugins, "carrel.mjs"), code);
    // What OpenCode does with the file, in its place.
    writeFileSync(
      join(folder, "host.mjs"),
      `import * as module from "./.opencode/plugins/carrel.mjs";
const tools = new Map();
let cleanup;
for (const plugin of Object.values(module)) {
  if (typeof plugin === "function") {
    const { tool } = await plugin({ directory: "/home/me/project", project: { id: "p1" } });
    for (const [name, one] of Object.entries(tool)) tools.set(name, one);
  } else {
    const editor = { add: (one) => tools.set(one.name, one), remove: () => {} };
    cleanup = await plugin.setup({ tool: { transform: async (callback) => callback(editor) } });
  }
}
const call = (name, input) => tools.get(name).execute(input, { ask: async () => {} });
const path = (await call("ls", { path: "/workspace" }).catch(() => undefined)) ? "/workspace/a" : "a";
await call("write", { path, content: "kept" });
const { output, content } = await call("read", { path });
console.log(output ?? content[0].text);
await cleanup?.();
`,
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, ["host.mjs"], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /kept/);
    assert.ok(readdirSync(join(folder, ".opencode")).includes("agent.db"));
  }
});
