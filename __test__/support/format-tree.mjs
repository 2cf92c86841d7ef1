// The tree in the files of tests/data, and how such a file is made:
//
//   node __test__/support/format-tree.mjs
//
// The file is never made again for a version that was released: it stands for what users have.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Workspace } from "carrel";
import { createToolSet } from "carrel/tools";
import binding from "../../index.js";
import fake from "./fake-isolate.cjs";

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
  // From version 3 on.
  await makeRuns(path);
}

/** Two runs: one that completed, and one whose process was killed. */
async function makeRuns(path) {
  spawnSync(process.execPath, [fileURLToPath(import.meta.url), "runs", path], { stdio: "inherit" });
  // The killed process left a log that is not copied back.
  await new Workspace({ storage: path }).close();
}

async function runAndDie(path) {
  const folder = mkdtempSync(join(tmpdir(), "carrel-format-"));
  const play = (name, end) => fake.fakeIsolate(folder, name, end);
  const workspace = new binding.NativeWorkspace({ storage: path });
  const start = async (isolatePath, request) => {
    const runtime = workspace.runtime(JSON.stringify({ id: "format", isolatePath, warm: 0 }), () => {});
    await runtime.exec(JSON.stringify(request), "", null);
    return runtime;
  };
  const completed = play("completed", ({ begin, write, output, done, end }) => {
    begin();
    write(output(1, "first\n"), output(2, "second\n"), output(1, "third\n"));
    end(done("completed", '{"answer":42}', 3));
  });
  const runtime = await start(completed, { id: "completed", label: "a label" });
  await runtime.result("completed", null);
  await runtime.close();
  const abandoned = play("abandoned", ({ output, say }) => say(output(1, "so far\n")));
  const other = await start(abandoned, { id: "abandoned" });
  await other.next("abandoned", 0);
  // What was printed is stored within a moment.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  rmSync(folder, { recursive: true });
  process.kill(process.pid, "SIGKILL");
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === "runs") {
  await runAndDie(process.argv[3]);
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(tmpdir(), `carrel-format-${process.pid}.db`);
  await make(path);
  const file = readFileSync(path);
  // `user_version` of the header.
  const version = file.readInt32BE(60);
  writeFileSync(new URL(`../../tests/data/v${version}.db.gz`, import.meta.url), gzipSync(file, { level: 9 }));
  rmSync(path);
  rmSync(`${path}-pins`, { force: true });
}
