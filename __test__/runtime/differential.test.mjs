// The same program in carrel on a workspace and in Node on a directory: output, exit code and value are the same.
//
// The programs are the files of `programs/`, one folder for each part of Node. Stack frames of Node's own files and of
// the runner are left out before texts are compared, and so are the source line and the version with which Node
// reports an uncaught error; frames of the program itself, with line and column, are compared.
//
// What carrel does otherwise, and why:
//
// - A value that is thrown and is no error is reported as `Uncaught <value>`. Node shows the value alone below the
//   source line, which carrel does not print. (Programs below.)
// - Frames of Node's library are never shown, since they are not the code's. An error that has no other frame is
//   reported as `Name: message`, where Node writes brackets around one that has no frame at all. (Programs below.)
// - A top-level await that never settles is an error with exit code 1; Node warns and exits with 13.
// - `process` has no functions that need a process: no signals, users, native modules, reports or child processes.
//   `node:perf_hooks` has no histograms and `console` no `createTask`, which need C++ of Node and an inspector.
// - The isolate has a later V8 than Node 24: it knows more of the language, such as `Uint8Array.fromBase64` and
//   `Math.sumPrecise`. The programs keep to what both know.
// - Compressed bytes are not Node's, since another library makes them; each unpacks what the other packs. What it says
//   of some broken data is another sentence, with the same code. Of SHAKE, `node:crypto` has nothing.
// - `mkdir` with `recursive` at or below a link that leads nowhere fails with another code. `copyFile` of a directory
//   leaves a file alone that has the name of the copy; libuv removes it.
// - `crypto`, `Crypto`, `CryptoKey` and `SubtleCrypto` are accessors until they are first used.
// - Messages arrive in the order in which they were posted; Node serves one port of a channel after the other.
// - `mkdtemp` names the file that it could not make with its `XXXXXX`.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cannotCompare, runInCarrel, runInNode } from "../support/same-program.mjs";

const folder = fileURLToPath(new URL("programs", import.meta.url));

/** What carrel gives instead, for the first two differences above. */
const OTHERWISE = {
  "errors/thrown-text": { stderr: "Uncaught 'a text'\n" },
  "errors/thrown-object": { stderr: "Uncaught { code: 5, list: [ 1, 2 ] }\n" },
  "errors/thrown-null": { stderr: "Uncaught null\n" },
  "errors/thrown-function": { stderr: "Uncaught [Function: named]\n" },
  "errors/no-stack": { stderr: "Error: message\n" },
  "errors/file-callback": {
    stderr: `Error: ENOENT: no such file or directory, open 'missing.txt' {
  errno: -2,
  code: 'ENOENT',
  syscall: 'open',
  path: 'missing.txt'
}
`,
  },
};

const names = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length).replaceAll("\\", "/"))
  .sort();

describe("a program does in carrel what it does in Node", { concurrency: 2, skip: cannotCompare }, () => {
  for (const name of names) {
    test(name, async () => {
      const source = readFileSync(join(folder, `${name}.mjs`), "utf8");
      const [wanted, got] = await Promise.all([runInNode(source), runInCarrel(source)]);
      assert.deepEqual(got, { ...wanted, ...OTHERWISE[name] });
    });
  }
});

test("there are programs for every difference that is expected, and enough of them", () => {
  for (const name of Object.keys(OTHERWISE)) assert.ok(names.includes(name), name);
  assert.ok(names.length >= 150, `${names.length} programs`);
});
