// Path rules hold for everything that reaches files, whichever way it goes.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { createToolSet } from "carrel/tools";
import { folderFor, open } from "../support/workspace.mjs";

const RULES = [
  { path: "workspace/secret", access: "none" },
  { path: "workspace/vendor/**", access: "read" },
  { path: "workspace/vendor/patches", access: "read-write" },
  { path: "**/*.key", access: "none" },
];

/** The workspace in a database, closed when the test is over. */
function openAt(t, path, options) {
  const workspace = new Workspace({ storage: { path, durability: "normal" }, ...options });
  t.after(() => workspace.close());
  return workspace;
}

/** The files of a workspace that was made without rules, and the same under these. */
async function ruled(t, rules = RULES) {
  const path = join(folderFor(t), "rules.db");
  const { fs } = openAt(t, path);
  await fs.mkdir("/workspace/secret/deep", { recursive: true });
  await fs.writeFile("/workspace/secret/deep/plan", "the plan");
  await fs.mkdir("/workspace/vendor/patches", { recursive: true });
  await fs.writeFile("/workspace/vendor/lib.js", "the lib");
  await fs.writeFile("/workspace/vendor/patches/one", "the patch");
  await fs.mkdir("/workspace/src");
  await fs.writeFile("/workspace/src/a.ts", "the source");
  await fs.writeFile("/workspace/src/id.key", "the key");
  await fs.symlink("../secret/deep/plan", "/workspace/src/to-plan");
  await fs.symlink("../vendor/lib.js", "/workspace/src/to-lib");
  await fs.symlink("../secret", "/workspace/src/to-secret");
  await fs.symlink("a.ts", "/workspace/src/to-a");
  return { free: fs, fs: openAt(t, path, { rules }).fs };
}

const refused = (code) => (error) => error.code === code;

test("a path without access is EACCES for every method, also by way of a link, also if nothing is there", async (t) => {
  const { fs } = await ruled(t);
  const calls = {
    readFile: (path) => fs.readFile(path, "utf8"),
    stat: (path) => fs.stat(path),
    lstat: (path) => fs.lstat(path),
    access: (path) => fs.access(path),
    realpath: (path) => fs.realpath(path),
    writeFile: (path) => fs.writeFile(path, "x"),
    exclusive: (path) => fs.writeFile(path, "x", { exclusive: true }),
    appendFile: (path) => fs.appendFile(path, "x"),
    stream: (path) => fs.writeFile(path, new Blob(["x"]).stream()),
    truncate: (path) => fs.truncate(path, 0),
    mkdir: (path) => fs.mkdir(path),
    "mkdir -p": (path) => fs.mkdir(path, { recursive: true }),
    rm: (path) => fs.rm(path),
    "rm -rf": (path) => fs.rm(path, { recursive: true, force: true }),
    chmod: (path) => fs.chmod(path, 0o600),
    utimes: (path) => fs.utimes(path, 1, 1),
    symlink: (path) => fs.symlink("x", path),
    readlink: (path) => fs.readlink(path),
    "link from": (path) => fs.link(path, "/workspace/src/new-name"),
    "link to": (path) => fs.link("/workspace/src/a.ts", path),
    "rename from": (path) => fs.rename(path, "/workspace/src/new-name"),
    "rename to": (path) => fs.rename("/workspace/src/a.ts", path),
    "copyFile from": (path) => fs.copyFile(path, "/workspace/src/new-name"),
    "copyFile to": (path) => fs.copyFile("/workspace/src/a.ts", path),
    "cp from": (path) => fs.cp(path, "/workspace/src/new-name", { recursive: true }),
    "cp to": (path) => fs.cp("/workspace/src/a.ts", path),
    readdir: (path) => fs.readdir(path),
    find: (path) => fs.find(path),
    ls: (path) => fs.ls(path),
    grep: (path) => fs.grep("the", path),
    watch: async (path) => {
      for await (const _ of fs.watch(path)) break;
    },
  };
  for (const path of [
    "/workspace/secret/deep/plan",
    "/workspace/secret/nothing",
    "/workspace/secret/nothing/below",
    "/workspace/src/id.key",
    "/workspace/src/to-secret/deep/plan",
    "/workspace/src/to-secret/nothing",
    "/workspace/src/../secret/deep",
  ]) {
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(() => call(path), refused("EACCES"), `${name} ${path}`);
    }
  }
  for (const name of ["readFile", "stat", "access", "realpath", "writeFile", "appendFile", "truncate", "chmod"]) {
    await assert.rejects(() => calls[name]("/workspace/src/to-plan"), refused("EACCES"), name);
  }
  await assert.rejects(() => fs.exists("/workspace/secret/deep"), refused("EACCES"));
});

test("a path that may be read is EROFS for every change", async (t) => {
  const { fs } = await ruled(t);
  const path = "/workspace/vendor/lib.js";
  assert.equal(await fs.readFile(path, "utf8"), "the lib");
  assert.equal((await fs.stat(path)).size, 7);
  const changes = {
    writeFile: () => fs.writeFile(path, "x"),
    "writeFile of a new file": () => fs.writeFile("/workspace/vendor/new", "x"),
    stream: () => fs.writeFile(path, new Blob(["x"]).stream()),
    "by a link": () => fs.writeFile("/workspace/src/to-lib", "x"),
    appendFile: () => fs.appendFile(path, "x"),
    truncate: () => fs.truncate(path, 0),
    mkdir: () => fs.mkdir("/workspace/vendor/d"),
    "mkdir -p": () => fs.mkdir("/workspace/vendor/d/e", { recursive: true }),
    rm: () => fs.rm(path),
    chmod: () => fs.chmod(path, 0o600),
    utimes: () => fs.utimes(path, 1, 1),
    symlink: () => fs.symlink("x", "/workspace/vendor/s"),
    "link from": () => fs.link(path, "/workspace/src/l"),
    "link to": () => fs.link("/workspace/src/a.ts", "/workspace/vendor/l"),
    "rename from": () => fs.rename(path, "/workspace/src/l"),
    "rename to": () => fs.rename("/workspace/src/a.ts", path),
    "copyFile to": () => fs.copyFile("/workspace/src/a.ts", path),
    "cp to": () => fs.cp("/workspace/src/a.ts", path),
    "rm of a directory above": () => fs.rm("/workspace/vendor", { recursive: true }),
    "rename of a directory above": () => fs.rename("/workspace/vendor", "/workspace/elsewhere"),
  };
  for (const [name, change] of Object.entries(changes)) await assert.rejects(change, refused("EROFS"), name);
  assert.equal(await fs.readFile(path, "utf8"), "the lib");
  await fs.writeFile("/workspace/vendor/patches/two", "a later rule gives the right back");
  await fs.copyFile(path, "/workspace/src/copy.js");
});

test("what is without access is not listed, found, searched or copied", async (t) => {
  const { fs, free } = await ruled(t);
  const names = async (path, options) => (await fs.readdir(path, options)).map(({ name }) => name);
  assert.deepEqual(await names("/workspace"), ["src", "vendor"]);
  assert.deepEqual(await names("/workspace/src"), ["a.ts", "to-a", "to-lib", "to-plan", "to-secret"]);
  assert.deepEqual(await names("/workspace/src", { offset: 1, limit: 2 }), ["to-a", "to-lib"]);
  const all = (await fs.readdir("/workspace", { recursive: true })).map(({ name }) => name);
  assert.ok(!all.includes("plan") && !all.includes("id.key") && !all.includes("secret"));
  assert.deepEqual(
    (await fs.find("/workspace", "**/*", { exclude: "vendor/**" })).map(({ path }) => path),
    ["/workspace/src", ...["a.ts", "to-a", "to-lib", "to-plan", "to-secret"].map((name) => `/workspace/src/${name}`)],
  );
  assert.deepEqual(await fs.ls("/workspace/src"), ["/workspace/src/a.ts"]);
  const matches = await fs.grep("the", "/workspace");
  assert.deepEqual(
    matches.map(({ text }) => text),
    ["the source", "the lib", "the patch"],
  );
  await fs.cp("/workspace/src", "/workspace/copy", { recursive: true });
  assert.equal(await free.exists("/workspace/copy/a.ts"), true);
  assert.equal(await free.exists("/workspace/copy/id.key"), false);
});

test("a directory that holds something without access cannot be moved or removed", async (t) => {
  const { fs, free } = await ruled(t);
  await assert.rejects(() => fs.rm("/workspace/src", { recursive: true }), refused("EACCES"));
  await assert.rejects(() => fs.rename("/workspace/src", "/workspace/moved"), refused("EACCES"));
  assert.equal(await free.readFile("/workspace/src/id.key", "utf8"), "the key");
  await fs.rename("/workspace/src/a.ts", "/workspace/src/b.ts");
});

test("a move cannot bring something to where it may not be changed", async (t) => {
  const { fs, free } = await ruled(t);
  await fs.mkdir("/workspace/box/inner", { recursive: true });
  await fs.writeFile("/workspace/box/inner/x", "x");
  await assert.rejects(() => fs.rename("/workspace/box", "/workspace/vendor/box"), refused("EROFS"));
  await assert.rejects(() => fs.rename("/workspace/box/inner/x", "/workspace/box/x.key"), refused("EACCES"));
  assert.equal(await free.readFile("/workspace/box/inner/x", "utf8"), "x");
});

test("a watch tells nothing of what is without access", async (t) => {
  const { fs, free } = await ruled(t);
  const events = [];
  const watch = (async () => {
    for await (const { type, path } of fs.watch("/", { recursive: true })) {
      events.push(`${type} ${path}`);
      if (path === "/workspace/last") return;
    }
  })();
  await free.writeFile("/workspace/secret/new", "x");
  await free.rename("/workspace/src/a.ts", "/workspace/secret/a.ts");
  await free.rename("/workspace/secret/deep/plan", "/workspace/plan");
  await free.writeFile("/workspace/last", "x");
  await watch;
  assert.deepEqual(events, ["delete /workspace/src/a.ts", "create /workspace/plan", "create /workspace/last"]);
});

test("rules hold in a transaction", async (t) => {
  const workspace = open(t, "normal", { rules: [{ path: "workspace/a", access: "read" }] });
  await assert.rejects(
    () => workspace.transaction((fs) => fs.writeFile("/workspace/a", "x")),
    (error) => error.code === "EROFS",
  );
});

test("rules that are wrong are refused by name", (t) => {
  const check = (rules, words) => assert.throws(() => open(t, "memory", { rules }), words);
  check({}, /rules must be an array/);
  check([1], /rules\[0\] must be an object/);
  check([{ path: "a" }], /rules\[0\]\.access must be a string; it is not given/);
  check([{ path: "a", access: "write" }], /rules\[0\]\.access must be "none", "read" or "read-write"/);
  check([{ access: "read" }], /rules\[0\]\.path must be a string/);
  check([{ path: "a", access: "read", glob: "x" }], /no option 'glob'/);
  for (const path of ["../a", "a/./b", "!a", " a"]) check([{ path, access: "none" }], /the rule path/);
});

/** Outcomes of each tool for a path. */
async function attempts(tools, path) {
  const calls = [
    ["read", { path }],
    ["ls", { path }],
    ["find", { path, pattern: "" }],
    ["grep", { path, query: "the" }],
    ["write", { path, content: "x" }],
    ["edit", { path, edits: [{ oldText: "the", newText: "a" }] }],
    ["delete", { path, recursive: true }],
  ];
  const outcomes = [];
  for (const [name, input] of calls) outcomes.push([name, await tools.execute(name, input)]);
  return outcomes;
}

test("the root of a set of tools cannot be left, by path or by link, with any tool", async (t) => {
  const workspace = open(t);
  const { fs } = workspace;
  await fs.mkdir("/workspace/app/src", { recursive: true });
  await fs.writeFile("/workspace/app/src/a.ts", "the source");
  await fs.writeFile("/workspace/outside", "the outside");
  await fs.mkdir("/workspace/apple");
  await fs.symlink("../outside", "/workspace/app/out");
  await fs.symlink("..", "/workspace/app/up");
  await fs.symlink("/workspace/app/src", "/workspace/app/inside");
  await fs.symlink("/workspace/app", "/root-link");
  for (const root of ["/workspace/app", "/root-link"]) {
    const tools = createToolSet({ workspace, root });
    for (const path of [
      "/workspace/outside",
      "../outside",
      "up/outside",
      "/workspace/app/up/outside",
      "/workspace/apple",
      "/.",
      "/workspace",
      "/workspace/nothing",
    ]) {
      for (const [name, { output }] of await attempts(tools, path)) {
        assert.equal(output.code, "EACCES", `${root} ${name} ${path} ${JSON.stringify(output)}`);
      }
    }
    for (const name of ["read", "write", "edit"]) {
      const input = { path: "out", content: "x", edits: [{ oldText: "the", newText: "a" }] };
      const fields = { read: ["path"], write: ["path", "content"], edit: ["path", "edits"] }[name];
      const { output } = await tools.execute(name, Object.fromEntries(fields.map((field) => [field, input[field]])));
      assert.equal(output.code, "EACCES", name);
    }
    const { output } = await tools.execute("read", { path: "inside/a.ts" });
    assert.equal(output.content, "1\tthe source");
    assert.equal((await tools.execute("read", { path: "src/a.ts" })).output.content, "1\tthe source");
    const found = await tools.execute("find", { pattern: "**/*.ts" });
    assert.deepEqual(found.output.entries, [{ path: `${root}/src/a.ts`, type: "file" }]);
    assert.equal((await tools.execute("grep", { query: "the" })).output.count, 1);
    for (const path of [".", "", root, "src/.."]) {
      assert.equal((await tools.execute("delete", { path, recursive: true })).output.code, "EPERM", path);
    }
  }
  assert.equal(await fs.readFile("/workspace/outside", "utf8"), "the outside");
});

test("a path that takes the root of the tools for the root of all is answered with the right one", async (t) => {
  const workspace = open(t);
  await workspace.fs.mkdir("/workspace/app/src", { recursive: true });
  await workspace.fs.writeFile("/workspace/app/src/a.ts", "the source");
  const tools = createToolSet({ workspace, root: "/workspace/app" });
  const { output, text } = await tools.execute("read", { path: "/src/a.ts" });
  assert.deepEqual(output.candidates, ["/workspace/app/src/a.ts"]);
  assert.match(text, /leads out of \/workspace\/app; stay inside it\nDid you mean: \/workspace\/app\/src\/a\.ts\?/);
  assert.equal((await tools.execute("read", { path: "/src/b.ts" })).output.candidates, undefined);
});

test("the rules of a set of tools start at its root, and narrow those of the workspace", async (t) => {
  const workspace = open(t, "memory", { rules: [{ path: "workspace/app/locked/**", access: "read" }] });
  const { fs } = workspace;
  await fs.mkdir("/workspace/app/src", { recursive: true });
  await fs.mkdir("/workspace/app/docs");
  await fs.mkdir("/workspace/app/locked");
  await fs.writeFile("/workspace/app/docs/a.md", "the docs");
  const tools = createToolSet({
    workspace,
    root: "/workspace/app",
    rules: [
      { path: "docs/**", access: "read" },
      { path: "locked/**", access: "read-write" },
      { path: "/workspace/app/hidden", access: "none" },
    ],
  });
  const code = async (name, input) => (await tools.execute(name, input)).output.code;
  assert.equal(await code("read", { path: "docs/a.md" }), undefined);
  assert.equal(await code("write", { path: "docs/b.md", content: "x" }), "EROFS");
  assert.equal(await code("edit", { path: "docs/a.md", edits: [{ oldText: "the", newText: "a" }] }), "EROFS");
  assert.equal(await code("delete", { path: "docs/a.md" }), "EROFS");
  assert.equal(await code("write", { path: "locked/x", content: "x" }), "EROFS");
  assert.equal(await code("write", { path: "hidden/x", content: "x" }), "EACCES");
  assert.equal(await code("write", { path: "src/new/x", content: "x" }), undefined);
  await fs.writeFile("/workspace/app/docs/a.md", "free for the workspace itself");
});

test("readonly tools are those that change nothing", async (t) => {
  const workspace = open(t);
  const tools = createToolSet({ workspace, readonly: true });
  assert.deepEqual(
    tools.tools.map(({ name }) => name),
    ["read", "ls", "find", "grep"],
  );
  const outcome = await tools.execute("write", { path: "/workspace/x", content: "x" });
  assert.equal(outcome.isError, true);
  assert.match(outcome.output.error, /there is no tool "write"/);
});

test("a root that is not there says so", async (t) => {
  const tools = createToolSet({ workspace: open(t), root: "/nowhere" });
  const { output } = await tools.execute("ls", { path: "." });
  assert.equal(output.code, "ENOENT");
});
