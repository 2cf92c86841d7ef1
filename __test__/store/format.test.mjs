// Files of earlier versions open, and hold what they held.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Workspace } from "carrel";
import { createToolSet } from "carrel/tools";
import binding from "../../index.js";
import { contents, links, NOW } from "../support/format-tree.mjs";

let workspace;
afterEach(() => workspace?.close());

const folder = mkdtempSync(join(tmpdir(), "carrel-format-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function copyOf(version) {
  const path = join(folder, `v${version}.db`);
  const packed = readFileSync(new URL(`../../tests/data/v${version}.db.gz`, import.meta.url));
  writeFileSync(path, gunzipSync(packed));
  return path;
}

async function bytesOf(fs, path) {
  return Buffer.from(await new Response(await fs.readFile(path)).arrayBuffer());
}

/** `user_version` of the header. */
const versionIn = (path) => readFileSync(path).readInt32BE(60);

test("a file of version 2 has the calls of tools, and what was read", async () => {
  workspace = new Workspace({ storage: copyOf(2) });
  const [call, ...others] = await workspace.audit.query();
  assert.deepEqual(others, []);
  assert.deepEqual([call.tool, call.tag, call.paths, call.status], ["read", "maker", ["/workspace/notes.md"], "ok"]);
  const write = { path: "/workspace/notes.md", content: "new" };
  const as = (auditTag) => createToolSet({ workspace, requireReadBeforeOverwrite: true, auditTag });
  assert.equal((await as("other").execute("write", write)).output.code, "ENOTREAD");
  assert.equal((await as("maker").execute("write", write)).isError, false);
});

test("a file of version 3 has its runs, and says of one that was interrupted that it was", async () => {
  const native = new binding.NativeWorkspace({ storage: copyOf(3) });
  // The runs of the file are older than runs are kept.
  const runtime = native.runtime(JSON.stringify({ id: "format", retentionMs: 1e14 }), () => {});
  const result = async (id) => JSON.parse(await runtime.result(id, null));
  assert.deepEqual(await result("completed"), {
    status: "completed",
    exitCode: 3,
    value: '{"answer":42}',
    stdout: "first\nthird\n",
    stderr: "second\n",
  });
  assert.deepEqual(await result("abandoned"), {
    status: "failed",
    exitCode: 1,
    reason: "interrupted",
    stdout: "so far\n",
    stderr: "Run was interrupted: the process that it belonged to has ended.\n",
  });
  await runtime.close();
  await native.close();
  workspace = undefined;
});

for (const version of [1, 2]) {
  test(`a read-only file of version ${version} has no runs`, async () => {
    const native = new binding.NativeWorkspace({ storage: { path: copyOf(version), readonly: true } });
    const runtime = native.runtime("{}", () => {});
    assert.equal(await runtime.has("completed"), false);
    await runtime.close();
    await native.close();
    workspace = undefined;
  });
}

for (const readonly of [true, false]) {
  test(`a file of version 1 has no calls of tools, ${readonly ? "read-only" : "to be written"}`, async () => {
    workspace = new Workspace({ storage: { path: copyOf(1), readonly }, audit: true });
    assert.deepEqual(await workspace.audit.query(), []);
    const tools = createToolSet({ workspace, requireReadBeforeOverwrite: true });
    assert.equal((await tools.execute("read", { path: "/workspace/notes.md" })).isError, false);
    assert.equal((await workspace.audit.query()).length, readonly ? 0 : 1);
  });
}

test("every version up to today's has a file", async () => {
  const path = join(folder, "new.db");
  workspace = new Workspace({ storage: path });
  await workspace.close();
  const names = Array.from({ length: versionIn(path) }, (_, index) => `v${index + 1}.db.gz`);
  assert.deepEqual(readdirSync(new URL("../../tests/data/", import.meta.url)).sort(), names.sort());
});

for (const version of [1, 2, 3]) {
  for (const readonly of [true, false]) {
    test(`a file of version ${version} has its tree, ${readonly ? "read-only" : "to be written"}`, async () => {
      workspace = new Workspace({ storage: { path: copyOf(version), readonly } });
      const { fs } = workspace;
      assert.deepEqual((await workspace.check()).problems, []);

      const expected = [
        ...Object.keys(contents),
        ...Object.keys(links),
        "/workspace/second-name",
        "/workspace/copy-of-chunks",
        "/workspace/moved",
        "/workspace/moved/b",
        "/workspace/moved/b/c",
      ];
      assert.deepEqual((await fs.find("/workspace")).map(({ path }) => path).sort(), expected.sort());
      for (const [path, bytes] of Object.entries(contents)) {
        assert.ok((await bytesOf(fs, path)).equals(bytes), path);
      }
      for (const [path, target] of Object.entries(links)) assert.equal(await fs.readlink(path), target);

      const notes = await fs.stat("/workspace/notes.md");
      assert.equal(notes.nlink, 2);
      assert.equal(notes.mtime, NOW);
      assert.equal((await fs.stat("/workspace/second-name")).inode, notes.inode);
      assert.equal((await fs.stat("/workspace/bytes.bin")).mode, 0o4755);
      assert.equal((await fs.stat("/workspace/moved/b/c")).mode, 0o700);
      assert.equal((await fs.stat("/workspace/empty")).mtime, 2000);
      assert.ok((await bytesOf(fs, "/workspace/copy-of-chunks")).equals(contents["/workspace/chunks"]));
    });
  }

  test(`a file of version ${version} can be written to`, async () => {
    workspace = new Workspace({ storage: copyOf(version) });
    const { fs } = workspace;
    await fs.appendFile("/workspace/copy-of-chunks", "more");
    await fs.writeFile("/workspace/in-table", "small now");
    await fs.rm("/workspace/moved", { recursive: true });
    assert.equal((await fs.stat("/workspace/copy-of-chunks")).size, contents["/workspace/chunks"].length + 4);
    assert.ok((await bytesOf(fs, "/workspace/chunks")).equals(contents["/workspace/chunks"]));
    assert.deepEqual((await workspace.check()).problems, []);
  });

  test(`in a file of version ${version} the totals fit, and a watch goes on from a cursor`, async () => {
    workspace = new Workspace({ storage: copyOf(version) });
    const { fs } = workspace;
    const { files, directories, bytes } = await fs.statfs();
    assert.equal(files, Object.keys(contents).length + Object.keys(links).length + 1);
    assert.equal(directories, 5);
    const sum = Object.values(contents).reduce((total, content) => total + content.length, 0);
    assert.equal(bytes, sum + contents["/workspace/chunks"].length);

    await fs.writeFile("/workspace/now", "");
    const events = [];
    for await (const { type, path, from } of fs.watch("/", { recursive: true, since: "1" })) {
      events.push(from ? `${type} ${from} -> ${path}` : `${type} ${path}`);
      if (path === "/workspace/now") break;
    }
    assert.deepEqual(events.slice(-4), [
      "create /workspace/gone",
      "delete /workspace/gone",
      "rename /workspace/a -> /workspace/moved",
      "create /workspace/now",
    ]);
  });
}
