// find and ls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, rejection } from "../support/workspace.mjs";

const TREE = [
  "a/b/c.js",
  "a/b/c.ts",
  "a/b/deep/er/x.js",
  "a-/x",
  "a.js",
  "b/[x]/y",
  "b/{p,q}",
  "b/!z",
  "b/back\\slash",
  "b/new\nline.js",
  "b/\u{1f600}.js",
  ".hidden/.f",
  "node_modules/m/index.js",
  "src/node_modules/n/index.js",
  "src/main.ts",
];

async function makeTree(fs) {
  for (const path of TREE) {
    await fs.mkdir(`/t/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await fs.writeFile(`/t/${path}`, path);
  }
  await fs.symlink("../a", "/t/src/to a");
  await fs.symlink("a", "/t/to a.js");
}

/** Everything below `/t`, in the order of `find`. */
const ALL = [
  ".hidden dir",
  ".hidden/.f file",
  "a dir",
  "a/b dir",
  "a/b/c.js file",
  "a/b/c.ts file",
  "a/b/deep dir",
  "a/b/deep/er dir",
  "a/b/deep/er/x.js file",
  "a- dir",
  "a-/x file",
  "a.js file",
  "b dir",
  "b/!z file",
  "b/[x] dir",
  "b/[x]/y file",
  "b/back\\slash file",
  "b/new\nline.js file",
  "b/{p,q} file",
  "b/\u{1f600}.js file",
  "node_modules dir",
  "node_modules/m dir",
  "node_modules/m/index.js file",
  "src dir",
  "src/main.ts file",
  "src/node_modules dir",
  "src/node_modules/n dir",
  "src/node_modules/n/index.js file",
  "src/to a symlink",
  "to a.js symlink",
];

test("find lists everything: a directory right before what is in it, links not followed", async (t) => {
  const { fs } = open(t);
  await makeTree(fs);
  await fs.symlink("t", "/to t");
  for (const [directory, prefix] of [
    ["/t", "/t"],
    ["//t/./", "/t"],
    ["/to t", "/to t"],
  ]) {
    for (const pattern of [undefined, null, "", "**"]) {
      const found = await fs.find(directory, pattern);
      assert.deepEqual(
        found.map(({ path, type }) => `${path} ${type}`),
        ALL.map((line) => `${prefix}/${line}`),
        `${directory} ${pattern}`,
      );
    }
  }
  const fromRoot = await fs.find("/", "t/a*");
  assert.deepEqual(
    fromRoot.map(({ path }) => path),
    ["/t/a", "/t/a-", "/t/a.js"],
  );
});

test("find: patterns", async (t) => {
  const { fs } = open(t);
  await makeTree(fs);
  const rows = {
    "*": [".hidden", "a", "a-", "a.js", "b", "node_modules", "src", "to a.js"],
    "*.js": ["a.js", "to a.js"],
    "**/*.js": [
      "a/b/c.js",
      "a/b/deep/er/x.js",
      "a.js",
      "b/new\nline.js",
      "b/\u{1f600}.js",
      "node_modules/m/index.js",
      "src/node_modules/n/index.js",
      "to a.js",
    ],
    "a/**": ["a/b", "a/b/c.js", "a/b/c.ts", "a/b/deep", "a/b/deep/er", "a/b/deep/er/x.js"],
    "a/**/x.js": ["a/b/deep/er/x.js"],
    "a/**/c.js": ["a/b/c.js"],
    "a/b/**/c.js": ["a/b/c.js"],
    "**/deep": ["a/b/deep"],
    "a/*/c.{js,ts}": ["a/b/c.js", "a/b/c.ts"],
    "a{,.js,-}": ["a", "a-", "a.js"],
    "{a/b,b}/*.{j,t}s": ["a/b/c.js", "a/b/c.ts", "b/new\nline.js", "b/\u{1f600}.js"],
    "{a/{b/{c.js,nothing},x},a.js}": ["a/b/c.js", "a.js"],
    "?": ["a", "b"],
    "??": ["a-"],
    "b/?.js": ["b/\u{1f600}.js"],
    "a?b": [],
    "b/[x]/y": ["b/[x]/y"],
    "b/[xyz]/y": [],
    "b/!*": ["b/!z"],
    "b/back\\slash": ["b/back\\slash"],
    "b/{p,q}": [],
    ".hidden/*": [".hidden/.f"],
    "A.JS": [],
    "/a": [],
    "./a": [],
    "../t/a": [],
    "a/": [],
    "a/b/c.js/": [],
    "/t/a": [],
    nothing: [],
  };
  for (const [pattern, expected] of Object.entries(rows)) {
    const found = (await fs.find("/t", pattern)).map(({ path }) => path.slice("/t/".length));
    assert.deepEqual(found, expected, pattern);
  }
});

test("find: what is excluded, and not entered", async (t) => {
  const { fs } = open(t);
  await makeTree(fs);
  const names = (found) => found.map(({ path }) => path.slice("/t/".length));
  const without = (...prefixes) =>
    ALL.map((line) => line.replace(/ \w+$/, "")).filter(
      (path) => !prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)),
    );
  const rows = [
    ["node_modules", without("node_modules")],
    [["node_modules"], without("node_modules")],
    ["**/node_modules", without("node_modules", "src/node_modules")],
    ["**/node_modules/**", without("node_modules", "src/node_modules")],
    [["a", "b", ".*"], without("a", "b", ".hidden")],
    ["a/b/deep/**", without("a/b/deep")],
    [
      "**/*.js",
      without(
        "a/b/c.js",
        "a/b/deep/er/x.js",
        "a.js",
        "b/new\nline.js",
        "b/\u{1f600}.js",
        "node_modules/m/index.js",
        "src/node_modules/n/index.js",
        "to a.js",
      ),
    ],
    ["{src,a/b}", without("src", "a/b")],
    ["**", []],
    ["nothing", without()],
    ["src/", without()],
    [[], without()],
    [["", "a"], without("a")],
  ];
  for (const [exclude, expected] of rows) {
    assert.deepEqual(names(await fs.find("/t", undefined, { exclude })), expected, JSON.stringify(exclude));
  }
  assert.deepEqual(names(await fs.find("/t", "**/*.ts", { exclude: "a/**" })), ["src/main.ts"]);
});

test("find: pages are parts of the whole", async (t) => {
  const { fs } = open(t);
  await makeTree(fs);
  for (const [pattern, options] of [
    [undefined, {}],
    ["**/*.js", { exclude: ["src"] }],
  ]) {
    const whole = await fs.find("/t", pattern, options);
    for (let offset = 0; offset <= whole.length + 1; offset++) {
      for (const limit of [0, 1, 2, 5, whole.length, Number.MAX_SAFE_INTEGER]) {
        const page = await fs.find("/t", pattern, { ...options, offset, limit });
        assert.deepEqual(page, whole.slice(offset, offset + limit), `${limit} from ${offset}`);
      }
    }
  }
});

test("find: where it cannot look", async (t) => {
  const { fs } = open(t);
  await fs.writeFile("/f", "");
  await fs.symlink("missing", "/broken");
  await fs.symlink("loop", "/loop");
  for (const [path, code] of [
    ["/f", "ENOTDIR"],
    ["/f/x", "ENOTDIR"],
    ["/missing", "ENOENT"],
    ["/broken", "ENOENT"],
    ["/loop", "ELOOP"],
  ]) {
    const error = await rejection(fs.find(path), code);
    assert.equal(error.path, path);
  }
});

test("a pattern that backtracks for ever elsewhere takes no time", async (t) => {
  const { fs } = open(t);
  await fs.writeFile(`/${"a".repeat(200)}`, "");
  const started = performance.now();
  const patterns = [
    `**/${"*a".repeat(60)}b`,
    `${"{a,aa}".repeat(40)}b`,
    `${"**/".repeat(500)}b`,
    `${"?".repeat(100)}${"*".repeat(100)}b`,
  ];
  for (const pattern of patterns) assert.deepEqual(await fs.find("/", pattern), []);
  assert.ok(performance.now() - started < 5000);
});

test("what disappears while find walks is skipped", async (t) => {
  const { fs } = open(t, "normal");
  for (let at = 0; at < 50; at++) {
    await fs.mkdir(`/t/${at}/d`, { recursive: true });
    await fs.writeFile(`/t/${at}/d/f`, "");
  }
  const finds = Promise.all(Array.from({ length: 20 }, () => fs.find("/t", "**/f")));
  for (let at = 0; at < 50; at += 2) await fs.rm(`/t/${at}`, { recursive: true });
  for (const found of await finds) {
    const names = new Set(found.map(({ path }) => path));
    for (let at = 1; at < 50; at += 2) assert.ok(names.has(`/t/${at}/d/f`));
  }
});

test("ls names every file, by path", async (t) => {
  const { fs } = open(t);
  await makeTree(fs);
  const files = TREE.map((path) => `/t/${path}`).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const rows = {
    "/": files,
    "/t": files,
    "//t/.": files,
    "/t/a": files.filter((path) => path.startsWith("/t/a/")),
    "/t/a.js": ["/t/a.js"],
    "/t/a.j": [],
    "/t/b/[x]/": ["/t/b/[x]/y"],
    "/workspace": [],
    "/missing": [],
    "/t/a.js/x": [],
    "/t/to a.js": [],
    "/t/src/to a": [],
    // A link on the way is followed, as in every path.
    "/t/src/to a/b/deep": ["/t/src/to a/b/deep/er/x.js"],
  };
  for (const [prefix, expected] of Object.entries(rows)) {
    assert.deepEqual(await fs.ls(prefix), expected, prefix);
  }
});
