// A git repository in a workspace, by isomorphic-git, and the same repository read on the host.

import assert from "node:assert/strict";
import * as host from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import git from "isomorphic-git";
import { hashOf, uniqueBytes } from "../support/chance.mjs";
import { gitFs } from "../support/git-fs.mjs";
import { bytesOf, folderFor, STORAGES, treeOf } from "../support/workspace.mjs";

const dir = "/workspace/repository";
const author = { name: "A. Author", email: "author@example.org", timestamp: 1_700_000_000, timezoneOffset: 0 };

const FIRST = {
  "README.md": "# First\n",
  "src/index.js": "export const one = 1;\n",
  "src/deep/er/\u00e9 \u{1f600}.txt": "nested\n",
  "empty.txt": "",
  "binary.bin": uniqueBytes("binary", 700_000),
  "bin/run": "#!/bin/sh\n",
};

/** Writes files and links, and adds all that is there. */
async function commit(fs, files, message) {
  const repository = { fs: gitFs(fs), dir };
  for (const [path, content] of Object.entries(files)) {
    await fs.mkdir(join(dir, dirname(path)), { recursive: true });
    await fs.writeFile(join(dir, path), content);
  }
  for (const [path, , here] of await git.statusMatrix(repository)) {
    if (here === 0) await git.remove({ ...repository, filepath: path });
    else await git.add({ ...repository, filepath: path });
  }
  return git.commit({ ...repository, message, author });
}

/** What is checked out, without the repository itself. Git knows no empty directories. */
async function checkedOut(fs) {
  const found = {};
  for (const { path, type } of await fs.find(dir, undefined, { exclude: ".git" })) {
    if (type === "symlink") found[path] = await fs.readlink(path);
    if (type === "file") {
      const { mode } = await fs.stat(path);
      found[path] = `${mode.toString(8)} ${hashOf(await bytesOf(fs.readFile(path)))}`;
    }
  }
  return found;
}

/** The history of a new repository: two commits on `main`, one on `feature`, which is checked out. */
async function makeRepository(fs) {
  const repository = { fs: gitFs(fs), dir };
  await fs.mkdir(dir, { recursive: true });
  await git.init({ ...repository, defaultBranch: "main" });
  await git.setConfig({ ...repository, path: "user.name", value: author.name });

  await fs.mkdir(join(dir, "bin"));
  await fs.writeFile(join(dir, "bin/run"), FIRST["bin/run"], { mode: 0o755 });
  await fs.symlink("src/index.js", join(dir, "main.js"));
  const first = await commit(fs, FIRST, "first\n");
  const trees = { first: await checkedOut(fs) };

  const second = await commit(fs, { "src/index.js": "export const one = 2;\n", "src/new.js": "new\n" }, "second\n");
  trees.second = await checkedOut(fs);

  await git.branch({ ...repository, ref: "feature", checkout: true });
  await fs.rm(join(dir, "src/deep"), { recursive: true });
  await fs.rm(join(dir, "main.js"));
  await fs.rename(join(dir, "README.md"), join(dir, "README"));
  const feature = await commit(fs, { "feature.txt": "feature\n" }, "feature\n");
  trees.feature = await checkedOut(fs);
  return { commits: { first, second, feature }, trees };
}

for (const storage of ["memory", "normal"]) {
  test(`init, add, commit, branch, check out, log and read back (${storage})`, async (t) => {
    const folder = folderFor(t);
    const workspace = new Workspace({ storage: STORAGES[storage](folder) });
    const { fs } = workspace;
    const { commits, trees } = await makeRepository(fs);
    const repository = { fs: gitFs(fs), dir };

    assert.deepEqual(await git.listBranches(repository), ["feature", "main"]);
    assert.equal(await git.currentBranch(repository), "feature");
    const log = await git.log({ ...repository, ref: "feature" });
    assert.deepEqual(
      log.map(({ oid, commit }) => [oid, commit.message, commit.author.name]),
      [
        [commits.feature, "feature\n", author.name],
        [commits.second, "second\n", author.name],
        [commits.first, "first\n", author.name],
      ],
    );

    for (const [ref, tree] of [
      ["main", trees.second],
      ["feature", trees.feature],
      [commits.first, trees.first],
      ["main", trees.second],
    ]) {
      await git.checkout({ ...repository, ref });
      assert.deepEqual(await checkedOut(fs), tree, ref);
      const changed = (await git.statusMatrix(repository)).filter(([, ...state]) => state.join() !== "1,1,1");
      assert.deepEqual(changed, [], ref);
    }
    assert.equal((await fs.stat(join(dir, "bin/run"))).mode, 0o755);
    assert.equal(await fs.readlink(join(dir, "main.js")), "src/index.js");

    // A change is seen, and undone.
    await fs.writeFile(join(dir, "README.md"), "# Changed\n");
    await fs.rm(join(dir, "empty.txt"));
    assert.equal(await git.status({ ...repository, filepath: "README.md" }), "*modified");
    assert.equal(await git.status({ ...repository, filepath: "empty.txt" }), "*deleted");
    await git.checkout({ ...repository, ref: "main", force: true });
    assert.deepEqual(await checkedOut(fs), trees.second);

    await git.merge({ ...repository, ours: "main", theirs: "feature", author });
    await git.checkout({ ...repository, ref: "main" });
    assert.deepEqual(await checkedOut(fs), trees.feature);
    await git.tag({ ...repository, ref: "v1" });
    await git.packObjects({ ...repository, oids: Object.values(commits), write: true });
    assert.deepEqual((await workspace.check()).problems, []);

    // What the host reads in a copy of the repository is what was committed.
    const copy = join(folder, "copy");
    for (const path of await fs.ls(join(dir, ".git"))) {
      const target = join(copy, path.slice(dir.length));
      host.mkdirSync(dirname(target), { recursive: true });
      host.writeFileSync(target, await bytesOf(fs.readFile(path)));
    }
    const onHost = { fs: host, dir: copy };
    await git.checkout({ ...onHost, ref: commits.first, force: true });
    for (const [path, content] of Object.entries(FIRST)) {
      assert.ok(host.readFileSync(join(copy, path)).equals(Buffer.from(content)), path);
    }
    assert.equal(host.readlinkSync(join(copy, "main.js")), "src/index.js");
    assert.equal(host.statSync(join(copy, "bin/run")).mode & 0o100, 0o100);
    assert.equal(await git.resolveRef({ ...onHost, ref: "v1" }), commits.feature);
    await workspace.close();

    if (storage === "memory") return;
    const again = new Workspace({ storage: STORAGES[storage](folder) });
    const reopened = { fs: gitFs(again.fs), dir };
    assert.equal((await git.log(reopened)).length, 3);
    const { blob } = await git.readBlob({ ...reopened, oid: commits.first, filepath: "binary.bin" });
    assert.ok(Buffer.from(blob).equals(FIRST["binary.bin"]));
    await again.close();
  });

  test(`a commit in a transaction is there as a whole, or not (${storage})`, async (t) => {
    const folder = folderFor(t);
    const workspace = new Workspace({ storage: STORAGES[storage](folder) });
    const { commits } = await workspace.transaction(makeRepository);
    const before = await treeOf(workspace.fs, "/");
    const reason = new Error("changed my mind");
    const undone = workspace.transaction(async (fs) => {
      await commit(fs, { README: "third\n" }, "third\n");
      assert.equal((await git.log({ fs: gitFs(fs), dir })).length, 4);
      throw reason;
    });
    await assert.rejects(undone, reason);
    assert.deepEqual(await treeOf(workspace.fs, "/"), before);
    assert.equal(await git.resolveRef({ fs: gitFs(workspace.fs), dir, ref: "HEAD" }), commits.feature);
    assert.deepEqual((await workspace.check()).problems, []);
    await workspace.close();
  });
}
