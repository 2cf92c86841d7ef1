// The MCP server: with the real client, in memory and, as `carrel mcp`, over the pipes of a process.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { Workspace } from "carrel";
import { createMcpServer } from "carrel/tools/mcp";
import { root } from "../support/consumer.mjs";
import { installAlone } from "../support/installed.mjs";
import { testSamples } from "../support/library-samples.mjs";
import { PDF, PIXEL } from "../support/media.mjs";
import { eventually, folderFor, open } from "../support/workspace.mjs";

const cli = join(root, "dist", "cli.js");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const READING = ["read", "ls", "find", "grep"];

/** A client of a server of `workspace`; `call` gives what a tool answers. */
async function connect(t, workspace, options = {}) {
  const server = createMcpServer({ workspace, ...options });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  t.after(() => client.close());
  return { client, server, call: callOf(client) };
}

const callOf = (client) => (name, args, options) => client.callTool({ name, arguments: args }, options);

test("the tools are listed with title, schema and what they may do", async (t) => {
  const { client } = await connect(t, open(t));
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    [...READING, "write", "edit", "delete"],
  );
  for (const { name, title, description, inputSchema, annotations } of tools) {
    const changes = !READING.includes(name);
    assert.ok(title && description);
    assert.equal(inputSchema.type, "object");
    assert.deepEqual(annotations, {
      title,
      readOnlyHint: !changes,
      destructiveHint: changes,
      idempotentHint: name !== "edit",
      openWorldHint: false,
    });
  }
  const edit = tools.find(({ name }) => name === "edit");
  assert.deepEqual(edit.inputSchema.required, ["path", "edits"]);
  assert.equal(edit.inputSchema.properties.edits.type, "array");
});

test("a server names itself and says which files it is about", async (t) => {
  const workspace = open(t);
  const plain = await connect(t, workspace);
  assert.deepEqual(plain.client.getServerVersion(), { name: "carrel", version });
  assert.match(plain.client.getInstructions(), /do not reach the disk of this computer.*Paths are absolute/);
  const named = await connect(t, workspace, { name: "notes", version: "9.9.9", root: "/workspace", readonly: true });
  assert.deepEqual(named.client.getServerVersion(), { name: "notes", version: "9.9.9" });
  assert.match(named.client.getInstructions(), /below \/workspace.*not changed/);
  const silent = await connect(t, workspace, { instructions: "Mine." });
  assert.equal(silent.client.getInstructions(), "Mine.");
});

test("a model finds, reads, edits, is refused, recovers and deletes", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/src", { recursive: true });
  await workspace.fs.writeFile("/workspace/src/a.js", "const a = 1;\nconst b = 2;\n");
  const { call } = await connect(t, workspace);

  const found = await call("find", { pattern: "**/*.js" });
  assert.equal(found.structuredContent.entries[0].path, "/workspace/src/a.js");
  assert.equal(found.content[0].type, "text");
  assert.equal(found.isError, undefined);

  const read = await call("read", { path: "/workspace/src/a.js" });
  assert.match(read.content[0].text, /const a = 1;/);

  const refused = await call("edit", {
    path: "/workspace/src/a.js",
    edits: [{ oldText: "const c = 3;", newText: "const c = 4;" }],
  });
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent.code, "ENOMATCH");
  assert.ok(refused.content[0].text.startsWith(refused.structuredContent.error));
  assert.equal(await workspace.fs.readFile("/workspace/src/a.js", "utf8"), "const a = 1;\nconst b = 2;\n");

  const edited = await call("edit", {
    path: "/workspace/src/a.js",
    edits: [{ oldText: "const b = 2;", newText: "const b = 3;" }],
  });
  assert.equal(edited.structuredContent.editsApplied, 1);
  assert.equal(await workspace.fs.readFile("/workspace/src/a.js", "utf8"), "const a = 1;\nconst b = 3;\n");

  await call("write", { path: "/workspace/new/b.txt", content: "new" });
  assert.equal(await workspace.fs.readFile("/workspace/new/b.txt", "utf8"), "new");
  const searched = await call("grep", { query: "const b" });
  assert.equal(searched.structuredContent.matches[0].line, 2);
  const listed = await call("ls", { path: "/workspace" });
  assert.deepEqual(
    listed.structuredContent.entries.map(({ name }) => name),
    ["new", "src"],
  );
  assert.equal((await call("delete", { path: "/workspace/new/b.txt" })).structuredContent.existed, true);
});

test("wrong arguments and missing files are results with isError, with a sentence and a code", async (t) => {
  const { call } = await connect(t, open(t));
  const missing = await call("read", { path: "/workspace/none" });
  assert.equal(missing.isError, true);
  assert.equal(missing.structuredContent.code, "ENOENT");
  const wrong = await call("read", {});
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /path/);
  assert.equal(wrong.structuredContent.code, "EINVAL");
  assert.equal((await call("read")).isError, true);
});

test("arguments whose meaning is clear are understood", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\ntwo\nthree\n");
  const { call } = await connect(t, workspace);
  const page = await call("read", { path: "/workspace/a", offset: "2", limit: 1, version: null });
  assert.equal(page.structuredContent.startLine, 2);
  const edits = JSON.stringify([{ oldText: "two", newText: "2" }]);
  assert.equal((await call("edit", { path: "/workspace/a", edits })).isError, undefined);
});

test("a whole file is plain text alone, a page is JSON in both forms", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/a", "one\ntwo\n");
  await workspace.fs.writeFile("/workspace/b", "line\n".repeat(3000));
  const { call } = await connect(t, workspace);
  const whole = await call("read", { path: "/workspace/a" });
  assert.match(whole.content[0].text, /one\n/);
  assert.equal(whole.structuredContent, undefined);
  const page = await call("read", { path: "/workspace/b" });
  assert.deepEqual(JSON.parse(page.content[0].text), page.structuredContent);
  assert.equal(page.structuredContent.nextOffset, 2001);
  const rest = await call("read", { path: "/workspace/b", offset: 2001 });
  assert.equal(rest.structuredContent.truncated, false);
});

test("an image is image content and a PDF an embedded resource, without structured content", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/dot.png", PIXEL);
  await workspace.fs.writeFile("/workspace/a paper.pdf", PDF);
  const { call } = await connect(t, workspace);
  const image = await call("read", { path: "/workspace/dot.png" });
  assert.equal(image.content[0].type, "text");
  assert.deepEqual(image.content[1], { type: "image", data: PIXEL.toString("base64"), mimeType: "image/png" });
  assert.equal(image.structuredContent, undefined);
  const paper = await call("read", { path: "/workspace/a paper.pdf" });
  assert.deepEqual(paper.content[1], {
    type: "resource",
    resource: {
      uri: "carrel:///workspace/a%20paper.pdf",
      mimeType: "application/pdf",
      blob: PDF.toString("base64"),
    },
  });
});

test("readonly, root and rules are kept", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/in/secret", { recursive: true });
  await workspace.fs.writeFile("/workspace/in/a", "inside");
  await workspace.fs.writeFile("/workspace/out", "outside");
  await workspace.fs.writeFile("/workspace/in/secret/k", "key");
  const { client, call } = await connect(t, workspace, {
    readonly: true,
    root: "/workspace/in",
    rules: [{ path: "secret/**", access: "none" }],
  });
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    READING,
  );
  assert.match((await call("read", { path: "a" })).content[0].text, /inside/);
  assert.equal((await call("read", { path: "/workspace/out" })).isError, true);
  assert.equal((await call("read", { path: "secret/k" })).isError, true);
});

test("a cancelled call ends at once and the server goes on", async (t) => {
  const workspace = open(t);
  await workspace.fs.writeFile("/workspace/big", Buffer.alloc(8 * 1024 * 1024, "0123456789 abcdef\n"));
  const { call } = await connect(t, workspace);
  const reason = new Error("no longer wanted");
  await assert.rejects(call("read", { path: "/workspace/big" }, { signal: AbortSignal.abort(reason) }));
  const controller = new AbortController();
  const searching = call("grep", { query: "nowhere" }, { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await assert.rejects(searching, /no longer wanted/);
  assert.equal((await call("ls", { path: "/workspace" })).isError, undefined);
});

test("a change that has begun is finished, also for a client that no longer waits", async (t) => {
  const workspace = open(t);
  const { call } = await connect(t, workspace);
  let release;
  let held;
  await new Promise((begun) => {
    held = workspace.transaction(() => {
      begun();
      return new Promise((done) => {
        release = done;
      });
    });
  });
  const controller = new AbortController();
  const writing = call("write", { path: "/workspace/a", content: "whole" }, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("gone")), 50);
  await assert.rejects(writing, /gone/);
  release();
  await held;
  await eventually(() => workspace.fs.exists("/workspace/a"), "the write");
  assert.equal(await workspace.fs.readFile("/workspace/a", "utf8"), "whole");
});

test("many calls at once are answered each", async (t) => {
  const { call } = await connect(t, open(t));
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  await Promise.all(numbers.map((n) => call("write", { path: `/workspace/${n}.txt`, content: `${n}` })));
  const read = await Promise.all(numbers.map((n) => call("read", { path: `/workspace/${n}.txt` })));
  for (const n of numbers) assert.match(read[n].content[0].text, new RegExp(`\\b${n}\\b`));
});

test("a call after workspace.close() says that it is closed", async (t) => {
  const workspace = open(t);
  const { call } = await connect(t, workspace);
  await workspace.close();
  const late = await call("ls", { path: "/workspace" });
  assert.equal(late.isError, true);
  assert.match(late.content[0].text, /ECLOSED/);
});

test("wrong options are refused when the server is made", (t) => {
  const workspace = open(t);
  assert.throws(() => createMcpServer(), { code: "ERR_INVALID_ARG_TYPE" });
  assert.throws(() => createMcpServer({}), { code: "ERR_INVALID_ARG_TYPE" });
  assert.throws(() => createMcpServer({ workspace, rood: "/workspace" }), /rood/);
});

// The command ------------------------------------------------------------------------------------

/** A client of `carrel mcp` with these arguments, in a process of its own. */
async function serve(t, args, options = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, "mcp", ...args],
    stderr: "pipe",
    ...options,
  });
  let told = "";
  transport.stderr.on("data", (data) => {
    told += data;
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  t.after(() => client.close());
  return { client, transport, call: callOf(client), told: () => told };
}

/** Runs the command to its end. */
async function run(args, { input = "", ...options } = {}) {
  const child = spawn(process.execPath, [cli, ...args], { ...options, stdio: "pipe" });
  child.stdin.end(input);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const [status, signal] = await once(child, "close");
  return { status, signal, stdout, stderr };
}

/** A workspace in a file with one note in it; gives the file's path. */
async function stored(t) {
  const path = join(folderFor(t), "agent.db");
  const workspace = new Workspace({ storage: path });
  await workspace.fs.writeFile("/workspace/note.md", "a note\n");
  await workspace.close();
  return path;
}

test("carrel mcp serves a workspace on standard input and output", async (t) => {
  const path = await stored(t);
  const { client, call, told } = await serve(t, [path]);
  assert.deepEqual(client.getServerVersion(), { name: "carrel", version });
  assert.match((await call("read", { path: "/workspace/note.md" })).content[0].text, /a note/);
  await call("write", { path: "/workspace/more.md", content: "more" });
  await client.close();
  assert.equal(told(), "");
  const workspace = new Workspace({ storage: path });
  t.after(() => workspace.close());
  assert.equal(await workspace.fs.readFile("/workspace/more.md", "utf8"), "more");
});

test("a write of two million characters passes the pipe", async (t) => {
  const { call } = await serve(t, [await stored(t)]);
  const content = '"quoted"\n'.repeat(220_000);
  assert.equal((await call("write", { path: "/workspace/large", content })).isError, undefined);
});

test("several clients use one file at the same time", async (t) => {
  const path = await stored(t);
  const [one, two] = await Promise.all([serve(t, [path]), serve(t, [path])]);
  await one.call("write", { path: "/workspace/x", content: "of the first" });
  assert.match((await two.call("read", { path: "/workspace/x" })).content[0].text, /of the first/);
});

test("--readonly offers nothing that changes, --root confines", async (t) => {
  const path = await stored(t);
  const reader = await serve(t, [path, "--readonly"]);
  assert.deepEqual(
    (await reader.client.listTools()).tools.map(({ name }) => name),
    READING,
  );
  const confined = await serve(t, [path, "--root", "/workspace"]);
  assert.match((await confined.call("read", { path: "note.md" })).content[0].text, /a note/);
  assert.equal((await confined.call("ls", { path: "/" })).isError, true);
});

test("--audit and --tag leave a record of who called", async (t) => {
  const path = await stored(t);
  const { client, call } = await serve(t, [path, "--audit", "--tag", "desk"]);
  await call("read", { path: "/workspace/note.md" });
  await client.close();
  const workspace = new Workspace({ storage: path });
  t.after(() => workspace.close());
  const records = await workspace.audit.query({});
  assert.deepEqual(
    records.map(({ tool, tag, status }) => ({ tool, tag, status })),
    [{ tool: "read", tag: "desk", status: "ok" }],
  );
});

test("a workspace is made only with --create", async (t) => {
  const path = join(folderFor(t), "deep", "agent.db");
  const refused = await run(["mcp", path]);
  assert.equal(refused.status, 1);
  assert.equal(refused.stderr, `carrel: there is no workspace at ${path}; pass --create to make one\n`);
  assert.equal(existsSync(path), false);
  const { call } = await serve(t, [path, "--create", "--root", "/workspace/project", "--durability", "normal"]);
  assert.equal((await call("write", { path: "a", content: "1" })).isError, undefined);
  assert.equal(existsSync(path), true);
  const again = await run(["mcp", path, "--create"]);
  assert.equal(again.status, 0, again.stderr);
});

test("what cannot be served is told on standard error, with an exit code", async (t) => {
  const folder = folderFor(t);
  const path = await stored(t);
  const other = join(folder, "other.txt");
  writeFileSync(other, "this is no database, and longer than the header of one would be".repeat(10));
  const cases = [
    [["mcp", other], 1, /EIO/],
    [["mcp", folder], 1, /EISDIR/],
    [["mcp", path, "--root", "/nowhere"], 1, /there is no directory \/nowhere in the workspace/],
    [["mcp", path, "--root", "/workspace/note.md"], 1, /is no directory/],
    [["mcp", path, "--root", "workspace"], 2, /--root is an absolute path of the workspace, not "workspace"/],
    [[], 2, /a command is missing; see carrel --help/],
    [["serve"], 2, /there is no command "serve"/],
    [["mcp"], 2, /the file of the workspace is missing/],
    [["mcp", path, "extra"], 2, /"extra" is one argument too many/],
    [["mcp", path, "--read-only"], 2, /--read-only/],
    [["mcp", path, "--durability", "some"], 2, /full, normal or off, not "some"/],
    [["mcp", path, "--create", "--readonly"], 2, /exclude each other/],
    [["mcp", path, "--audit", "--readonly"], 2, /--audit/],
  ];
  for (const [args, status, sentence] of cases) {
    const outcome = await run(args);
    assert.equal(outcome.status, status, `${args.join(" ")}: ${outcome.stderr}`);
    assert.equal(outcome.stdout, "");
    assert.match(outcome.stderr, sentence);
    assert.match(outcome.stderr, /^carrel: .+\n$/, "one sentence, no stack");
  }
});

test("--help and --version print to standard output", async () => {
  for (const args of [["--help"], ["-h"], ["mcp", "--help"]]) {
    const { status, stdout, stderr } = await run(args);
    assert.deepEqual([status, stderr], [0, ""]);
    for (const option of ["--create", "--readonly", "--root", "--tag", "--audit", "--durability"]) {
      assert.match(stdout, new RegExp(`  ${option}`));
    }
  }
  assert.deepEqual(await run(["--version"]), { status: 0, signal: null, stdout: `${version}\n`, stderr: "" });
});

test("the end of the input ends the process", async (t) => {
  const outcome = await run(["mcp", await stored(t)]);
  assert.deepEqual(outcome, { status: 0, signal: null, stdout: "", stderr: "" });
});

test("what is no protocol is told on standard error and does not end the process", async (t) => {
  const outcome = await run(["mcp", await stored(t)], { input: "hello?\n" });
  assert.equal(outcome.status, 0);
  assert.equal(outcome.stdout, "");
});

for (const name of ["SIGINT", "SIGTERM"]) {
  test(`${name} ends the process, with what was written kept`, { skip: process.platform === "win32" }, async (t) => {
    const path = await stored(t);
    const child = spawn(process.execPath, [cli, "mcp", path], { stdio: ["pipe", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    const ask = (id, method, params) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const client = { name: "test", version: "1" };
    ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
    await once(child.stdout, "data");
    ask(2, "tools/call", { name: "write", arguments: { path: "/workspace/kept", content: "kept" } });
    await once(child.stdout, "data");
    child.kill(name);
    assert.deepEqual(await once(child, "close"), [0, null]);
    const workspace = new Workspace({ storage: path });
    t.after(() => workspace.close());
    assert.equal(await workspace.fs.readFile("/workspace/kept", "utf8"), "kept");
  });
}

test("a client that dies takes the server with it", async (t) => {
  const path = await stored(t);
  const child = spawn(process.execPath, [cli, "mcp", path], { stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  child.stdout.destroy();
  child.stderr.destroy();
  child.stdin.destroy();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("without @modelcontextprotocol/server, carrel mcp says how to install it", async (t) => {
  const folder = folderFor(t);
  installAlone(folder);
  const child = spawn(process.execPath, [join(folder, "node_modules", "carrel", "dist", "cli.js"), "mcp", "agent.db"], {
    cwd: folder,
  });
  child.stdin.end();
  const [told] = await Promise.all([once(child.stderr, "data").then(String), once(child, "close")]);
  assert.equal(child.exitCode, 1);
  assert.match(told, /^carrel: .*npm install @modelcontextprotocol\/server@2.*\n$/);
});

// The documentation ------------------------------------------------------------------------------

const page = readFileSync(join(root, "docs", "mcp.md"), "utf8");

testSamples("docs/mcp.md", ["@modelcontextprotocol/client", "@modelcontextprotocol/server"], () => ({}));

test("the client configurations of docs/mcp.md start the command", async (t) => {
  const path = await stored(t);
  const configurations = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json]) => JSON.parse(json));
  assert.equal(configurations.length, 3);
  for (const configuration of configurations) {
    const { command, args = [] } = Object.values(Object.values(configuration)[0])[0];
    const words = [command, ...args].flat();
    const own = words.slice(words.lastIndexOf("carrel") + 1);
    assert.equal(own[0], "mcp");
    const outcome = await run(own.map((word) => (word === "/home/me/agent.db" ? path : word)));
    assert.deepEqual([outcome.status, outcome.stderr], [0, ""]);
  }
});

test("docs/mcp.md lists the options that the command has", async () => {
  const { stdout } = await run(["--help"]);
  const options = (text) => [...new Set(text.match(/--[a-z]+/g))].sort();
  const table = [...page.matchAll(/^\| `-.*$/gm)].map(([row]) => row.split("|")[1]).join();
  assert.deepEqual(options(table), options(stdout));
});

test("a message that is too long ends the server with an exit code, and no line on standard error is long", async (t) => {
  const path = join(folderFor(t), "agent.db");
  const child = spawn(process.execPath, [cli, "mcp", path, "--create"], { stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  // It stops reading in the middle.
  child.stdin.on("error", () => {});
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    told += text;
  });
  child.stdin.write(`{"jsonrpc":"2.0","wrong":"${"y".repeat(5000)}"}\n`);
  child.stdin.write("x".repeat(17 * 1024 * 1024));
  assert.deepEqual(await once(child, "exit"), [1, null], told);
  assert.match(told, /maximum size/);
  for (const line of told.split("\n")) assert.ok(line.length < 400, line);
});
