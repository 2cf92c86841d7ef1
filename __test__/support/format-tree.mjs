// The tree in the files of tests/data, and how such a file is made:
//
//   node __test__/support/format-tree.mjs
//
// The file is never made again for a version that was released: it stands for what users have.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Workspace } from "carrel";
import { createToolSet } from "carrel/tools";

/** The clock of the file: every time in it. */
export const NOW = 1_700_000_000_000.5;

const CHUNK_BYTES = 524_288;

/** Contents by path, in the order in which they were written. */
export const contents = {
  "/workspace/empty": Buffer.alloc(0),
  "/workspace/notes.md": Buffer.from("# Notes\r\n\nwith a \u{1F600} and a final line"),
  "/workspace/bytes.bin": Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  "/workspace/in-row": Buffer.alloc(2048, "a"),
  "/workspace/in-table": Buffer.alloc(2049, "b"),
  "/workspace/one-chunk": Buffer.alloc(CHUNK_BYTES, 1),
  "/workspace/chunks": Buffer.concat([Buffer.alloc(2 * CHUNK_BYTES, 2), Buffer.from("end")]),
  "/workspace/caf\u00e9": Buffer.from("composed"),
  "/workspace/cafe\u0301": Buffer.from("decomposed"),
  "/workspace/new\nline": Buffer.from("in a name"),
  "/workspace/__proto__": Buffer.from("a name like others"),
};

export const links = { "/workspace/link": "notes.md", "/workspace/broken": "../nowhere/at all" };

async function make(path) {
  const workspace = new Workspace({ storage: path, now: () => NOW, audit: true });
  const { fs } = workspace;
  for (const [file, bytes] of Object.entries(contents)) await fs.writeFile(file, bytes);
  for (const [link, target] of Object.entries(links)) await fs.symlink(target, link);
  await fs.link("/workspace/notes.md", "/workspace/second-name");
  await fs.copyFile("/workspace/chunks", "/workspace/copy-of-chunks");
  await fs.mkdir("/workspace/a/b/c", { recursive: true, mode: 0o700 });
  await fs.chmod("/workspace/bytes.bin", 0o4755);
  await fs.utimes("/workspace/empty", 1, 2);
  await fs.writeFile("/workspace/gone", "x");
  await fs.rm("/workspace/gone");
  await fs.rename("/workspace/a", "/workspace/moved");
  // From version 2 on.
  const tools = createToolSet({ workspace, requireReadBeforeOverwrite: true, auditTag: "maker" });
  await tools.execute("read", { path: "/workspace/notes.md" });
  await workspace.compact();
  await workspace.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(tmpdir(), `carrel-format-${process.pid}.db`);
  await make(path);
  const file = readFileSync(path);
  // `user_version` of the header.
  const version = file.readInt32BE(60);
  writeFileSync(new URL(`../../tests/data/v${version}.db.gz`, import.meta.url), gzipSync(file, { level: 9 }));
  rmSync(path);
}
