// Names are exact: any text without `/` and NUL is one, and different text is a different name.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, rejection } from "../support/workspace.mjs";

const NAMES = [
  "plain",
  "Plain",
  "PLAIN",
  " ",
  " leading",
  "trailing ",
  "...",
  "..a",
  "a..",
  ".hidden",
  "-rf",
  "~",
  "*",
  "?",
  "[a]",
  "{a,b}",
  "!a",
  "\\",
  "a\\b",
  "C:",
  "a:b",
  '"',
  "'; DROP TABLE inode; --",
  "%",
  "_",
  "\n",
  "a\nb",
  "\r\n",
  "\t",
  "\x01",
  "\x7f",
  "\x85",
  "\ufeff",
  "\ufffd",
  "\u200b",
  "\u202e",
  "caf\u00e9", // NFC
  "cafe\u0301", // NFD
  "\u212b", // Angstrom sign
  "\u00c5", // the same in NFC
  "\ufb01", // ligature fi
  "fi",
  "\u0130",
  "i\u0307",
  "\u00df",
  "ss",
  "\u{1f600}",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\u{10ffff}",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "then",
  "length",
  "null",
  "undefined",
  "0",
  "00",
  "-0",
  "1e3",
  "NaN",
  "CON",
  "NUL",
  "workspace",
  "n".repeat(255),
  "\u00e9".repeat(127),
  "\u{1f600}".repeat(63),
];

for (const storage of ["memory", "normal"]) {
  test(`every name is an ordinary one (${storage})`, async (t) => {
    const workspace = open(t, storage);
    const { fs } = workspace;
    assert.equal(new Set(NAMES).size, NAMES.length);
    await fs.mkdir("/d");
    for (const name of NAMES) {
      const error = await rejection(fs.stat(`/d/${name}`), "ENOENT");
      assert.ok(error.message.endsWith(`'/d/${name}'`));
      assert.equal(error.path, `/d/${name}`);
      await fs.writeFile(`/d/${name}`, name, { exclusive: true });
    }
    const sorted = [...NAMES].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const paths = sorted.map((name) => `/d/${name}`);
    const listed = await fs.readdir("/d");
    assert.deepEqual(
      listed.map(({ name }) => name),
      sorted,
    );
    assert.deepEqual(
      (await fs.readdir("/", { recursive: true })).filter(({ parentPath }) => parentPath === "/d"),
      listed,
    );
    assert.deepEqual(
      (await fs.find("/d")).map(({ path }) => path),
      paths,
    );
    assert.deepEqual(await fs.ls("/d"), paths);
    for (const name of NAMES) {
      const path = `/d/${name}`;
      assert.equal(await fs.readFile(path, "utf8"), name);
      assert.equal((await fs.stat(path)).name, name);
      assert.equal(await fs.realpath(path), path);
    }
    assert.deepEqual((await workspace.check()).problems, []);

    // As names of directories and links, and moved.
    for (const name of NAMES) {
      await fs.rename(`/d/${name}`, "/moved");
      assert.equal(await fs.mkdir(`/d/${name}/${name}`, { recursive: true }), `/d/${name}`);
      await fs.rename("/moved", `/d/${name}/${name}/${name}`);
      await fs.symlink(`${name}/${name}`, `/d/${name}/link`);
      assert.equal(await fs.realpath(`/d/${name}`), `/d/${name}`);
      await fs.rm(`/d/${name}/link`);
      await fs.symlink(name, `/d/${name}/link`);
      assert.equal(await fs.readFile(`/d/${name}/link/${name}`, "utf8"), name);
    }
    assert.equal((await fs.ls("/d")).length, NAMES.length);
    assert.deepEqual((await workspace.check()).problems, []);
  });
}

test("names and paths have a length in bytes", async (t) => {
  const { fs } = open(t);
  for (const name of ["n".repeat(256), "\u00e9".repeat(128), "\u{1f600}".repeat(64)]) {
    const error = await rejection(fs.writeFile(`/${name}`, ""), "ENAMETOOLONG");
    assert.equal(error.path, `/${name}`);
  }
  const directories = `/${"d".repeat(249)}`.repeat(16);
  await fs.mkdir(directories, { recursive: true });
  const longest = `${directories}/${"f".repeat(95)}`;
  assert.equal(Buffer.byteLength(longest), 4096);
  await fs.writeFile(longest, "end");
  assert.equal(await fs.readFile(longest, "utf8"), "end");
  await rejection(fs.writeFile(`${longest}f`, ""), "ENAMETOOLONG");
  // The length is that of the text, whatever it leads to.
  await rejection(fs.stat(`${"/.".repeat(2048)}/`), "ENAMETOOLONG");
  assert.ok((await fs.stat("/.".repeat(2048))).isDirectory);
});

test("a path may be spelled in many ways", async (t) => {
  const { fs } = open(t);
  await fs.mkdir("/d");
  await fs.writeFile("/d/f", "f");
  for (const path of ["/d/f/", "//d//f", "/./d/./f/.", "/d/../d/f", "/nowhere/../d/f", "/d/f/../f", "/d/f/x/.."]) {
    assert.equal(await fs.readFile(path, "utf8"), "f", path);
    assert.equal((await fs.stat(path)).name, "f", path);
    assert.equal(await fs.realpath(path), "/d/f", path);
  }
  for (const path of ["/", "//", "/.", "/d/..", "/./d/../"]) assert.equal(await fs.realpath(path), "/", path);
});
