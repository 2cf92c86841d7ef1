// Arguments as models write them: what is meant is taken, all else is refused by the name of its field;
// and the descriptions that they go by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSet } from "carrel/tools";
import { openTools } from "../support/tools.mjs";
import { open, rejection } from "../support/workspace.mjs";

const edits = [{ oldText: "a", newText: "b" }];
const NAMES = ["read", "ls", "find", "grep", "write", "edit", "delete"];

const toolOf = (set, name) => set.tools.find((tool) => tool.name === name);
const validate = (set, name, value) => toolOf(set, name).inputSchema["~standard"].validate(value);

/** Rows of a tool, arguments, and what they mean. */
const MEANT = [
  ["read", { path: "/a", offset: null, limit: null, extra: null }, { path: "/a" }],
  ["read", { path: "/a", offset: "12", limit: " 3 " }, { path: "/a", offset: 12, limit: 3 }],
  ["read", { path: "/a", offset: 12.0, limit: 1e3 }, { path: "/a", offset: 12, limit: 1_000 }],
  ["read", { path: "/a", offset: 3, byteOffset: "10" }, { path: "/a", offset: 3, byteOffset: 10 }],
  ["read", { file_path: "/a" }, { path: "/a" }],
  ["read", { filePath: "/a", path: null }, { path: "/a" }],
  ["read", '{"path":"/a"}', { path: "/a" }],
  ["ls", { path: "/a", limit: 5_000 }, { path: "/a", limit: 1_000 }],
  ["ls", { directory: "/a", offset: "0" }, { path: "/a", offset: 0 }],
  ["find", { pattern: "*.ts", exclude: "node_modules" }, { pattern: "*.ts", exclude: ["node_modules"] }],
  ["find", { pattern: "", exclude: '["a","b"]' }, { pattern: "", exclude: ["a", "b"] }],
  ["find", { pattern: "*", exclude: ["a", "", "  "] }, { pattern: "*", exclude: ["a"] }],
  ["grep", { query: "q", include: "*.ts", regex: "true" }, { query: "q", include: ["*.ts"], regex: true }],
  ["grep", { query: "q", ignoreCase: "FALSE", context: 99 }, { query: "q", ignoreCase: false, context: 10 }],
  ["grep", { query: "q", outputMode: "Files" }, { query: "q", outputMode: "files" }],
  ["grep", { pattern: "q" }, { query: "q" }],
  ["grep", { query: "" }, { query: "" }],
  ["write", { path: "/a", content: "" }, { path: "/a", content: "" }],
  ["write", { path: "/a", content: '{"a":1}' }, { path: "/a", content: '{"a":1}' }],
  ["write", { path: "/a", content: "null" }, { path: "/a", content: "null" }],
  ["edit", { path: "/a", edits }, { path: "/a", edits }],
  ["edit", { path: "/a", edits: edits[0] }, { path: "/a", edits }],
  ["edit", { path: "/a", edits: JSON.stringify(edits) }, { path: "/a", edits }],
  ["edit", { path: "/a", edits: JSON.stringify(edits[0]) }, { path: "/a", edits }],
  ["edit", { path: "/a", edits: edits.map((edit) => JSON.stringify(edit)) }, { path: "/a", edits }],
  ["edit", { path: "/a", ...edits[0] }, { path: "/a", edits }],
  ["edit", { path: "/a", ...edits[0], edits: null }, { path: "/a", edits }],
  ["edit", { file_path: "/a", old_string: "a", new_string: "b" }, { path: "/a", edits }],
  [
    "edit",
    {
      path: "/a",
      edits: [
        { ...edits[0], replaceAll: "true" },
        { ...edits[0], replaceAll: null },
      ],
    },
    { path: "/a", edits: [{ ...edits[0], replaceAll: true }, edits[0]] },
  ],
  [
    "edit",
    { path: "/a", edits: [{ oldText: "a", newText: "" }] },
    { path: "/a", edits: [{ oldText: "a", newText: "" }] },
  ],
  ["delete", { path: "/a", recursive: "true" }, { path: "/a", recursive: true }],
];

test("what is meant is taken", async (t) => {
  const { set } = openTools(t);
  for (const [name, input, value] of MEANT) {
    const told = `${name} ${JSON.stringify(input)}`;
    assert.deepEqual(validate(set, name, input), { value }, told);
    // What is right is taken as it is.
    assert.deepEqual(validate(set, name, value), { value }, told);
  }
});

/** Rows of a tool, arguments, the path of the field that is wrong, and words of the sentence. */
const WRONG = [
  ["read", {}, ["path"], "`path` is missing", "a string"],
  ["read", undefined, ["path"], "`path` is missing"],
  ["read", null, ["path"], "`path` is missing"],
  ["read", [], [], "an object", "the list []"],
  ["read", "/a", [], "an object", 'the string "/a"'],
  ["read", 7, [], "an object", "the number 7"],
  ["read", { path: 7 }, ["path"], "`path` has to be a string", "received the number 7"],
  ["read", { path: ["/a"] }, ["path"], "a string", "the list"],
  ["read", { path: { a: 1 } }, ["path"], "a string", 'the object {"a":1}'],
  ["read", { path: "/a", offset: "first" }, ["offset"], "`offset`", "an integer", 'the string "first"'],
  ["read", { path: "/a", offset: -1 }, ["offset"], "the number -1"],
  ["read", { path: "/a", offset: 1.5 }, ["offset"], "the number 1.5"],
  ["read", { path: "/a", limit: 0 }, ["limit"], "from 1", "the number 0"],
  ["read", { path: "/a", limit: 1e300 }, ["limit"], "an integer"],
  ["read", { path: "/a", limit: true }, ["limit"], "received true"],
  ["read", { path: "/a", byteOffset: 5 }, ["byteOffset"], "`byteOffset` needs `offset`"],
  ["read", { path: "/a", lines: "all" }, ["limit"], "`limit`"],
  ["read", { path: "/a", encoding: "utf8" }, ["encoding"], "no field `encoding`", "`path`, `offset`"],
  ["ls", { path: "/a", limit: 0 }, ["limit"], "from 1"],
  ["find", {}, ["pattern"], "`pattern` is missing"],
  ["find", { pattern: "*", exclude: [1] }, ["exclude"], "a list of strings"],
  ["find", { pattern: "*", exclude: { a: 1 } }, ["exclude"], "a list of strings"],
  ["grep", { query: "q", outputMode: "lines" }, ["outputMode"], '"content", "files", "count"', 'the string "lines"'],
  ["grep", { query: "q", regex: "yes" }, ["regex"], "true or false"],
  ["grep", { query: "q", regex: 1 }, ["regex"], "true or false", "the number 1"],
  ["grep", { query: "q", ignorecase: true }, ["ignorecase"], "no field `ignorecase`", "`ignoreCase`"],
  ["write", { path: "/a" }, ["content"], "`content` is missing"],
  ["write", { path: "/a", content: null }, ["content"], "`content` is missing"],
  ["write", { path: "/a", content: { a: 1 } }, ["content"], "a string", "the object"],
  ["edit", { path: "/a" }, ["edits"], "`edits` is missing"],
  ["edit", { path: "/a", edits: [] }, ["edits"], "`edits` is empty"],
  ["edit", { path: "/a", edits: "no" }, ["edits"], "a list of", 'the string "no"'],
  ["edit", { path: "/a", edits: ["no"] }, ["edits", 0], "`edits[0]`"],
  [
    "edit",
    { path: "/a", edits: [edits[0], { oldText: "x" }] },
    ["edits", 1, "newText"],
    "`edits[1].newText` is missing",
  ],
  ["edit", { path: "/a", edits: [{ oldText: 1, newText: "x" }] }, ["edits", 0, "oldText"], "a string", "the number 1"],
  ["edit", { path: "/a", edits: [{ ...edits[0], all: true }] }, ["edits", 0, "all"], "no field `all`", "`replaceAll`"],
  ["edit", { path: "/a", oldText: "a" }, ["edits", 0, "newText"], "newText"],
  ["delete", { path: "/a", recursive: "all" }, ["recursive"], "true or false"],
  ["delete", { path: "/a", force: true }, ["force"], "no field `force`"],
  ["read", { path: "/a", file_path: "/b" }, ["path"], "`file_path` and `path` are the same field"],
  ["edit", { path: "/a", edits: [{ oldText: "a", newText: "b" }], oldText: "x" }, ["edits"], "put all into `edits`"],
];

test("what is wrong is refused by the name of its field, and nothing is done", async (t) => {
  const { fs, set, refused } = openTools(t);
  await fs.writeFile("/a", "a");
  for (const [name, input, path, ...words] of WRONG) {
    const told = `${name} ${JSON.stringify(input)}`;
    const { issues, value } = validate(set, name, input);
    assert.equal(value, undefined, told);
    assert.deepEqual(issues[0].path, path, told);
    for (const word of words) assert.ok(issues[0].message.includes(word), `${word} is not in: ${issues[0].message}`);
    await refused(name, input, "EINVAL", ...words);
  }
  assert.equal(await fs.readFile("/a", "utf8"), "a");
});

test("all that is wrong is said at once, and long values are cut", async (t) => {
  const { set, refused } = openTools(t);
  const input = { path: 1, limit: "x", other: true };
  assert.deepEqual(
    validate(set, "read", input).issues.map(({ path }) => path[0]),
    ["path", "limit", "other"],
  );
  await refused("read", input, "EINVAL", "`path`", "`limit`", "`other`");
  const { error } = await refused("edit", { path: "/a", edits: "long ".repeat(10_000) }, "EINVAL", "`edits`");
  assert.ok(error.length < 300, error);
});

test("half a character and what JSON cannot say are refused like all that is wrong", async (t) => {
  const { fs, set, refused } = openTools(t);
  await fs.writeFile("/a", "a");
  const circle = { path: "/a" };
  circle.self = circle;
  const rows = [
    ["read", { path: "/a\ud800" }],
    ["write", { path: "/a", content: "cut \ud83d" }],
    ["write", { path: "/a", content: "\ude00 cut" }],
    ["edit", { path: "/a", edits: [{ oldText: "a", newText: "\ud83d" }] }],
    ["read", { path: "/a", offset: 1n }],
    ["read", circle],
  ];
  for (const [name, input] of rows) {
    const { output, isError } = await set.execute(name, input);
    assert.deepEqual([isError, output.code], [true, "EINVAL"]);
    assert.ok(validate(set, name, input).issues[0].message.length > 10);
  }
  assert.equal(await fs.readFile("/a", "utf8"), "a");
  // Whole ones are fine.
  await refused("read", { path: "/\u{1f600}" }, "ENOENT", "/\u{1f600}");
});

test("forgiving forms work when called", async (t) => {
  const { fs, ok } = openTools(t);
  await fs.writeFile("/a", "a b\n");
  const rows = [
    ["edit", { path: "/a", edits: '[{"oldText":"a","newText":"1"}]' }, "1 b\n"],
    ["edit", { file_path: "/a", old_string: "b", new_string: "2" }, "1 2\n"],
    ["edit", '{"path":"/a","edits":{"oldText":"1 ","newText":""}}', "2\n"],
    ["write", { path: "/a", content: "x", ifUnchanged: null }, "x"],
  ];
  for (const [name, input, want] of rows) {
    await ok(name, input);
    assert.equal(await fs.readFile("/a", "utf8"), want);
  }
  assert.equal((await ok("read", { path: "/a", limit: "1", offset: null })).content, "1\tx");
});

test("a tool that is not there is refused with those that are", async (t) => {
  const { workspace, refused } = openTools(t);
  await refused("cat", { path: "/a" }, "EINVAL", '"cat"', NAMES.join(", "));
  const readonly = createToolSet({ workspace, readonly: true });
  assert.deepEqual(
    readonly.tools.map(({ name }) => name),
    NAMES.slice(0, 4),
  );
  for (const name of NAMES.slice(4)) {
    const { output, isError } = await readonly.execute(name, { path: "/a", content: "x", edits });
    assert.deepEqual([isError, output.code], [true, "EINVAL"]);
    assert.ok(output.error.includes("read, ls, find, grep"), output.error);
  }
  assert.equal(await workspace.fs.exists("/a"), false);
});

test("the tools are told of in order, with schemas that every provider takes", async (t) => {
  const workspace = open(t);
  for (const options of [{}, { root: "/workspace" }, { read: { includeLineNumbers: false, maxLines: 10 } }]) {
    const { tools } = createToolSet({ workspace, ...options });
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES,
    );
    for (const { name, title, description, jsonSchema, inputSchema, isReadOnly } of tools) {
      assert.ok(title.length > 5 && description.length > 30, name);
      assert.equal(isReadOnly, NAMES.indexOf(name) < 4);
      checkSchema(jsonSchema, name);
      assert.equal(jsonSchema.type, "object");
      const standard = inputSchema["~standard"];
      assert.deepEqual([standard.version, standard.vendor], [1, "carrel"]);
      assert.deepEqual(standard.jsonSchema.input({ target: "draft-07" }), jsonSchema);
      assert.deepEqual(standard.jsonSchema.output(), jsonSchema);
    }
  }
});

/** Checks a JSON Schema and all within. */
function checkSchema(schema, where) {
  const known = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "minimum",
    "maximum",
    "minItems",
  ];
  assert.deepEqual(
    Object.keys(schema).filter((key) => !known.includes(key)),
    [],
    where,
  );
  assert.equal(typeof schema.type, "string", `${where} has one type`);
  if (schema.type === "object") {
    assert.equal(schema.additionalProperties, false, where);
    for (const name of schema.required) assert.ok(name in schema.properties, `${where}.${name}`);
    for (const [name, field] of Object.entries(schema.properties)) {
      assert.ok(field.description, `${where}.${name} is described`);
      checkSchema(field, `${where}.${name}`);
    }
  }
  if (schema.type === "array") checkSchema(schema.items, `${where}[]`);
}

test("every field of the schemas is taken, and no other", async (t) => {
  const { set } = openTools(t);
  const sample = { string: "content", integer: 5, boolean: true };
  for (const { name, jsonSchema } of set.tools) {
    const sampleOf = (schema) => {
      if (schema.type === "array") return [sampleOf(schema.items)];
      if (schema.type === "object") {
        return Object.fromEntries(Object.entries(schema.properties).map(([key, field]) => [key, sampleOf(field)]));
      }
      return schema.enum?.[0] ?? sample[schema.type];
    };
    const value = sampleOf(jsonSchema);
    assert.deepEqual(validate(set, name, value), { value }, name);
    const [issue] = validate(set, name, { ...value, another: 1 }).issues;
    assert.deepEqual(issue.path, ["another"]);
    // `ls` without a path can only mean one.
    for (const field of name === "ls" ? [] : jsonSchema.required) {
      const { [field]: _, ...rest } = value;
      assert.deepEqual(validate(set, name, rest).issues[0].path, [field], `${name} without ${field}`);
    }
  }
});

test("descriptions say what the options are", async (t) => {
  const workspace = open(t);
  const descriptionOf = (name, options) => toolOf(createToolSet({ workspace, ...options }), name).description;
  assert.match(descriptionOf("read", {}), /2000 lines or 256KB.*number and a tab/);
  assert.doesNotMatch(descriptionOf("read", { read: { includeLineNumbers: false } }), /number and a tab/);
  assert.match(descriptionOf("read", { read: { maxLines: 7, maxBytes: 999 } }), /7 lines or 999B/);
  for (const name of ["find", "grep"]) assert.match(descriptionOf(name, {}), /`\*\*\/`.*\{a,b\}.*[Hh]idden/);
  assert.match(descriptionOf("grep", {}), /RE2|Rust/);
  const path = (options) =>
    toolOf(createToolSet({ workspace, ...options }), "read").jsonSchema.properties.path.description;
  assert.match(path({}), /absolute/);
  assert.match(path({ root: "/workspace/x" }), /relative to \/workspace\/x/);
});

test("options that are wrong are refused when the tools are made", async (t) => {
  const workspace = open(t);
  const rows = [
    [{ read: { maxLines: 0 } }, "EINVAL", "maxLines"],
    [{ read: { maxBytes: "1" } }, "ERR_INVALID_ARG_TYPE", "maxBytes"],
    [{ read: { lines: 3 } }, "EINVAL", "lines"],
    [{ read: { lineTruncation: { bytes: 1, chars: 1 } } }, "EINVAL", "lineTruncation"],
    [{ read: { lineTruncation: {} } }, "EINVAL", "lineTruncation"],
    [{ read: { maxModelBytes: 1.5 } }, undefined, "maxModelBytes"],
    [{ write: { maxBytes: -1 } }, undefined, "maxBytes"],
    [{ edit: { maxDiffLines: 0 } }, "EINVAL", "maxDiffLines"],
    [{ readonly: "yes" }, "ERR_INVALID_ARG_TYPE", "readonly"],
    [{ requireReadBeforeOverwrite: 1 }, "ERR_INVALID_ARG_TYPE", "requireReadBeforeOverwrite"],
    [{ auditTag: 5 }, "ERR_INVALID_ARG_TYPE", "auditTag"],
    [{ root: "/a\0" }, "EINVAL", "NUL"],
    [{ exec: { shell: {} } }, "EINVAL", "exec"],
    [{ unknown: 1 }, "EINVAL", "unknown"],
  ];
  for (const [options, code, word] of rows) {
    assert.throws(
      () => createToolSet({ workspace, ...options }),
      (error) => {
        if (code) assert.equal(error.code, code, error.message);
        assert.ok(error.message.includes(word), error.message);
        return true;
      },
      JSON.stringify(options),
    );
  }
  for (const wrong of [undefined, null, 5, {}, { workspace: {} }]) assert.throws(() => createToolSet(wrong), TypeError);
  assert.ok(createToolSet({ workspace, read: undefined, root: undefined, exec: {} }));
});

test("a call ends with its signal, a change with what it did", async (t) => {
  const { fs, set } = openTools(t);
  const reason = new Error("enough");
  const aborted = AbortSignal.abort(reason);
  for (const name of ["read", "write"]) {
    const call = set.execute(name, { path: "/workspace/a", content: "x" }, { signal: aborted });
    await assert.rejects(call, (error) => error === reason);
  }
  assert.equal(await fs.exists("/workspace/a"), false);

  const controller = new AbortController();
  const writing = set.execute("write", { path: "/workspace/a", content: "x" }, { signal: controller.signal });
  const reading = set.execute("grep", { query: "x" }, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(reading, (error) => error === reason);
  assert.equal((await writing).output.existed, false);
  assert.equal(await fs.readFile("/workspace/a", "utf8"), "x");
  // A signal that is not used does nothing.
  const { isError } = await set.execute("ls", { path: "." }, { signal: new AbortController().signal });
  assert.equal(isError, false);
});

test("after close() every call rejects with ECLOSED", async (t) => {
  const { workspace, set } = openTools(t, {}, { audit: true });
  await workspace.close();
  for (const name of NAMES) {
    const call = set.execute(name, { path: "/workspace/a", content: "x", edits, pattern: "*", query: "x" });
    // With arguments of all tools at once some are wrong for each, which is said first.
    await call.catch(() => {});
  }
  const right = [
    ["read", { path: "/workspace/a" }],
    ["ls", { path: "/workspace" }],
    ["find", { pattern: "*" }],
    ["grep", { query: "x" }],
    ["write", { path: "/workspace/a", content: "x" }],
    ["edit", { path: "/workspace/a", edits }],
    ["delete", { path: "/workspace/a" }],
  ];
  for (const [name, input] of right) await rejection(set.execute(name, input), "ECLOSED");
});
