// Changes of one file from everywhere at once: each is made or says that it was not, and none is lost.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { chance, seed } from "../support/chance.mjs";
import { atEnd, folderFor } from "../support/ending.mjs";
import { startProcess } from "../support/process.mjs";
import { openTools, toolsOver } from "../support/tools.mjs";

const PATH = "/workspace/file";
const LINES = 100;
const linesOf = (word, ending = "\n") =>
  Array.from({ length: LINES }, (_, n) => `line ${n}: ${word}${ending}`).join("");
const editOf = (n, path = PATH) => ({
  path,
  edits: [{ oldText: `line ${n}: before`, newText: `line ${n}: after` }],
});

/** Checks that exactly the edits that said so were made. */
function compare(text, outcomes, ending = "\n") {
  const want = outcomes.map(({ isError }, n) => `line ${n}: ${isError ? "before" : "after"}${ending}`);
  assert.equal(text, want.join(""));
  for (const { output, isError } of outcomes) {
    if (isError) assert.equal(output.code, "ECONFLICT", output.error);
    else assert.ok(output.changed && output.version);
  }
}

/** A workspace in a file, closed and removed when the test is over. */
function openFile(t) {
  const file = join(folderFor(t), "parallel.db");
  const workspace = new Workspace({ storage: file });
  atEnd(t, () => workspace.close());
  return { file, workspace };
}

test("100 edits of one file at once all land", async (t) => {
  for (const [ending, count] of [
    ["\n", 1],
    ["\r\n", 4],
  ]) {
    const { workspace, fs } = openTools(t);
    // Some of them through tool sets of their own.
    const sets = Array.from({ length: count }, () => toolsOver(workspace));
    await fs.writeFile(PATH, linesOf("before", ending));
    const outcomes = await Promise.all(Array.from({ length: LINES }, (_, n) => sets[n % count].run("edit", editOf(n))));
    assert.ok(outcomes.every(({ isError }) => !isError));
    compare(await fs.readFile(PATH, "utf8"), outcomes, ending);
    assert.equal(new Set(outcomes.map(({ output }) => output.version)).size, LINES, "each made a version of its own");
  }
});

test("100 edits of the same text: one lands, the others say so", async (t) => {
  const { fs, run } = openTools(t);
  await fs.writeFile(PATH, "count: 0\n");
  const edits = Array.from({ length: LINES }, (_, n) =>
    run("edit", { path: PATH, edits: [{ oldText: "count: 0", newText: `count: ${n + 1}` }] }),
  );
  const outcomes = await Promise.all(edits);
  const made = outcomes.flatMap(({ isError }, n) => (isError ? [] : [n + 1]));
  assert.equal(made.length, 1);
  assert.equal(await fs.readFile(PATH, "utf8"), `count: ${made[0]}\n`);
  for (const { output } of outcomes)
    assert.ok(["ENOMATCH", "ECONFLICT", undefined].includes(output.code), output.error);
});

test("4 × 25 edits from four processes all land", async (t) => {
  const { file, workspace } = openFile(t);
  await workspace.fs.writeFile(PATH, linesOf("before"));
  const processes = await Promise.all(Array.from({ length: 4 }, () => startProcess(t, { storage: file })));
  const answers = await Promise.all(
    processes.map((process, lane) =>
      process.run(
        async ({ workspace }, edits) => {
          const { createToolSet } = await import("carrel/tools");
          const set = createToolSet({ workspace });
          return Promise.all(edits.map((edit) => set.execute("edit", edit)));
        },
        Array.from({ length: 25 }, (_, index) => editOf(lane * 25 + index)),
      ),
    ),
  );
  const outcomes = answers.flat();
  compare(await workspace.fs.readFile(PATH, "utf8"), outcomes);
  assert.ok(outcomes.every(({ isError }) => !isError));
  assert.deepEqual((await workspace.check()).problems, []);
});

test("edits, writes, and appends by the file system at once", async (t) => {
  const { workspace, fs, run } = openTools(t);
  const dice = chance(seed, t.name);
  for (let round = 0; round < 12; round++) {
    await fs.writeFile(PATH, linesOf("before"));
    const replaced = `all new ${round}\n${linesOf("before")}`;
    const write = async () => {
      await fs.writeFile(PATH, replaced);
      return undefined;
    };
    const at = dice.below(LINES);
    const calls = Array.from({ length: LINES }, (_, n) => () => run("edit", editOf(n)));
    calls.splice(at, 0, write);
    calls.push(() => fs.appendFile(PATH, "appended\n"));
    const outcomes = (await Promise.all(calls.map((call) => call()))).filter(Boolean);
    const text = await fs.readFile(PATH, "utf8");
    // The write takes the place of what came before it; all else is there.
    assert.ok(text.startsWith(`all new ${round}\n`), text.slice(0, 50));
    const lines = text.split("\n");
    const after = lines.slice(1, LINES + 1).filter((line) => line.endsWith("after")).length;
    const made = outcomes.filter(({ isError }) => !isError).length;
    assert.equal(made, LINES, "each text was there at any time");
    assert.ok(after <= made);
    // Those that were called after the write had begun may not be lost by an edit that had matched before.
    assert.deepEqual(
      lines.slice(1, LINES + 1).map((line) => line.replace(/: (before|after)$/, "")),
      Array.from({ length: LINES }, (_, n) => `line ${n}`),
    );
  }
  assert.deepEqual((await workspace.check()).problems, []);
});

test("an edit never brings back what another writer has replaced", async (t) => {
  const { workspace, run } = openTools(t);
  const { fs } = workspace;
  // Each write makes the file longer by one line, and edits change the first: no line may get lost.
  await fs.writeFile(PATH, "first: 0\n");
  const appends = Array.from({ length: 60 }, (_, n) => n);
  const edits = Array.from({ length: 60 }, (_, n) => n);
  let last = 0;
  const editor = async () => {
    for (const _ of edits) {
      const { output, isError } = await run("edit", {
        path: PATH,
        edits: [{ oldText: `first: ${last}\n`, newText: `first: ${last + 1}\n` }],
      });
      assert.equal(isError, false, output.error);
      last++;
    }
  };
  const appender = async () => {
    for (const n of appends) await fs.appendFile(PATH, `appended ${n}\n`);
  };
  await Promise.all([editor(), appender()]);
  const want = [`first: ${edits.length}`, ...appends.map((n) => `appended ${n}`), ""];
  assert.deepEqual((await fs.readFile(PATH, "utf8")).split("\n"), want);
});

test("names of one file and tool sets with other roots lose nothing", async (t) => {
  const { workspace } = openFile(t);
  const { fs } = workspace;
  await fs.mkdir("/workspace/deep/er", { recursive: true });
  await fs.writeFile("/workspace/deep/er/file", linesOf("before"));
  await fs.symlink("deep/er/file", "/workspace/soft");
  await fs.symlink("deep", "/workspace/folder");
  await fs.link("/workspace/deep/er/file", "/workspace/hard");
  const [whole, here, deep] = [{}, { root: "/workspace" }, { root: "/workspace/deep" }].map((options) =>
    toolsOver(workspace, options),
  );
  const ways = [
    [whole, "/workspace/deep/er/file"],
    [whole, "/workspace/soft"],
    [whole, "/workspace/folder/er/file"],
    [whole, "/workspace/hard"],
    [here, "deep/er/file"],
    [here, "soft"],
    [deep, "er/file"],
    [deep, "/workspace/deep/er/../er/file"],
  ];
  const outcomes = await Promise.all(
    Array.from({ length: LINES }, (_, n) => {
      const [{ run }, path] = ways[n % ways.length];
      return run("edit", editOf(n, path));
    }),
  );
  assert.ok(
    outcomes.every(({ isError }) => !isError),
    JSON.stringify(outcomes.find(({ isError }) => isError)?.output),
  );
  compare(await fs.readFile("/workspace/hard", "utf8"), outcomes);
});

test("writes with ifUnchanged: of those that know one version only one lands", async (t) => {
  const { fs, ok, run } = openTools(t);
  await fs.writeFile(PATH, "start");
  for (let round = 0; round < 10; round++) {
    const { version } = await ok("read", { path: PATH });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        run("write", { path: PATH, content: `${round}.${n}`, ifUnchanged: version }),
      ),
    );
    const made = outcomes.flatMap(({ isError }, n) => (isError ? [] : [n]));
    assert.equal(made.length, 1);
    assert.equal(await fs.readFile(PATH, "utf8"), `${round}.${made[0]}`);
    for (const { output, isError } of outcomes) if (isError) assert.equal(output.code, "ECONFLICT");
  }
});

test("an edit in a transaction's way waits for it and sees what it did", async (t) => {
  const { workspace, fs, run } = openTools(t);
  await fs.writeFile(PATH, "one\n");
  let begin;
  // Made out here: what the body itself calls is refused.
  const edit = new Promise((resolve) => {
    begin = resolve;
  }).then(() => run("edit", { path: PATH, edits: [{ oldText: "one", newText: "1" }] }));
  await workspace.transaction(async (inner) => {
    await inner.writeFile(PATH, "two\n");
    begin();
    await inner.writeFile("/workspace/other", "x");
  });
  const { output, isError } = await edit;
  const text = await fs.readFile(PATH, "utf8");
  // It looked at the file before or after; either way the transaction stays.
  assert.deepEqual([isError, text], [true, "two\n"], JSON.stringify(output));
  assert.ok(["ENOMATCH", "ECONFLICT"].includes(output.code));
});

test("files that come and go under edits", async (t) => {
  const { fs, run } = openTools(t);
  for (let round = 0; round < 30; round++) {
    await fs.writeFile(PATH, "one\n");
    const [edited, deleted] = await Promise.all([
      run("edit", { path: PATH, edits: [{ oldText: "one", newText: "two" }] }),
      run("delete", { path: PATH }),
    ]);
    assert.deepEqual(deleted.output, { deleted: PATH, existed: true });
    if (edited.isError) assert.equal(edited.output.code, "ENOENT", edited.output.error);
    assert.equal(await fs.exists(PATH), false);
  }
});

test("a change inside the body of a transaction is refused, as it would wait for its end", async (t) => {
  const { workspace, fs, set, ok } = openTools(t);
  await fs.writeFile(PATH, "before\n");
  await workspace.transaction(async (inside) => {
    await inside.writeFile("/workspace/other", "x");
    for (const [name, input] of [
      ["write", { path: PATH, content: "after\n" }],
      ["edit", { path: PATH, edits: [{ oldText: "before", newText: "after" }] }],
      ["delete", { path: PATH }],
    ]) {
      await assert.rejects(
        set.execute(name, input),
        (error) => error.code === "EINVAL" && /transaction/.test(error.message),
      );
    }
    await ok("read", { path: PATH });
  });
  assert.equal(await fs.readFile(PATH, "utf8"), "before\n");
  await ok("write", { path: PATH, content: "after\n" });
});
