// ls, find and grep: pages that add up to the whole, output modes, limits, and what is said besides.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chance, seed } from "../support/chance.mjs";
import { openTools } from "../support/tools.mjs";

/** Writes files: names to contents, directories made as needed. */
async function writeAll(fs, files) {
  for (const [name, contents] of Object.entries(files)) {
    const path = `/workspace/${name}`;
    await fs.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await fs.writeFile(path, contents);
  }
}

const TREE = {
  "a.ts": "one\ntwo\nthree\n",
  "b.ts": "two two\r\nTwo\r\n",
  ".hidden.ts": "two\n",
  "src/c.ts": "none\n",
  "src/deep/d.js": "x\ntwo\ny\ntwo\n",
  "src/deep/e f.ts": "two",
  "docs/r\u00e9sum\u00e9.md": "dos, two, tres\n",
  "data.bin": Buffer.from("two\0two"),
};

/** All pages of a call, each of at most `limit`: the items under `field`. */
async function pagesOf(ok, name, input, field, limit) {
  const items = [];
  let page = {};
  do {
    page = await ok(name, { ...input, limit, ...(page.nextOffset !== undefined && { offset: page.nextOffset }) });
    assert.equal(page.count, page[field].length);
    assert.ok(page.count <= limit);
    items.push(...page[field]);
    assert.equal(page.truncated, page.nextOffset !== undefined);
    if (page.truncated) assert.equal(page.nextOffset, items.length);
  } while (page.truncated);
  return items;
}

test("ls lists a directory", async (t) => {
  const { fs, ok } = openTools(t, {}, { now: () => 1_700_000_000_000 });
  await writeAll(fs, { "b.txt": "12345", "a/x": "" });
  await fs.symlink("b.txt", "/workspace/link");
  const entry = (name, size, kind) => ({
    name,
    size,
    mtime: 1_700_000_000_000,
    isFile: kind === "file",
    isDirectory: kind === "directory",
    isSymbolicLink: kind === "link",
  });
  const directory = (await fs.lstat("/workspace/a")).size;
  const entries = [entry("a", directory, "directory"), entry("b.txt", 5, "file"), entry("link", 5, "link")];
  const whole = { path: "/workspace", count: 3, entries, truncated: false };
  assert.deepEqual(await ok("ls", { path: "/workspace" }), whole);
  for (const path of [".", "", "/workspace/a/.."])
    assert.deepEqual(await ok("ls", { path }), { ...whole, path: path || "/workspace" });
  assert.deepEqual(await ok("ls", {}), whole);
  const rows = [
    [{ limit: 3 }, entries, undefined],
    [{ limit: 2 }, entries.slice(0, 2), 2],
    [{ limit: 1, offset: 1 }, entries.slice(1, 2), 2],
    [{ offset: 2 }, entries.slice(2), undefined],
    [{ offset: 3 }, [], undefined],
    [{ offset: 99 }, [], undefined],
  ];
  for (const [input, found, nextOffset] of rows) {
    const truncated = nextOffset !== undefined;
    const want = {
      path: "/workspace",
      count: found.length,
      entries: found,
      truncated,
      ...(truncated && { nextOffset }),
    };
    assert.deepEqual(await ok("ls", { path: "/workspace", ...input }), want, JSON.stringify(input));
  }
});

test("/workspace is always there", async (t) => {
  const { ok } = openTools(t);
  assert.equal((await ok("ls", { path: "/workspace" })).count, 0);
  assert.equal((await ok("find", { pattern: "" })).path, "/workspace");
  assert.equal((await ok("grep", { query: "x" })).path, "/workspace");
});

test("the text for a model is the result as JSON", async (t) => {
  const { fs, run } = openTools(t, {}, { now: () => 1_700_000_000_000.5 });
  await writeAll(fs, TREE);
  for (const [name, input] of [
    ["ls", { path: "/workspace" }],
    ["find", { pattern: "**" }],
    ["grep", { query: "two", context: 1 }],
  ]) {
    const { output, text, isError, media } = await run(name, input);
    assert.deepEqual([isError, media], [false, undefined]);
    assert.equal(text, JSON.stringify(output), name);
  }
});

test("find finds by glob", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, TREE);
  await fs.symlink("src", "/workspace/link");
  const rows = [
    [{ pattern: "*.ts" }, [".hidden.ts", "a.ts", "b.ts"]],
    [{ pattern: "**/*.ts" }, [".hidden.ts", "a.ts", "b.ts", "src/c.ts", "src/deep/e f.ts"]],
    [{ pattern: "src/**" }, ["src/c.ts", "src/deep/", "src/deep/d.js", "src/deep/e f.ts"]],
    [{ pattern: "**/*.{js,md}" }, ["docs/r\u00e9sum\u00e9.md", "src/deep/d.js"]],
    [{ pattern: "?.ts" }, ["a.ts", "b.ts"]],
    [{ pattern: "**/*.ts", exclude: ["src/**"] }, [".hidden.ts", "a.ts", "b.ts"]],
    [{ pattern: "**/*.ts", exclude: "src" }, [".hidden.ts", "a.ts", "b.ts"]],
    [{ pattern: "**/*.ts", exclude: ["*.ts", "**/c.ts"] }, ["src/deep/e f.ts"]],
    [{ pattern: "*.ts", path: "src" }, ["c.ts"], "src"],
    [{ pattern: "**", path: "/workspace/src/deep" }, ["d.js", "e f.ts"], "/workspace/src/deep"],
    [{ pattern: "link" }, ["link@"]],
    // Globs that begin with the directory that is searched.
    [{ pattern: "/workspace/?.ts" }, ["a.ts", "b.ts"]],
    [{ pattern: "./?.ts" }, ["a.ts", "b.ts"]],
    [{ pattern: "/workspace/src/*.ts", path: "src" }, ["c.ts"], "src"],
    [{ pattern: "**/*.ts", exclude: ["./src", "/workspace/.*"] }, ["a.ts", "b.ts"]],
    // And those that end like directories.
    [{ pattern: "src/deep/" }, ["src/deep/"]],
    [{ pattern: "**/*.ts", exclude: "src/" }, [".hidden.ts", "a.ts", "b.ts"]],
  ];
  const typeOf = (name) => ({ "/": "dir", "@": "symlink" })[name.at(-1)] ?? "file";
  for (const [input, names, path = "/workspace"] of rows) {
    const base = path.startsWith("/") ? path : `/workspace/${path}`;
    const output = await ok("find", input);
    const entries = names.map((name) => ({ path: `${base}/${name.replace(/[/@]$/, "")}`, type: typeOf(name) }));
    assert.deepEqual(output.entries, entries, JSON.stringify(input));
    assert.deepEqual([output.path, output.pattern, output.count], [path, input.pattern, names.length]);
    assert.deepEqual([output.truncated, output.note], [false, undefined]);
  }
  const all = await ok("find", { pattern: "" });
  assert.equal(all.count, Object.keys(TREE).length + 4);
});

test("grep finds lines, files or counts", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, TREE);
  const skipped = { binary: 1, unreadable: 0, tooLong: 0 };
  const at = (path, line, text) => ({ path: `/workspace/${path}`, line, text });
  const matches = [
    at(".hidden.ts", 1, "two"),
    at("a.ts", 2, "two"),
    at("b.ts", 1, "two two"),
    at("docs/r\u00e9sum\u00e9.md", 1, "dos, two, tres"),
    at("src/deep/d.js", 2, "two"),
    at("src/deep/d.js", 4, "two"),
    at("src/deep/e f.ts", 1, "two"),
  ];
  const files = [...new Set(matches.map(({ path }) => path))];
  const counts = files.map((path) => ({ path, count: path.endsWith("d.js") ? 2 : 1 }));
  const common = { path: "/workspace", query: "two", truncated: false, filesSearched: 7, skipped };
  const rows = [
    [{}, { ...common, count: 7, matches }],
    [{ outputMode: "content" }, { ...common, count: 7, matches }],
    [{ outputMode: "files" }, { ...common, count: 6, files }],
    [{ outputMode: "count" }, { ...common, count: 6, counts }],
  ];
  for (const [input, want] of rows) {
    assert.deepEqual(await ok("grep", { query: "two", ...input }), want, JSON.stringify(input));
  }

  const found = async (input) => {
    const output = await ok("grep", input);
    return output.matches.map(({ path, line }) => `${path.slice("/workspace/".length)}:${line}`);
  };
  const searches = [
    [{ query: "two", include: ["*.ts"] }, [".hidden.ts:1", "a.ts:2", "b.ts:1"]],
    [{ query: "two", include: "**/*.js" }, ["src/deep/d.js:2", "src/deep/d.js:4"]],
    [
      { query: "two", include: ["*.ts", "docs/**"], exclude: [".*"] },
      ["a.ts:2", "b.ts:1", "docs/r\u00e9sum\u00e9.md:1"],
    ],
    [{ query: "TWO", ignoreCase: true, include: ["b.ts"] }, ["b.ts:1", "b.ts:2"]],
    [{ query: "^t[wh]", regex: true, path: "/workspace/a.ts" }, ["a.ts:2", "a.ts:3"]],
    [{ query: "two", include: ["/workspace/a.ts", "./docs/*"] }, ["a.ts:2", "docs/r\u00e9sum\u00e9.md:1"]],
    [{ query: "two", include: "*.ts", exclude: "/workspace/.*" }, ["a.ts:2", "b.ts:1"]],
    [{ query: "t.o" }, []],
    [{ query: "t.o", regex: true, path: "a.ts" }, ["a.ts:2"]],
    [{ query: "two", path: "src/deep/e f.ts" }, ["src/deep/e f.ts:1"]],
    [{ query: "e$", regex: true, include: ["a.ts"] }, ["a.ts:1", "a.ts:3"]],
  ];
  for (const [input, want] of searches) assert.deepEqual(await found(input), want, JSON.stringify(input));
  const file = await ok("grep", { query: "two", path: "src/deep/e f.ts" });
  assert.deepEqual([file.path, file.filesSearched], ["src/deep/e f.ts", 1]);
});

test("a line of context comes once, with the first match that it is near", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, { f: "1\n2 x\n3\n4 x\n5\n6\n7\n" });
  const { matches } = await ok("grep", { query: "x", context: 2 });
  const shown = matches.map(({ line, context }) => [
    line,
    context.map((one) => `${one.isMatch ? "*" : ""}${one.line}`),
  ]);
  assert.deepEqual(shown, [
    [2, ["1", "*2", "3"]],
    [4, ["*4", "5", "6"]],
  ]);
});

test("wrong patterns and paths are refused with what to do", async (t) => {
  const { fs, refused } = openTools(t);
  await writeAll(fs, { "src/a.ts": "x" });
  const rows = [
    ["grep", { query: "(a", regex: true }, "EINVAL", "regular expression", "leave `regex` out"],
    ["grep", { query: "(?=a)", regex: true }, "EINVAL", "regular expression"],
    ["grep", { query: "a", path: "/workspace/none" }, "ENOENT", "/workspace/none"],
    ["find", { pattern: "*", path: "/workspace/src/a.ts" }, "ENOTDIR", "is a file", "`read`"],
    ["ls", { path: "/workspace/src/a.ts" }, "ENOTDIR", "is a file", "`read`"],
    ["ls", { path: "/workspace/none" }, "ENOENT", "Directory not found"],
  ];
  for (const [name, input, code, ...words] of rows) await refused(name, input, code, ...words);
  for (const [name, input] of [
    ["ls", {}],
    ["find", { pattern: "*" }],
    ["grep", { query: "x" }],
  ]) {
    const { candidates } = await refused(name, { ...input, path: "/workspace/Src" }, "ENOENT", "/workspace/Src");
    assert.deepEqual(candidates, ["/workspace/src"]);
  }
});

test("nothing found, as the glob was for one level only, is said", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, { "src/a.ts": "x" });
  const rows = [
    ["find", { pattern: "*.ts" }, '"**/*.ts" looks in all directories below'],
    ["find", { pattern: "**/*.js" }, undefined],
    ["find", { pattern: "lib/*.js" }, undefined],
    ["find", { pattern: "/elsewhere/*.ts" }, "globs are relative to /workspace"],
    ["grep", { query: "x", include: ["/elsewhere/*.ts"] }, "relative to /workspace"],
    ["find", { pattern: "*.ts", path: "src" }, undefined],
    ["find", { pattern: "*.ts", offset: 1 }, undefined],
    ["grep", { query: "x", include: ["*.ts", "*.js"] }, '["**/*.ts","**/*.js"] looks in all directories below'],
    ["grep", { query: "x", include: ["*.ts", "src/*.js"] }, undefined],
    ["grep", { query: "none", include: ["**/*.ts"] }, undefined],
  ];
  for (const [name, input, words] of rows) {
    const { note } = await ok(name, input);
    if (words) assert.ok(note.includes(words), note);
    else assert.equal(note, undefined, JSON.stringify(input));
  }
});

test("followed to the end, pages are the whole", async (t) => {
  const { fs, ok } = openTools(t);
  const dice = chance(seed, t.name);
  const files = {};
  for (let n = 0; n < 60; n++) {
    const folder = dice.pick(["", "a/", "a/b/", "c/"]);
    files[`${folder}f${n}`] = Array.from({ length: dice.below(6) }, () => dice.pick(["x", "y", "x y", ""])).join("\n");
  }
  await writeAll(fs, files);
  const property = fc.asyncProperty(
    fc.constantFrom(
      ["find", { pattern: "**" }, "entries"],
      ["find", { pattern: "**/f1*", exclude: ["c/**"] }, "entries"],
      ["ls", { path: "/workspace/a" }, "entries"],
      ["grep", { query: "x" }, "matches"],
      ["grep", { query: "x", outputMode: "files" }, "files"],
      ["grep", { query: "x", outputMode: "count" }, "counts"],
    ),
    fc.integer({ min: 1, max: 30 }),
    async ([name, input, field], limit) => {
      const whole = await ok(name, { ...input, limit: 1_000 });
      assert.equal(whole.truncated, false);
      assert.deepEqual(await pagesOf(ok, name, input, field, limit), whole[field]);
    },
  );
  await fc.assert(property, { seed: chance(seed, t.name).below(2 ** 31), numRuns: 120, includeErrorInReport: true });
});

test("200 results unless the call says otherwise, 1000 at most", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`f${n}`, "x\n"])));
  for (const [name, input] of [
    ["ls", { path: "/workspace" }],
    ["find", { pattern: "*" }],
    ["grep", { query: "x" }],
    ["grep", { query: "x", outputMode: "files" }],
    ["grep", { query: "x", outputMode: "count" }],
  ]) {
    for (const [limit, count] of [
      [undefined, 200],
      [1_000, 1_000],
      [5_000, 1_000],
    ]) {
      const output = await ok(name, { ...input, limit });
      assert.deepEqual([output.count, output.truncated, output.nextOffset], [count, true, count], name);
      assert.equal((await ok(name, { ...input, limit, offset: 1_099 })).count, 1);
    }
  }
});

test("a result has at most about 128 KiB, and the next page goes on there", async (t) => {
  const { fs, ok } = openTools(t);
  const long = `x${"y".repeat(1_000)}`;
  const lines = Array.from({ length: 300 }, (_, n) => `${long}${n}`);
  await writeAll(fs, { big: lines.join("\n") });
  const page = await ok("grep", { query: "x", limit: 300 });
  assert.ok(page.truncated && page.count < 300);
  assert.ok(Buffer.byteLength(JSON.stringify(page.matches)) <= 128 * 1024 + 2);
  const texts = (await pagesOf(ok, "grep", { query: "x" }, "matches", 300)).map(({ text }) => text);
  assert.deepEqual(texts, lines);

  const name = (n) => `${String(n).padStart(4, "0")}-${"n".repeat(240)}`;
  await writeAll(fs, Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`many/${name(n)}`, "x"])));
  for (const [tool, input, field] of [
    ["ls", { path: "/workspace/many" }, "entries"],
    ["find", { path: "/workspace/many", pattern: "*" }, "entries"],
    ["grep", { path: "/workspace/many", query: "x", outputMode: "files" }, "files"],
  ]) {
    const first = await ok(tool, { ...input, limit: 1_000 });
    assert.ok(first.truncated && first.count < 700, tool);
    assert.ok(Buffer.byteLength(JSON.stringify(first)) < 132 * 1024);
    assert.equal((await pagesOf(ok, tool, input, field, 1_000)).length, 700);
  }
});

test("a very long line is cut around nothing but its start, and says so", async (t) => {
  const { fs, ok } = openTools(t);
  await writeAll(fs, { long: `${"\u00e9".repeat(200_000)}needle\nneedle\n` });
  const { matches } = await ok("grep", { query: "needle" });
  assert.deepEqual(
    matches.map(({ line, cut }) => [line, cut]),
    [
      [1, true],
      [2, undefined],
    ],
  );
  assert.ok(Buffer.byteLength(matches[0].text) < 10_000);
  assert.ok(!matches[0].text.includes("\ufffd"));
});
