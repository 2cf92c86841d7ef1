// Tools as a module of functions: names, arguments, and who may call what. The functions are called here
// as the runtime calls them: with one list of arguments, and a context.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolBindings, forAISDKTools, forPiTools } from "carrel/modules/tools";
import { createAITools } from "carrel/tools/ai-sdk";
import { createPiTools } from "carrel/tools/pi-ai";
import { open } from "../support/workspace.mjs";

const context = (more) => ({ signal: new AbortController().signal, access: "read-write", ...more });

/** A tool that says what it was called with. */
const echo = (name, more) => ({
  name,
  readOnly: false,
  call: async (input) => ({ text: JSON.stringify(input), isError: false }),
  ...more,
});

test("names become those of functions", () => {
  const names = ["list-files", "a.b c", "9x", "é!", "default", "then", "__proto__", "delete", "$x_1"];
  const functions = createToolBindings(names.map((name) => echo(name)))();
  assert.deepEqual(Object.keys(functions), [
    "list_files",
    "a_b_c",
    "_9x",
    "_",
    "default_",
    "then_",
    "__proto___",
    "delete",
    "$x_1",
  ]);
});

test("two tools of one name are refused, by both names", () => {
  const factory = createToolBindings([echo("a-b"), echo("a.b")]);
  assert.throws(factory, { code: "EINVAL", message: /"a-b" and "a.b".* a_b/ });
});

test("exec is left out, unless something else is", () => {
  const tools = [echo("exec"), echo("read")];
  assert.deepEqual(Object.keys(createToolBindings(tools)()), ["read"]);
  assert.deepEqual(Object.keys(createToolBindings(tools, { exclude: ["read"] })()), ["exec"]);
  assert.deepEqual(Object.keys(createToolBindings([])()), []);
});

for (const [what, args, want] of [
  ["one object", [{ a: 1 }], '{"a":1}'],
  ["nothing", [], "{}"],
  ["undefined", [undefined], "{}"],
  ["an object without prototype", [Object.assign(Object.create(null), { a: 1 })], '{"a":1}'],
  ["null", [null], undefined],
  ["a list", [[1]], undefined],
  ["a text", ["a"], undefined],
  ["two objects", [{}, {}], undefined],
  ["a date", [new Date(0)], undefined],
]) {
  test(`${what} ${want ? `is passed as ${want}` : "is refused"}`, async () => {
    const { tool } = createToolBindings([echo("tool")])();
    if (want) assert.equal((await tool(args, context())).text, want);
    else
      await assert.rejects(tool(args, context()), {
        name: "TypeError",
        message: "tool takes one object with its arguments, or nothing",
      });
  });
}

test("where files may not be changed, only tools that change nothing run, and others do not begin", async () => {
  let calls = 0;
  const call = async () => {
    calls += 1;
    return { text: "", isError: false };
  };
  const { reads, writes, unknown } = createToolBindings([
    echo("reads", { readOnly: true, call }),
    echo("writes", { call }),
    echo("unknown", { readOnly: undefined, call }),
  ])();
  const readOnly = context({ access: "read" });
  await reads([], readOnly);
  await assert.rejects(writes([], readOnly), { code: "EROFS" });
  await assert.rejects(unknown([], readOnly), { code: "EROFS" });
  assert.equal(calls, 1);
});

test("an aborted call does not begin, and the signal reaches the tool", async () => {
  const seen = [];
  const { tool } = createToolBindings([
    echo("tool", {
      call: async (_, { signal }) => {
        seen.push(signal);
        return { text: "", isError: false };
      },
    }),
  ])();
  const reason = new Error("enough");
  await assert.rejects(tool([], context({ signal: AbortSignal.abort(reason) })), reason);
  const given = context();
  await tool([], given);
  assert.deepEqual(seen, [given.signal]);
});

test("a function gives the tools of the moment, to the module and to the description", () => {
  let tools = [echo("one", { description: "first" })];
  const factory = createToolBindings(() => tools, { description: "Tools" });
  assert.match(factory.description, /^Tools\..*\n {2}- `one\({ … }\)`: first$/);
  tools = [echo("two")];
  assert.deepEqual(Object.keys(factory()), ["two"]);
  assert.match(factory.description, /`two/);
});

for (const [what, make] of [
  ["no list", () => createToolBindings(5)],
  ["nothing", () => createToolBindings()],
  ["exclude that is no list", () => createToolBindings([], { exclude: "exec" })],
  ["a description that is no text", () => createToolBindings([], { description: 5 })],
]) {
  test(`${what} is refused`, () => assert.throws(make, { code: "ERR_INVALID_ARG_TYPE" }));
}

for (const [library, bindings] of [
  ["the AI SDK", (workspace) => forAISDKTools(createAITools({ workspace }))],
  ["Pi", (workspace) => forPiTools(createPiTools({ workspace }))],
]) {
  test(`the file tools of ${library} work, and those that change nothing also where nothing may be changed`, async (t) => {
    const workspace = open(t);
    const { write, read, edit, find } = createToolBindings(bindings(workspace))();
    const written = await write([{ path: "/workspace/a.txt", content: "one\n" }], context());
    assert.equal(written.isError, false, written.text);
    const readOnly = context({ access: "read" });
    assert.match((await read([{ path: "/workspace/a.txt" }], readOnly)).text, /one/);
    assert.match((await find([{ pattern: "**" }], readOnly)).text, /a\.txt/);
    await assert.rejects(edit([{ path: "/workspace/a.txt", edits: [] }], readOnly), { code: "EROFS" });
    const missing = await read([{ path: "/workspace/b.txt" }], context());
    assert.equal(missing.isError, true);
    assert.match(missing.text, /b\.txt/);
  });
}
