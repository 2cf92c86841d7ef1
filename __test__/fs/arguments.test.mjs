// Wrong arguments: each is rejected with a class, a code and a sentence, none is thrown, and
// nothing is written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Workspace, WorkspaceError } from "carrel";
import { open, treeOf } from "../support/workspace.mjs";

/** Calls a method; it may not throw by itself. Returns the reason of its rejection. */
async function refusal(call, fs) {
  let promise;
  assert.doesNotThrow(() => {
    promise = call(fs);
  });
  assert.equal(typeof promise?.then, "function");
  return promise.then(
    (value) => assert.fail(`it resolved with ${String(value)}`),
    (reason) => reason,
  );
}

/** A `TypeError` as Node has it, with a sentence that names the argument. */
function checkType(error, name) {
  assert.ok(error instanceof TypeError, `${error?.stack}`);
  assert.equal(error.code, "ERR_INVALID_ARG_TYPE", error.stack);
  assert.match(error.message, /^[^{]+ must (be|deliver) .+/);
  assert.ok(error.message.includes(name), `"${error.message}" does not name ${name}`);
}

/** A `WorkspaceError` with a sentence. */
function checkValue(error, code, sentence = /\w+ \w+/) {
  assert.ok(error instanceof WorkspaceError, `${error?.stack}`);
  assert.equal(error.code, code, error.stack);
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  assert.match(error.message, sentence);
  assert.equal(typeof error.syscall, "string");
  assert.ok(error.errno < 0);
}

/** What is no string, no number, no flag and no object of options. */
const ODDITIES = [Symbol("s"), 1n, () => {}, ["/f"], new Date(0)];
const NO_STRINGS = [...ODDITIES, 1, true, {}, new URL("file:///f"), Buffer.from("/f")];

/** Runs `check` for each case against one workspace and sees that it stays as it is. */
function table(name, cases) {
  test(name, async (t) => {
    const workspace = open(t);
    await workspace.fs.mkdir("/d/e", { recursive: true });
    await workspace.fs.writeFile("/f", "old");
    await workspace.fs.symlink("f", "/l");
    const state = async () => ({ ...(await treeOf(workspace.fs, "/")), ...(await workspace.fs.statfs()) });
    const before = await state();
    let count = 0;
    for (const [label, check] of cases()) {
      try {
        await check(workspace.fs, workspace);
      } catch (error) {
        error.message = `${label}: ${error.message}`;
        throw error;
      }
      assert.deepEqual(await state(), before, label);
      count += 1;
    }
    assert.ok(count > 0);
    assert.deepEqual((await workspace.check()).problems, []);
  });
}

const label = (...values) => values.map((value) => (typeof value === "symbol" ? "a symbol" : String(value))).join(" ");

/** Every method that takes a path, by the name of that argument. The files named are there. */
const PATHS = {
  "readFile path": (fs, path) => fs.readFile(path),
  "readFile text path": (fs, path) => fs.readFile(path, "utf8"),
  "writeFile path": (fs, path) => fs.writeFile(path, "new"),
  "writeFile stream path": (fs, path) => fs.writeFile(path, new Blob(["new"])),
  "appendFile path": (fs, path) => fs.appendFile(path, "new"),
  "appendFile stream path": (fs, path) => fs.appendFile(path, new Blob(["new"]).stream()),
  "mkdir path": (fs, path) => fs.mkdir(path),
  "mkdir recursive path": (fs, path) => fs.mkdir(path, { recursive: true }),
  "readdir path": (fs, path) => fs.readdir(path),
  "readdir recursive path": (fs, path) => fs.readdir(path, { recursive: true }),
  "stat path": (fs, path) => fs.stat(path),
  "lstat path": (fs, path) => fs.lstat(path),
  "exists path": (fs, path) => fs.exists(path),
  "access path": (fs, path) => fs.access(path),
  "rm path": (fs, path) => fs.rm(path),
  "rm force path": (fs, path) => fs.rm(path, { recursive: true, force: true }),
  "rename oldPath": (fs, path) => fs.rename(path, "/new"),
  "rename newPath": (fs, path) => fs.rename("/f", path),
  "symlink path": (fs, path) => fs.symlink("f", path),
  "readlink path": (fs, path) => fs.readlink(path),
  "link existingPath": (fs, path) => fs.link(path, "/new"),
  "link newPath": (fs, path) => fs.link("/f", path),
  "realpath path": (fs, path) => fs.realpath(path),
  "chmod path": (fs, path) => fs.chmod(path, 0o600),
  "utimes path": (fs, path) => fs.utimes(path, 1, 1),
  "truncate path": (fs, path) => fs.truncate(path),
  "copyFile source": (fs, path) => fs.copyFile(path, "/new"),
  "copyFile destination": (fs, path) => fs.copyFile("/f", path),
  "cp source": (fs, path) => fs.cp(path, "/new"),
  "cp destination": (fs, path) => fs.cp("/f", path),
  "cp filter source": (fs, path) => fs.cp(path, "/new", { filter: () => true }),
  "cp filter destination": (fs, path) => fs.cp("/f", path, { filter: () => true }),
  "statfs path": (fs, path) => fs.statfs(path),
  "find directory": (fs, path) => fs.find(path),
  "ls prefix": (fs, path) => fs.ls(path),
  "grep path": (fs, path) => fs.grep("old", path),
  "watch path": (fs, path) => fs.watch(path).next(),
};

const BAD_PATHS = [
  ["", "EINVAL", /empty/],
  ["f", "EINVAL", /must be absolute/],
  ["./f", "EINVAL", /must be absolute/],
  [" /f", "EINVAL", /must be absolute/],
  ["\\f", "EINVAL", /must be absolute/],
  ["/..", "EINVAL", /escapes the root/],
  ["/d/../../f", "EINVAL", /escapes the root/],
  ["/f\0", "EINVAL", /NUL/],
  ["/\ud800", "EINVAL", /lone surrogate/],
  ["/\udc00f\ufffd", "EINVAL", /lone surrogate/],
  [`/${"n".repeat(256)}`, "ENAMETOOLONG", /name too long/],
  [`/${"\u00e9".repeat(128)}`, "ENAMETOOLONG", /name too long/],
  ["/abc".repeat(1025), "ENAMETOOLONG", /name too long/],
];

table("a path of a wrong type is a TypeError that names it", function* () {
  for (const [name, call] of Object.entries(PATHS)) {
    const missing = name === "statfs path" ? [] : [undefined, null];
    for (const value of [...NO_STRINGS, ...missing]) {
      yield [
        label(name, value),
        async (fs) => checkType(await refusal((fs) => call(fs, value), fs), name.split(" ").at(-1)),
      ];
    }
  }
});

table("a path that is none is refused with the reason", function* () {
  for (const [name, call] of Object.entries(PATHS)) {
    for (const [path, code, sentence] of BAD_PATHS) {
      yield [
        label(name, JSON.stringify(path).slice(0, 40)),
        async (fs) => checkValue(await refusal((fs) => call(fs, path), fs), code, sentence),
      ];
    }
  }
});

// Kinds of options: values of a wrong type, and values of the right type that are not allowed.
const COUNT = { types: ["1", true, {}, ...ODDITIES], values: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53] };
const MODE = { types: COUNT.types, values: [...COUNT.values, 2 ** 32] };
const FLAG = { types: ["true", "", 1, 0, {}, ...ODDITIES], values: [] };
const TEXT = { types: NO_STRINGS.filter((value) => !Array.isArray(value)).concat([[]]), values: ["\ud800"] };
const GLOBS = { types: [1, true, {}, Symbol("s"), () => {}, [1], ["a", null]], values: ["\ud800", ["\udfff"]] };
const SIGNAL = { types: [1, "s", {}, true, () => {}], values: [] };
const ENCODING = {
  types: NO_STRINGS.filter((value) => !Array.isArray(value)).concat([[]]),
  values: ["", "latin1", "base64", "hex", "utf16le", "ascii", "binary", "buffer", "utf8 ", "utf\u20118"],
};
const FUNCTION = { types: [1, "f", {}, [], true], values: [] };
/** Numbers of a range: those outside it. */
const upTo = (max) => ({ types: COUNT.types, values: [...COUNT.values, max + 1] });

/** Every method with options, and what each option may be. */
const OPTIONS = {
  readFile: [(fs, o) => fs.readFile("/f", o), { encoding: ENCODING, byteOffset: COUNT, byteLength: COUNT }],
  writeFile: [(fs, o) => fs.writeFile("/new", "x", o), { mode: MODE, exclusive: FLAG, signal: SIGNAL }],
  "writeFile stream": [
    (fs, o) => fs.writeFile("/new", new Blob(["x"]), o),
    { mode: MODE, exclusive: FLAG, signal: SIGNAL },
  ],
  appendFile: [(fs, o) => fs.appendFile("/f", "x", o), { mode: MODE, signal: SIGNAL }],
  "appendFile stream": [(fs, o) => fs.appendFile("/f", new Blob(["x"]), o), { mode: MODE, signal: SIGNAL }],
  mkdir: [(fs, o) => fs.mkdir("/new", o), { recursive: FLAG, mode: MODE }],
  readdir: [(fs, o) => fs.readdir("/", o), { recursive: FLAG, limit: COUNT, offset: COUNT }],
  rm: [(fs, o) => fs.rm("/f", o), { recursive: FLAG, force: FLAG }],
  copyFile: [(fs, o) => fs.copyFile("/f", "/new", o), { exclusive: FLAG }],
  cp: [
    (fs, o) => fs.cp("/f", "/new", o),
    {
      recursive: FLAG,
      force: FLAG,
      errorOnExist: FLAG,
      dereference: FLAG,
      preserveTimestamps: FLAG,
      filter: FUNCTION,
    },
  ],
  find: [(fs, o) => fs.find("/", "**", o), { exclude: GLOBS, limit: COUNT, offset: COUNT }],
  grep: [
    (fs, o) => fs.grep("old", "/", o),
    {
      regex: FLAG,
      ignoreCase: FLAG,
      context: upTo(1000),
      include: TEXT,
      exclude: GLOBS,
      limit: COUNT,
      offset: COUNT,
    },
  ],
  watch: [(fs, o) => fs.watch("/", o).next(), { recursive: FLAG, signal: SIGNAL, since: TEXT }],
};

table("an option of a wrong type is a TypeError that names it", function* () {
  for (const [method, [call, options]] of Object.entries(OPTIONS)) {
    for (const [option, { types }] of Object.entries(options)) {
      for (const value of types) {
        yield [
          label(method, option, value),
          async (fs) => checkType(await refusal((fs) => call(fs, { [option]: value }), fs), option),
        ];
      }
    }
  }
});

table("an option with a value that is not allowed is refused by name", function* () {
  for (const [method, [call, options]] of Object.entries(OPTIONS)) {
    for (const [option, { values }] of Object.entries(options)) {
      for (const value of values) {
        yield [
          label(method, option, value),
          async (fs) =>
            checkValue(await refusal((fs) => call(fs, { [option]: value }), fs), "EINVAL", new RegExp(option)),
        ];
      }
    }
  }
});

table("an option that does not exist is refused by name", function* () {
  for (const [method, [call, options]] of Object.entries(OPTIONS)) {
    const known = Object.keys(options)[0];
    for (const name of ["flag", known.toUpperCase(), `${known} `, "\u{1f600}", "0"]) {
      yield [
        label(method, name),
        async (fs) =>
          checkValue(
            await refusal((fs) => call(fs, { [name]: true }), fs),
            "EINVAL",
            new RegExp(`no option '${name}'; the options are .*${known}`),
          ),
      ];
    }
  }
});

table("options that are no object are a TypeError", function* () {
  for (const [method, [call]] of Object.entries(OPTIONS)) {
    for (const value of [1, true, Symbol("s"), 1n, () => {}, ["utf8"], ...(method === "readFile" ? [] : ["utf8"])]) {
      yield [label(method, value), async (fs) => checkType(await refusal((fs) => call(fs, value), fs), "options")];
    }
  }
});

table("an option that throws when it is read fails the call", function* () {
  for (const [method, [call, options]] of Object.entries(OPTIONS)) {
    for (const option of Object.keys(options)) {
      const hostile = {
        get [option]() {
          throw new RangeError("not today");
        },
      };
      yield [
        label(method, option),
        async (fs) => assert.match((await refusal((fs) => call(fs, hostile), fs)).message, /not today/),
      ];
    }
  }
});

test("options that are undefined or null are not given", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "one\n", { mode: undefined, exclusive: null, signal: undefined });
  for (const nothing of [undefined, null, {}, Object.create(null)]) {
    await fs.writeFile("/f", "one\n", nothing);
    await fs.appendFile("/f", "", nothing);
    await fs.mkdir("/d", nothing);
    await fs.readdir("/", nothing);
    assert.equal(typeof (await fs.readFile("/f", nothing)).getReader, "function");
    await fs.rm("/d", nothing);
    await fs.copyFile("/f", "/g", nothing);
    await fs.cp("/f", "/h", nothing);
    assert.equal((await fs.find("/", undefined, nothing)).length, 4);
    assert.equal((await fs.find("/", null, nothing)).length, 4);
    assert.equal((await fs.grep("one", "/", nothing)).length, 3);
  }
  await fs.cp("/f", "/i", { filter: null, recursive: null, force: undefined });
  await fs.rm("/i", { recursive: null });
  assert.equal((await fs.readdir("/", { limit: null, offset: undefined, recursive: null })).length, 4);
});

// What `mode` may be beyond the permission bits: what `stat` of Node gives.
test("bits of a mode above the permissions are cut off", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "", { mode: 0o100_640 });
  assert.equal((await fs.stat("/f")).mode, 0o640);
  await fs.chmod("/f", 0o107_777);
  assert.equal((await fs.stat("/f")).mode, 0o7777);
  await fs.mkdir("/d", { mode: 0o40_700 });
  assert.equal((await fs.stat("/d")).mode, 0o700);
});

table("positional arguments", function* () {
  const typeRows = [
    ["chmod mode", (fs, value) => fs.chmod("/f", value), [undefined, null, "644", {}, ...ODDITIES]],
    ["truncate length", (fs, value) => fs.truncate("/f", value), ["1", {}, true, ...ODDITIES]],
    ["access mode", (fs, value) => fs.access("/f", value), ["r", {}, true, Symbol("s"), 1n]],
    [
      "utimes atime",
      (fs, value) => fs.utimes("/f", value, 1),
      [undefined, null, "", " ", "now", {}, true, [], Symbol("s"), 1n],
    ],
    [
      "utimes mtime",
      (fs, value) => fs.utimes("/f", 1, value),
      [undefined, null, "", " ", "now", {}, true, [], Symbol("s"), 1n],
    ],
    ["symlink target", (fs, value) => fs.symlink(value, "/new"), [undefined, null, ...NO_STRINGS]],
    ["find pattern", (fs, value) => fs.find("/", value), NO_STRINGS],
    ["grep pattern", (fs, value) => fs.grep(value, "/"), [undefined, null, /old/, ...NO_STRINGS]],
  ];
  for (const [name, call, values] of typeRows) {
    for (const value of values) {
      yield [
        label(name, value),
        async (fs) => checkType(await refusal((fs) => call(fs, value), fs), name.split(" ")[1]),
      ];
    }
  }
  const tib = 2 ** 40;
  const valueRows = [
    ["chmod mode", (fs, value) => fs.chmod("/f", value), MODE.values, "EINVAL", /mode/],
    ["truncate length", (fs, value) => fs.truncate("/f", value), COUNT.values, "EINVAL", /length/],
    ["truncate length", (fs, value) => fs.truncate("/f", value), [tib + 1, 2 ** 53 - 1], "EFBIG", /at most \d+ bytes/],
    ["access mode", (fs, value) => fs.access("/f", value), [...COUNT.values, 8], "EINVAL", /mode/],
    [
      "utimes atime",
      (fs, value) => fs.utimes("/f", value, 1),
      [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN)],
      "EINVAL",
      /atime/,
    ],
    [
      "utimes mtime",
      (fs, value) => fs.utimes("/f", 1, value),
      [Number.NaN, Number.NEGATIVE_INFINITY, new Date(Number.NaN)],
      "EINVAL",
      /mtime/,
    ],
    ["symlink target", (fs, value) => fs.symlink(value, "/new"), ["\ud800", "a\0b"], "EINVAL", /target/],
    ["symlink target", (fs, value) => fs.symlink(value, "/new"), [""], "ENOENT"],
    ["symlink target", (fs, value) => fs.symlink(value, "/new"), ["a/".repeat(2049)], "ENAMETOOLONG"],
    ["find pattern", (fs, value) => fs.find("/", value), ["\ud800"], "EINVAL", /pattern/],
    ["grep pattern", (fs, value) => fs.grep(value, "/"), ["\ud800"], "EINVAL", /pattern/],
    [
      "grep pattern",
      (fs, value) => fs.grep(value, "/", { regex: true }),
      ["(", "[a", "*", "(?=a)", "(a)\\1", "\\"],
      "EINVAL",
    ],
    [
      "watch since",
      (fs, value) => fs.watch("/", { since: value }).next(),
      ["", "-1", "1.5", "x", "9".repeat(30)],
      "EINVAL",
      /since/,
    ],
  ];
  for (const [name, call, values, code, sentence] of valueRows) {
    for (const value of values) {
      yield [
        label(name, String(value).slice(0, 20), code),
        async (fs) => checkValue(await refusal((fs) => call(fs, value), fs), code, sentence),
      ];
    }
  }
});

/** Nothing of these is bytes or text, nor a source of them. */
const NO_CONTENT = [
  undefined,
  null,
  1,
  1n,
  true,
  Symbol("s"),
  () => "x",
  {},
  [],
  [1, 2],
  [Buffer.from("x")],
  new Date(),
  new Map(),
  new Set([Buffer.from("x")]),
  new URL("file:///f"),
  Promise.resolve("x"),
  Object("text"),
  [Buffer.from("x")].values(),
];

table("content that is none is a TypeError", function* () {
  for (const method of ["writeFile", "appendFile"]) {
    for (const path of ["/f", "/new"]) {
      for (const content of NO_CONTENT) {
        yield [
          label(method, path, typeof content === "object" ? JSON.stringify(content) : content),
          async (fs) => checkType(await refusal((fs) => fs[method](path, content), fs), "content"),
        ];
      }
    }
  }
});

table("what a stream delivers that is no bytes is a TypeError", function* () {
  for (const method of ["writeFile", "appendFile"]) {
    for (const piece of ["text", 1, null, undefined, {}, [1], new Date()]) {
      yield [
        label(method, piece),
        async (fs) => {
          const pieces = async function* () {
            yield Buffer.from("first");
            yield piece;
          };
          checkType(await refusal((fs) => fs[method]("/f", pieces()), fs), "content");
        },
      ];
    }
  }
});

table("the root cannot be what it is not", function* () {
  const rows = {
    "writeFile EISDIR": (fs) => fs.writeFile("/", "x"),
    "writeFile stream EISDIR": (fs) => fs.writeFile("//", new Blob(["x"])),
    "appendFile EISDIR": (fs) => fs.appendFile("/.", "x"),
    "truncate EISDIR": (fs) => fs.truncate("/"),
    "readFile EISDIR": (fs) => fs.readFile("/"),
    "readFile text EISDIR": (fs) => fs.readFile("/d/..", "utf8"),
    "mkdir EEXIST": (fs) => fs.mkdir("/"),
    "rm EPERM": (fs) => fs.rm("/"),
    "rm all EPERM": (fs) => fs.rm("/d/..", { recursive: true, force: true }),
    "rename from EINVAL": (fs) => fs.rename("/", "/new"),
    "rename to EINVAL": (fs) => fs.rename("/d", "/"),
    "symlink EEXIST": (fs) => fs.symlink("f", "/"),
    "readlink EINVAL": (fs) => fs.readlink("/"),
    "link from EPERM": (fs) => fs.link("/", "/new"),
    "link to EEXIST": (fs) => fs.link("/f", "/"),
    "copyFile from EISDIR": (fs) => fs.copyFile("/", "/new"),
    "copyFile to EISDIR": (fs) => fs.copyFile("/f", "/"),
    "cp from EISDIR": (fs) => fs.cp("/", "/new"),
    "cp into itself EINVAL": (fs) => fs.cp("/", "/new", { recursive: true }),
    "cp to EINVAL": (fs) => fs.cp("/d", "/", { recursive: true }),
  };
  for (const [name, call] of Object.entries(rows)) {
    yield [name, async (fs) => checkValue(await refusal(call, fs), name.split(" ").at(-1))];
  }
});

table("a filter that fails fails the copy", function* () {
  const reason = new Error("no");
  const filters = {
    throws: () => {
      throw reason;
    },
    rejects: () => Promise.reject(reason),
  };
  for (const [name, filter] of Object.entries(filters)) {
    yield [name, async (fs) => assert.equal(await refusal((fs) => fs.cp("/f", "/new", { filter }), fs), reason)];
  }
});

table("a clock that does not give a time fails the change", function* () {
  for (const now of [Number.NaN, Number.POSITIVE_INFINITY]) {
    yield [
      label(now),
      async () => {
        const workspace = new Workspace({ storage: ":memory:", now: () => now });
        checkValue(await refusal((fs) => fs.writeFile("/f", "x"), workspace.fs), "EINVAL", /now\(\)/);
        assert.equal(await workspace.fs.exists("/f"), false);
        await workspace.close();
      },
    ];
  }
});

test("a workspace with wrong options is not opened", () => {
  const types = {
    options: [undefined, null, 1, "x", [], () => {}],
    storage: [{}, { storage: null }, { storage: 1 }, { storage: [] }, { storage: {} }],
    path: [{ storage: { path: 1 } }, { storage: { path: null } }],
    now: [
      { storage: ":memory:", now: 1 },
      { storage: ":memory:", now: "now" },
    ],
    quotaBytes: [
      { storage: ":memory:", quotaBytes: "1" },
      { storage: ":memory:", quotaBytes: true },
    ],
    durability: [{ storage: { path: ":memory:", durability: 1 } }],
    readonly: [{ storage: { path: ":memory:", readonly: 1 } }],
  };
  for (const [name, values] of Object.entries(types)) {
    for (const value of values) {
      assert.throws(
        () => new Workspace(value),
        (error) => {
          checkType(error, name);
          return true;
        },
        `${name} ${JSON.stringify(value)}`,
      );
    }
  }
  const values = [
    [{ storage: "" }, /storage/],
    [{ storage: "a\0b" }, /storage/],
    [{ storage: "\ud800" }, /storage/],
    [{ storage: { path: "" } }, /path|storage/],
    [{ storage: { path: ":memory:", durability: "high" } }, /durability.*"full", "normal" or "off"/],
    [{ storage: { path: ":memory:", readonly: true } }, /memory/],
    [{ storage: { path: ":memory:", mode: 1 } }, /no option 'mode'/],
    [{ storage: ":memory:", quotabytes: 1 }, /no option 'quotabytes'/],
    [{ storage: ":memory:", quotaBytes: -1 }, /quotaBytes/],
    [{ storage: ":memory:", quotaBytes: 0.5 }, /quotaBytes/],
  ];
  for (const [value, sentence] of values) {
    assert.throws(
      () => new Workspace(value),
      (error) => {
        checkValue(error, "EINVAL", sentence);
        return true;
      },
      JSON.stringify(value),
    );
  }
});

test("what is no function is no body of a transaction", async (t) => {
  const workspace = open(t);
  for (const body of [undefined, null, 1, "x", {}]) {
    checkType(await refusal(() => workspace.transaction(body)), "body");
  }
  await workspace.fs.writeFile("/f", "the writer is free");
});
