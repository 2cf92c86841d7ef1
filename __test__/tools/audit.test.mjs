// The audit: a record of each call of a tool, made with its change, without contents.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { atEnd, folderFor } from "../support/ending.mjs";
import { openTools, toolsOver } from "../support/tools.mjs";
import { rejection } from "../support/workspace.mjs";

const PATH = "/workspace/file";
const AUDITED = { audit: true };
const hashOf = (input) =>
  createHash("sha256")
    .update(JSON.stringify(sorted(input)))
    .digest("hex");

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** Records without what differs from run to run, which is checked to be there. */
function plain(records) {
  let last = 0;
  return records.map(({ id, at, duration, ...record }) => {
    assert.ok(Number.isInteger(id) && id > last);
    last = id;
    assert.ok(Math.abs(at - Date.now()) < 600_000 && duration >= 0 && duration < 600_000);
    return record;
  });
}

test("each call has a record", async (t) => {
  const { workspace, fs, run } = openTools(t, { auditTag: "me" }, AUDITED);
  await fs.mkdir("/workspace/d");
  await fs.symlink("file", "/workspace/link");
  const edits = [{ newText: "longer text", oldText: "text" }];
  const calls = [
    ["write", { path: PATH, content: "text" }, [PATH], undefined, 4],
    ["write", { path: "/workspace/link", content: "text\n" }, [PATH], 4, 5],
    ["read", { path: "/workspace/link" }, [PATH], 5, 5],
    ["edit", { path: "file", edits }, [PATH], 5, 12],
    ["edit", { path: PATH, edits: [{ oldText: "longer", newText: "longer" }] }, [PATH], 12, 12],
    ["ls", { path: "." }, ["/workspace"]],
    ["find", { pattern: "*" }, ["/workspace"]],
    ["grep", { query: "text", path: "d" }, ["/workspace/d"]],
    ["delete", { path: "/workspace/link" }, ["/workspace/link"]],
    ["delete", { path: PATH }, [PATH], 12],
    ["delete", { path: PATH }, [PATH]],
    ["read", { path: PATH }, [PATH], undefined, undefined, "ENOENT"],
    ["edit", { path: PATH, edits }, [PATH], undefined, undefined, "ENOENT"],
    ["write", { path: "/workspace/d", content: "x" }, ["/workspace/d"], undefined, undefined, "EISDIR"],
    ["delete", { path: "/workspace" }, ["/workspace"], undefined, undefined, "EPERM"],
    ["read", { path: 5 }, [], undefined, undefined, "EINVAL"],
  ];
  const want = [];
  for (const [tool, input, paths, bytesBefore, bytesAfter, code] of calls) {
    const { output } = await run(tool, input);
    assert.equal(output.code, code, `${tool} ${JSON.stringify(output)}`);
    want.push({
      tool,
      tag: "me",
      argumentsHash: hashOf(input),
      paths,
      ...(bytesBefore !== undefined && { bytesBefore }),
      ...(bytesAfter !== undefined && { bytesAfter }),
      status: code ? "error" : "ok",
      ...(code && { code }),
    });
  }
  assert.deepEqual(plain(await workspace.audit.query()), want);
});

test("the hash is of what the arguments mean", async (t) => {
  const { workspace, run } = openTools(t, {}, AUDITED);
  const edits = [{ oldText: "a", newText: "b" }];
  for (const input of [
    { path: PATH, edits },
    { edits: JSON.stringify(edits), path: PATH },
    { path: PATH, oldText: "a", newText: "b" },
    { file_path: PATH, old_string: "a", new_string: "b", edits: null },
  ]) {
    await run("edit", input);
  }
  const records = await workspace.audit.query();
  assert.deepEqual(
    records.map(({ argumentsHash }) => argumentsHash),
    Array(4).fill(hashOf({ path: PATH, edits })),
  );
  assert.ok(records.every((record) => !("tag" in record)));
});

test("every filter", async (t) => {
  const { workspace, fs } = openTools(t, {}, AUDITED);
  const [alice, bob] = ["alice", "bob"].map((auditTag) => toolsOver(workspace, { auditTag }));
  await fs.mkdir("/workspace/src/deep", { recursive: true });
  const calls = [
    [alice, "write", { path: "/workspace/src/a", content: "a" }],
    [bob, "write", { path: "/workspace/src/deep/b", content: "b" }],
    [alice, "read", { path: "/workspace/src/a" }],
    [bob, "read", { path: "/workspace/none" }],
    [alice, "read", { path: "/workspace/src2" }],
    [bob, "find", { pattern: "**" }],
    [alice, "delete", { path: "/workspace/src/a" }],
  ];
  for (const [{ run }, name, input] of calls) {
    await run(name, input);
    await new Promise((done) => setTimeout(done, 3));
  }
  const all = await workspace.audit.query();
  assert.equal(all.length, calls.length);
  const rows = [
    [undefined, [0, 1, 2, 3, 4, 5, 6]],
    [{}, [0, 1, 2, 3, 4, 5, 6]],
    [{ tool: "read" }, [2, 3, 4]],
    [{ tool: "grep" }, []],
    [{ tag: "alice" }, [0, 2, 4, 6]],
    [{ tag: "" }, []],
    [{ status: "ok" }, [0, 1, 2, 5, 6]],
    [{ status: "error" }, [3, 4]],
    [{ path: "/workspace/src" }, [0, 1, 2, 6]],
    [{ path: "/workspace/src/a" }, [0, 2, 6]],
    [{ path: "/workspace/src/deep/" }, [1]],
    [{ path: "/workspace" }, [0, 1, 2, 3, 4, 5, 6]],
    [{ path: "/" }, [0, 1, 2, 3, 4, 5, 6]],
    [{ since: all[3].at }, [3, 4, 5, 6]],
    [{ until: all[3].at }, [0, 1, 2]],
    [{ since: all[1].at, until: all[4].at }, [1, 2, 3]],
    [{ after: all[4].id }, [5, 6]],
    [{ after: all[6].id }, []],
    [{ limit: 2 }, [0, 1]],
    [{ limit: 2, after: all[1].id }, [2, 3]],
    [{ tool: "read", tag: "alice", status: "ok", path: "/workspace/src", limit: 5 }, [2]],
    [{ tool: undefined, tag: undefined }, [0, 1, 2, 3, 4, 5, 6]],
  ];
  for (const [query, want] of rows) {
    const found = await workspace.audit.query(query);
    assert.deepEqual(
      found,
      want.map((index) => all[index]),
      JSON.stringify(query),
    );
  }
  // In pages: the same as at once.
  const paged = [];
  const next = () => workspace.audit.query({ limit: 3, after: paged.at(-1)?.id ?? 0 });
  for (let page = await next(); page.length > 0; page = await next()) paged.push(...page);
  assert.deepEqual(paged, all);
});

test("a query that is wrong is refused by the name of its field", async (t) => {
  const { workspace } = openTools(t, {}, AUDITED);
  const rows = [
    [{ status: "failed" }, "EINVAL", "status"],
    [{ limit: 10_001 }, "EINVAL", "limit"],
    [{ tool: 5 }, "ERR_INVALID_ARG_TYPE", "tool"],
    [{ since: "today" }, "ERR_INVALID_ARG_TYPE", "since"],
    [{ after: -1 }, undefined, "after"],
    [{ path: "relative/../.." }, undefined, "path"],
    [{ kind: "read" }, "EINVAL", "kind"],
  ];
  for (const [query, code, word] of rows) {
    await assert.rejects(workspace.audit.query(query), (error) => {
      if (code) assert.equal(error.code, code, error.message);
      assert.ok(error.message.includes(word), error.message);
      return true;
    });
  }
  await workspace.close();
  await rejection(workspace.audit.query(), "ECLOSED");
});

test("it is off unless asked for", async (t) => {
  for (const options of [{}, { audit: false }]) {
    const { workspace, run } = openTools(t, { auditTag: "me" }, options);
    await run("write", { path: PATH, content: "x" });
    await run("read", { path: PATH });
    await run("read", { path: "/none" });
    assert.deepEqual(await workspace.audit.query(), []);
  }
});

test("calls of the file system are not in it", async (t) => {
  const { workspace, fs } = openTools(t, {}, AUDITED);
  await fs.writeFile(PATH, "x");
  await fs.readFile(PATH);
  assert.deepEqual(await workspace.audit.query(), []);
});

test("records survive a restart, and hold no contents", async (t) => {
  const file = join(folderFor(t), "audit.db");
  const secret = "s3cr3t-c0ntents-of-the-file";
  const first = new Workspace({ storage: file, audit: true });
  const { run } = toolsOver(first, { auditTag: "me" });
  await run("write", { path: PATH, content: "harmless" });
  // Arguments that hold the secret, and never get into a file.
  await run("edit", { path: PATH, edits: [{ oldText: secret, newText: `${secret}2` }] });
  await run("grep", { query: secret });
  await run("write", { path: `${PATH}/below`, content: secret });
  await run("read", { path: PATH, [secret]: 1 });
  const records = await first.audit.query();
  assert.equal(records.length, 5);
  assert.ok(!JSON.stringify(records).includes(secret));
  await first.close();
  assert.ok(!readFileSync(file, "latin1").includes(secret));

  // Also where records are not kept any more they can be asked for.
  const second = new Workspace({ storage: file });
  atEnd(t, () => second.close());
  assert.deepEqual(await second.audit.query(), records);
  await toolsOver(second).run("read", { path: PATH });
  assert.equal((await second.audit.query()).length, 5);
});

test("a change and its record are one: others see both or none", async (t) => {
  const file = join(folderFor(t), "audit.db");
  const [writer, watcher] = [0, 1].map(() => {
    const workspace = new Workspace({ storage: file, audit: true });
    atEnd(t, () => workspace.close());
    return workspace;
  });
  const { run } = toolsOver(writer);
  await run("write", { path: PATH, content: "" });
  let isDone = false;
  const writing = (async () => {
    for (let n = 1; n <= 60; n++) await run("write", { path: PATH, content: "x".repeat(n) });
    isDone = true;
  })();
  // Records are never fewer than changes seen before, and changes never fewer than records seen before.
  while (!isDone) {
    const before = (await watcher.fs.stat(PATH)).size;
    const records = (await watcher.audit.query()).length - 1;
    const after = (await watcher.fs.stat(PATH)).size;
    assert.ok(before <= records && records <= after, `${before} ≤ ${records} ≤ ${after}`);
  }
  await writing;
  assert.equal((await watcher.audit.query()).length, 61);
});

test("a change that does not happen leaves a record of its failure only", async (t) => {
  const { workspace, fs, run } = openTools(t, {}, { audit: true, quotaBytes: 1_000 });
  await run("write", { path: PATH, content: "x" });
  await run("write", { path: PATH, content: "x".repeat(2_000) });
  await run("write", { path: "/workspace/new/deep/file", content: "x".repeat(2_000) });
  const records = plain(await workspace.audit.query()).map(({ status, code }) => code ?? status);
  assert.deepEqual(records, ["ok", "ENOSPC", "ENOSPC"]);
  assert.equal(await fs.exists("/workspace/new"), false);
});

test("calls at once have a record each", async (t) => {
  const { workspace, run } = openTools(t, {}, AUDITED);
  const calls = Array.from({ length: 60 }, (_, n) => {
    if (n % 3 === 0) return run("write", { path: `/workspace/f${n}`, content: "x" });
    return n % 3 === 1 ? run("read", { path: `/workspace/none${n}` }) : run("find", { pattern: `*${n}` });
  });
  await Promise.all(calls);
  const records = plain(await workspace.audit.query());
  assert.deepEqual(
    ["write", "read", "find"].map((tool) => records.filter((record) => record.tool === tool).length),
    [20, 20, 20],
  );
  assert.deepEqual((await workspace.check()).problems, []);
});
