// `exec` by itself: where it is offered, what it takes, what it tells, and how its runs end.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { createToolBindings, forAISDKTools } from "carrel/modules/tools";
import { createToolSet } from "carrel/tools";
import { approvals, createAITools, createExecTool } from "carrel/tools/ai-sdk";
import { createOpenCodePlugin } from "carrel/tools/opencode";
import { createTanStackTools } from "carrel/tools/tanstack-ai";
import { skip } from "../support/runs.mjs";
import { toolsOver } from "../support/tools.mjs";
import { eventually, open, rejection } from "../support/workspace.mjs";

const FILES = ["read", "ls", "find", "grep", "write", "edit", "delete"];

const workspaceWith = (t, backends, options) => open(t, "memory", { backends, ...options });
const namesOf = (set) => set.tools.map(({ name }) => name);
const execOf = (set) => set.tools.find(({ name }) => name === "exec");

/** A tool set over a workspace with one backend. */
function openExec(t, { backend = {}, tools = {}, workspace: options } = {}) {
  const workspace = workspaceWith(t, [new JavaScriptBackend(backend)], options);
  return { workspace, ...toolsOver(workspace, tools) };
}

describe("where there is exec", () => {
  const two = () => [new JavaScriptBackend({ id: "one" }), new JavaScriptBackend({ id: "two" })];
  for (const [what, backends, options, ids] of [
    ["no backend", () => [], {}, undefined],
    ["one backend", () => [new JavaScriptBackend()], {}, []],
    ["two backends", two, {}, ["one", "two"]],
    ["an empty list", two, { exec: {} }, undefined],
    ["one that is named", two, { exec: { two: {} } }, []],
    ["two that are named, in the order of the workspace", two, { exec: { two: {}, one: {} } }, ["one", "two"]],
    ["tools that only read", two, { readonly: true }, undefined],
    ["tools that only read, and a name", two, { readonly: true, exec: { one: {} } }, undefined],
    ["rules, which code would not heed", two, { rules: [{ path: "**", access: "read" }] }, undefined],
    ["rules, and a name", two, { rules: [{ path: "**", access: "read" }], exec: { one: {} } }, []],
    ["a root", () => [new JavaScriptBackend()], { root: "/workspace" }, []],
  ]) {
    test(`${what}: ${ids ? "yes" : "no"}`, (t) => {
      const set = createToolSet({ workspace: workspaceWith(t, backends()), ...options });
      const reading = options.readonly ? FILES.slice(0, 4) : FILES;
      assert.deepEqual(namesOf(set), ids ? [...reading, "exec"] : reading);
      if (!ids) return;
      const { jsonSchema } = execOf(set);
      assert.deepEqual(jsonSchema.properties.backend?.enum ?? [], ids);
      assert.deepEqual(jsonSchema.required, ids.length > 0 ? ["command", "backend"] : ["command"]);
    });
  }

  for (const [options, code, word] of [
    [{ exec: { three: {} } }, "EINVAL", "three"],
    [{ exec: { one: true } }, "ERR_INVALID_ARG_TYPE", "exec.one"],
    [{ exec: { one: { text: "" } } }, "EINVAL", "text"],
    [{ exec: { one: { description: 1 } } }, "ERR_INVALID_ARG_TYPE", "description"],
    [{ exec: [] }, "ERR_INVALID_ARG_TYPE", "exec"],
    [{ execOutput: { maxLines: 0 } }, "EINVAL", "maxLines"],
    [{ execOutput: { maxBytes: "1" } }, "ERR_INVALID_ARG_TYPE", "maxBytes"],
    [{ execOutput: { keep: 1 } }, "EINVAL", "keep"],
  ]) {
    test(`${JSON.stringify(options)} is refused`, (t) => {
      const workspace = workspaceWith(t, two());
      assert.throws(
        () => createToolSet({ workspace, ...options }),
        (error) => {
          assert.equal(error.code, code, error.message);
          assert.ok(error.message.includes(word), error.message);
          return true;
        },
      );
    });
  }
});

describe("what a model is told", () => {
  test("the words of the program come before those of the backend", (t) => {
    const backends = [new JavaScriptBackend({ id: "one" }), new JavaScriptBackend({ id: "two", access: "read" })];
    const workspace = workspaceWith(t, backends);
    const { description } = execOf(
      createToolSet({ workspace, exec: { one: {}, two: { description: "Only for looking." } } }),
    );
    assert.match(description, /## Backend "one"[\s\S]*## Backend "two"[^#]*\n\nOnly for looking\.\n\nRuns JavaScript/);
    assert.match(description, /EROFS/);
    const limited = createToolSet({ workspace, execOutput: { maxLines: 7, maxBytes: 1536 } });
    assert.match(execOf(limited).description, /last 7 lines or 1\.5KB each/);
  });

  test("a description is made when it is read: tools may be part of what it describes", (t) => {
    const backend = new JavaScriptBackend({
      modules: { "ws:tools": createToolBindings(forAISDKTools(() => tools)) },
    });
    const workspace = workspaceWith(t, [backend]);
    const tools = createAITools({ workspace });
    assert.match(tools.exec.description, /`ws:tools`[\s\S]*`read\({ … }\)`/);
    assert.doesNotMatch(tools.exec.description, /`exec\(/);
    assert.match({ ...tools.exec }.description, /`ws:tools`/);
  });

  test("a model that knows the description alone finds a module, files and the way to a result", {
    skip,
  }, async (t) => {
    const sent = [];
    const notify = Object.assign(([text]) => sent.push(text), { description: "sends a text to the user" });
    const { workspace, set } = openExec(t, {
      backend: { root: "/workspace/data", modules: { "ws:mail": { notify } } },
    });
    await workspace.fs.mkdir("/workspace/data");
    await workspace.fs.writeFile("/workspace/data/numbers.json", "[3, 4, 5]");

    /** Takes everything that it writes from the description. */
    const model = (description) => {
      const find = (pattern) => pattern.exec(description)?.slice(1) ?? assert.fail(`nothing says ${pattern}`);
      const [specifier] = find(/- `(ws:\w+)`/);
      const [send] = find(/- `(\w+)\(\)`: sends a text to the user/);
      const [files] = find(/Files are [^\n]*`(node:fs\/promises)`/);
      const [root] = find(/workspace below `([^`]+)`/);
      const [argument] = find(/called with `(\w+)`/);
      find(/default-exported function/);
      find(/comes back as `result`/);
      return `
        import { readFile } from "${files}";
        import { ${send} } from "${specifier}";
        export default async (${argument}) => {
          const numbers = JSON.parse(await readFile("${root}/" + ${argument}.file, "utf8"));
          const sum = numbers.reduce((sum, number) => sum + number, 0);
          await ${send}(\`The sum is \${sum}\`);
          return { sum };
        };
      `;
    };
    const command = model(execOf(set).description);
    const { output } = await set.execute("exec", { command, input: { file: "numbers.json" } });
    assert.equal(output.stderr, "");
    assert.deepEqual([output.exitCode, output.result], [0, { sum: 12 }]);
    assert.deepEqual(sent, ["The sum is 12"]);
  });
});

describe("a call", { skip }, () => {
  test("takes what other tools call its fields, and what its options mean", async (t) => {
    const { workspace, ok, refused } = openExec(t);
    await workspace.fs.mkdir("/workspace/in");
    const source = "const a: string = process.env.A!; export default (x: object) => [a, x, process.cwd()]";
    const output = await ok("exec", {
      code: source,
      language: "typescript",
      cwd: "in",
      env: { A: "b" },
      input: '{"c":1}',
      timeoutMs: "5000",
    });
    assert.deepEqual(output.result, ["b", { c: 1 }, "/workspace/in"]);
    assert.deepEqual([output.command, output.cwd, output.backend], [source, "in", "javascript"]);
    await refused("exec", {}, "EINVAL", "command");
    await refused("exec", { command: "1", backend: "shell" }, "EINVAL", '"javascript"');
    await refused("exec", { command: "1", input: [1] }, "EINVAL", "input", "an object");
    await refused("exec", { command: "1", timeout: 1 }, "EINVAL", "timeout");
    const { command, cwd, backend } = await refused("exec", { command: "(" }, "ESYNTAX", "Nothing was run");
    assert.deepEqual({ command, cwd, backend }, { command: "(", cwd: null, backend: "javascript" });
    await refused("exec", { command: "1", timeoutMs: 1e12 }, "EINVAL", "timeoutMs");
    await refused("exec", { command: "1", cwd: "/etc" }, "EACCES", "cwd");
  });

  for (const [what, command, input, want] of [
    ["gives a result of nothing as null", "export default () => {}", {}, { exitCode: 0, result: null }],
    ["says what code exits with", "process.exit(4)", {}, { exitCode: 4, reason: "error" }],
    ["says that time was up", "for (;;);", { timeoutMs: 50 }, { exitCode: 124, reason: "timeout" }],
  ]) {
    test(what, async (t) => {
      const { run } = openExec(t);
      const { output, isError, text } = await run("exec", { command, ...input });
      assert.equal(isError, false);
      const { exitCode, reason, result } = output;
      assert.deepEqual({ exitCode, reason, result }, { reason: undefined, result: undefined, ...want });
      const shown = JSON.parse(text);
      assert.equal(shown.exitCode, exitCode);
      assert.equal(shown.command, undefined);
    });
  }

  test("shows what is printed, whole each time, and nothing after its end", async (t) => {
    const { set, workspace } = openExec(t);
    const command = `
      for (let line = 1; line <= 40; line += 1) {
        console.log("line", line);
        await new Promise((done) => setTimeout(done, 10));
      }
    `;
    const shown = [];
    let isOver = false;
    const onUpdate = (output) => {
      assert.equal(isOver, false);
      shown.push(output);
      throw new Error("who looks on does not matter");
    };
    const { output } = await set.execute("exec", { command }, { onUpdate });
    isOver = true;
    assert.ok(shown.length >= 2);
    for (const [index, { stdout, exitCode, id }] of shown.entries()) {
      assert.deepEqual([exitCode, id], [null, output.id]);
      assert.ok(output.stdout.startsWith(stdout), stdout);
      assert.ok(stdout.length > (shown[index - 1]?.stdout.length ?? 0));
    }
    assert.equal(output.stdout.split("\n").length, 41);
    assert.equal((await workspace.runtime.stats()).live, 0);
  });

  test("keeps long output in a file, and a large result out of sight", async (t) => {
    const { workspace, ok } = openExec(t, { tools: { execOutput: { maxBytes: 100 } } });
    const command = "console.log('x'.repeat(300)); console.error('y'); export default () => 'z'.repeat(500)";
    const output = await ok("exec", { command });
    const [, path] = /^x{99}\n\n\n\[Showing last 100B of line 1\. Full output: (\S+)\]$/.exec(output.stdout);
    assert.equal(await workspace.fs.readFile(path, "utf8"), `${"x".repeat(300)}\n`);
    assert.equal(output.stderr, "y\n");
    assert.equal(output.truncated.stdout.path, path);
    assert.equal("result" in output, false);
    assert.match(output.note, /502B as JSON.*100B fit.*z$/);
    const whole = await workspace.runtime.getExec(output.id).then((run) => run.result());
    assert.equal(whole.value, "z".repeat(500));
    // A notice that is written into a file would lose what it stands for.
    const content = output.stdout;
    assert.equal((await toolsOver(workspace).run("write", { path: "/workspace/x", content })).output.code, "EINVAL");
  });

  test("says where output is that its tools cannot read, or that none is kept", async (t) => {
    const command = "console.log(1); console.log(2)";
    const rooted = openExec(t, { tools: { root: "/workspace", execOutput: { maxLines: 1 } } });
    assert.match((await rooted.ok("exec", { command })).stdout, /Full output: \S+, which these tools cannot read\]$/);
    const unkept = openExec(t, { tools: { execOutput: { maxLines: 1 } }, workspace: { output: false } });
    assert.match(
      (await unkept.ok("exec", { command })).stdout,
      /^2\n\n\n\[.*not saved: the workspace keeps no output\]$/,
    );
  });

  test("ends with its signal: before it begins with the reason, later with what the run did", async (t) => {
    const { workspace, set } = openExec(t);
    const reason = new Error("enough");
    const early = set.execute("exec", { command: "1" }, { signal: AbortSignal.abort(reason) });
    await assert.rejects(early, (error) => error === reason);
    const controller = new AbortController();
    const command = 'console.log("begun"); for (;;);';
    const { output, isError } = await set.execute(
      "exec",
      { command },
      { signal: controller.signal, onUpdate: () => controller.abort(reason) },
    );
    assert.equal(isError, false);
    assert.deepEqual([output.exitCode, output.reason, output.stdout], [130, "killed", "begun\n"]);
    assert.deepEqual((await workspace.runtime.stats()).runs, []);
  });

  test("is recorded like others, by what its arguments are", async (t) => {
    const { workspace, run } = openExec(t, { tools: { auditTag: "me" }, workspace: { audit: true } });
    await run("exec", { command: "console.log(1)" });
    await run("exec", { source: "console.log(1)" });
    await run("exec", { command: "(" });
    await run("exec", {});
    const records = await workspace.audit.query({ tool: "exec" });
    assert.deepEqual(
      records.map(({ status, code, tag }) => [status, code, tag]),
      [
        ["ok", undefined, "me"],
        ["ok", undefined, "me"],
        ["error", "ESYNTAX", "me"],
        ["error", "EINVAL", "me"],
      ],
    );
    assert.equal(records[0].argumentsHash, records[1].argumentsHash);
    assert.notEqual(records[0].argumentsHash, records[2].argumentsHash);
  });

  test("is refused inside a transaction, which it would wait for, and after close()", async (t) => {
    const { workspace, run } = openExec(t);
    await workspace.transaction(async () => {
      await rejection(run("exec", { command: "1" }), "EINVAL");
    });
    await workspace.close();
    await rejection(run("exec", { command: "1" }), "ECLOSED");
  });
});

describe("in the AI SDK", { skip }, () => {
  test("calls give what there is to see, and who stops looking stops the run", async (t) => {
    const { workspace } = openExec(t);
    const { exec } = createAITools({ workspace });
    const command = 'console.log("begun"); await new Promise(() => setInterval(() => {}, 1000))';
    for await (const output of exec.execute({ command }, { toolCallId: "1", messages: [] })) {
      assert.deepEqual([output.stdout, output.exitCode], ["begun\n", null]);
      break;
    }
    await eventually(async () => (await workspace.runtime.stats()).live === 0, "the end of the run");
    const outputs = [];
    for await (const output of exec.execute({ command: "export default 1" }, {})) outputs.push(output);
    assert.equal(outputs.at(-1).result, 1);
  });

  test("a call that nobody looks at is made nevertheless, in its turn", async (t) => {
    const { workspace } = openExec(t, { workspace: { audit: true } });
    const { exec, write, read } = createAITools({ workspace });
    const messages = [];
    const write1 = write.execute(
      { path: "/workspace/a.js", content: "console.log('a')" },
      { toolCallId: "1", messages },
    );
    exec.execute(
      { command: 'import "./a.js"; import fs from "node:fs"; fs.writeFileSync("b", "from code")' },
      { toolCallId: "2", messages },
    );
    const { content, error } = await read.execute({ path: "/workspace/b" }, { toolCallId: "3", messages });
    const runs = (await workspace.audit.query({ tool: "exec" })).map(({ status, code }) => code ?? status);
    assert.match(content ?? "", /from code/, `${error}; ${runs}`);
    await write1;
  });

  test("a model is shown the same of an output that was stored", async (t) => {
    const { workspace } = openExec(t);
    const tool = createExecTool({ workspace });
    const input = { command: "console.log(1); export default () => ({ command: 2 })" };
    let output;
    for await (const snapshot of tool.execute(input, {})) output = snapshot;
    const stored = JSON.parse(JSON.stringify(output));
    assert.deepEqual(tool.toModelOutput({ input, output: stored }), {
      type: "json",
      value: { exitCode: 0, stdout: "1\n", stderr: "", result: { command: 2 } },
    });
  });

  test("there is no tool alone without a backend", (t) => {
    const workspace = open(t);
    assert.equal(createAITools({ workspace }).exec, undefined);
    assert.throws(() => createExecTool({ workspace }), { code: "EINVAL" });
  });

  test("nothing runs without the approval that was asked for", async (t) => {
    const { workspace } = openExec(t);
    for (const approve of [["exec"], "mutating"]) {
      const tools = createAITools({ workspace, approve });
      assert.equal(tools.exec.needsApproval, true);
      assert.equal(approvals(tools).exec, "user-approval");
      const outputs = [];
      const command = 'import fs from "node:fs"; fs.writeFileSync("x", "")';
      for await (const output of tools.exec.execute({ command }, { toolCallId: "1", messages: [] }))
        outputs.push(output);
      assert.deepEqual(
        outputs.map(({ code }) => code),
        ["EACCES"],
      );
    }
    assert.equal(await workspace.fs.exists("/workspace/x"), false);
    assert.equal(createAITools({ workspace, approve: ["write"] }).exec.needsApproval, false);
  });

  test("code calls the agent's tools, but for exec", async (t) => {
    const backend = new JavaScriptBackend({
      modules: { "ws:tools": createToolBindings(forAISDKTools(() => tools)) },
    });
    const workspace = workspaceWith(t, [backend]);
    const tools = createAITools({ workspace });
    const command = `
      import * as tools from "ws:tools";
      export default async () => {
        await tools.write({ path: "/workspace/made", content: "by a tool" });
        return [Object.keys(tools), (await tools.read({ path: "/workspace/made" })).details.content];
      };
    `;
    const { output } = await createToolSet({ workspace }).execute("exec", { command });
    assert.deepEqual(output.result?.[0].toSorted(), FILES.toSorted(), output.stderr);
    assert.match(output.result[1], /by a tool/);
  });
});

test("TanStack AI asks before exec where it asks before changes", (t) => {
  const workspace = workspaceWith(t, [new JavaScriptBackend()]);
  const asked = (approve) =>
    createTanStackTools({ workspace, approve })
      .filter(({ needsApproval }) => needsApproval)
      .map(({ name }) => name);
  assert.deepEqual(asked("mutating"), ["write", "edit", "delete", "exec"]);
  assert.deepEqual(asked(["exec"]), ["exec"]);
});

test("OpenCode 1 is asked about the code before it runs, and its shell stays away", { skip }, async (t) => {
  const workspace = workspaceWith(t, [new JavaScriptBackend()]);
  const { tool, config } = await createOpenCodePlugin({ workspace })({}, {});
  const settings = {};
  await config(settings);
  assert.deepEqual(settings.permission, { bash: "deny" });
  const command = 'import fs from "node:fs";\nfs.writeFileSync("x", "")';
  const asked = [];
  const ask = async (request) => {
    asked.push(request);
    throw new Error("no");
  };
  await assert.rejects(tool.exec.execute({ command, cwd: "." }, { ask }), /^Error: no$/);
  assert.equal(await workspace.fs.exists("/workspace/x"), false);
  const want = { permission: "exec", patterns: [command], always: ["*"], metadata: { command, cwd: "." } };
  assert.deepEqual(asked, [want]);
  const { title, metadata } = await tool.exec.execute(
    { command: `${command}; console.log(1)` },
    { ask: async () => {} },
  );
  assert.equal(title, 'import fs from "node:fs";');
  assert.deepEqual(metadata, { output: "1\n", exit: 0 });
  assert.equal(await workspace.fs.exists("/workspace/x"), true);
});
