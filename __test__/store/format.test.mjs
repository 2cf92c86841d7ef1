// Files of earlier versions open, and hold what they held.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Workspace } from "carrel";
import { contents, links, NOW } from "../support/format-tree.mjs";

let workspace;
afterEach(() => workspace.close());

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

for (const version of [1]) {
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
}
