// The documentation: its samples run and print what they say, its links lead somewhere, and its
// lists are those of the code.
//
// A sample is a block marked `js`. It runs as a module in a folder of its own, where "carrel" is this
// checkout. One that opens no workspace begins with the prelude of its page. `// → text` says what it
// prints, line by line; a sample without one may print anything. What the pages about runs say besides is
// in docs-runtime.test.mjs.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { createToolSet } from "carrel/tools";
import { root, run, temporaryFolder } from "./support/consumer.mjs";
import { chapterOf, constantsOf, count, fieldsOf, firstColumn, kib, mib, read, rowsOf } from "./support/pages.mjs";

const PRELUDE = `import { Workspace } from "carrel";
const workspace = new Workspace({ storage: ":memory:" });
`;
/** Rows of the chapter on `edit` that are no fields. */
const RULES = ["exact", "line-endings", "loose", "indentation"];
const TOOLS_PRELUDE = `import { Workspace } from "carrel";
import { createToolSet } from "carrel/tools";
const workspace = new Workspace({ storage: ":memory:" });
const { execute, tools } = createToolSet({ workspace });
`;
const RUNTIME_PRELUDE = `import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
const workspace = new Workspace({ storage: ":memory:", backends: [new JavaScriptBackend()] });
`;
const PRELUDES = {
  "docs/filesystem.md": PRELUDE,
  "docs/tools.md": TOOLS_PRELUDE,
  "docs/runtime.md": RUNTIME_PRELUDE,
  "docs/security.md": RUNTIME_PRELUDE,
};
const preludeOf = (page) => PRELUDES[page] ?? PRELUDE;

// Samples take a fraction of a second; one that waits for something that never comes is cut off.
const SAMPLE_MS_MAX = 60_000;

const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);
const temporary = temporaryFolder();
after(() => temporary.remove());

/** The samples of a page, each with the number of its first line. */
function samplesOf(page) {
  const text = read(page);
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length + 1,
    code: match[1],
    printed: [...match[1].matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => line),
  }));
}

/** A sample as it runs. */
const whole = (page, code) => (code.includes("new Workspace(") ? code : preludeOf(page) + code);

/** Why a sample does not run: a set-up may leave out what runs code. */
const skipOf = (page, code) =>
  process.env.CARREL_SKIP_ISOLATE === "1" && whole(page, code).includes("JavaScriptBackend") && "there is no isolate";

function runSample(page, code) {
  const folder = mkdtempSync(join(temporary.path, "sample-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "carrel"), "junction");
  writeFileSync(join(folder, "sample.mjs"), whole(page, code));
  return run(process.execPath, ["sample.mjs"], { cwd: folder, timeout: SAMPLE_MS_MAX });
}

for (const page of pages) {
  for (const { line, code, printed } of samplesOf(page)) {
    const skip = skipOf(page, code);
    test(`${page}:${line} runs${printed.length > 0 ? " and prints what it says" : ""}`, { skip }, () => {
      const output = runSample(page, code);
      if (printed.length > 0) assert.deepEqual(output.trimEnd().split("\n"), printed);
    });
  }
}

test("the prelude is the one that the documentation shows", () => {
  for (const page of Object.keys(PRELUDES)) {
    assert.ok(
      samplesOf(page).some(({ code }) => code === preludeOf(page)),
      page,
    );
  }
});

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page) {
  const headings = read(page)
    .replaceAll(/^```.*?^```$/gms, "")
    .matchAll(/^#+ (.+)$/gm);
  const anchor = (heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
  return new Set([...headings].map(([, heading]) => anchor(heading)));
}

for (const page of [...pages, "CONTRIBUTING.md"]) {
  test(`the links of ${page} lead somewhere`, () => {
    const prose = read(page).replaceAll(/^```.*?^```$/gms, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
    const broken = links
      .filter((link) => !link.startsWith("https://"))
      .filter((link) => {
        const [file, anchor] = link.split("#");
        const target = file === "" ? page : join(dirname(page), file);
        return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).has(anchor));
      });
    assert.deepEqual(broken, []);
  });
}

const everything = new Workspace({ storage: ":memory:", backends: [new JavaScriptBackend()] });
const { tools } = createToolSet({ workspace: everything });
for (const { name, jsonSchema } of tools) {
  test(`docs/tools.md has every field of ${name}, its default and its range, and every field of its results`, () => {
    const chapter = chapterOf("docs/tools.md", name);
    const rows = rowsOf(chapter);
    const wanted = { ...jsonSchema.properties, ...jsonSchema.properties.edits?.items.properties };
    const required = [...jsonSchema.required, ...(jsonSchema.properties.edits?.items.required ?? [])];
    const outputs =
      name === "read" ? ["ReadTextOutput", "ReadMediaOutput"] : [`${name[0].toUpperCase()}${name.slice(1)}Output`];
    // A field only where there is a choice.
    const more = name === "exec" ? ["backend"] : [];
    const names = [...Object.keys(wanted), ...more, ...outputs.flatMap((output) => fieldsOf(output))];
    assert.ok(names.length > 3);
    assert.deepEqual([...new Set(rows.filter((row) => !RULES.includes(row)))].sort(), [...new Set(names)].sort());
    for (const [field, { minimum, maximum, description }] of Object.entries(wanted)) {
      const row = new RegExp(`^\\| \`${field}\` \\|.*$`, "m").exec(chapter)[0];
      assert.equal(row.includes("| required |"), required.includes(field), row);
      const standard = /default (\d+|true|false|"\w+")/.exec(description)?.[1];
      if (standard) assert.ok(row.includes(`| ${standard} |`) || row.includes(`| \`${standard}\` |`), row);
      if (maximum !== undefined) assert.ok(row.includes(`| ${minimum} to ${count(maximum)} |`), row);
      else if (minimum !== undefined) assert.ok(row.includes(`| from ${minimum}`), row);
    }
  });
}

test("every option of the tools is in docs/tools.md, and no other", () => {
  const nested = {
    read: "ReadToolOptions",
    write: "WriteToolOptions",
    edit: "EditToolOptions",
    execOutput: "ExecOutputOptions",
  };
  const options = fieldsOf("ToolSetOptions").flatMap((name) =>
    nested[name] ? fieldsOf(nested[name]).map((field) => `${name}.${field}`) : [name],
  );
  assert.deepEqual(rowsOf(chapterOf("docs/tools.md", "Options")).sort(), options.sort());
});

test("every other name of an argument is in docs/tools.md, and no other", () => {
  const [source] = read("src/tools/arguments.rs").split("#[cfg(test)]");
  const lists = [...source.matchAll(/&\[((?:"\w+"(?:, )?)+)\]/g)].map(([, list]) => list);
  const aliases = lists
    .flatMap((list) => [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name))
    .filter(
      (name) =>
        !["content", "files", "count", "oldText", "newText", "replaceAll", "javascript", "typescript"].includes(name),
    );
  assert.ok(aliases.length > 20);
  const table = /^\| Field \| Also \|$(.*?)^$/ms.exec(chapterOf("docs/tools.md", "Arguments"))[1];
  const listed = [...table.matchAll(/^\|.*\|(.*)\|$/gm)].flatMap(([, also]) => also.match(/\w+/g) ?? []);
  assert.deepEqual([...new Set(listed)].sort(), [...new Set(aliases)].sort());
});

test("every code that a tool gives is in docs/tools.md", () => {
  const files = readdirSync(join(root, "src/tools"), { recursive: true }).filter((name) => name.endsWith(".rs"));
  const source = files.map((name) => read(join("src/tools", name)).split("#[cfg(test)]")[0]).join("\n");
  const names = new Map(
    [...read("src/error.rs").matchAll(/Code::(\w+) => "(E\w+)"/g)].map(([, code, name]) => [code, name]),
  );
  const used = [
    ...[...source.matchAll(/"(E[A-Z]{3,})"/g)].map(([, name]) => name),
    ...[...source.matchAll(/Code::(\w+)/g)].map(([, code]) => names.get(code)),
  ].filter((name) => name !== undefined && name !== "ECLOSED");
  assert.ok(used.length > 10);
  const listed = rowsOf(chapterOf("docs/tools.md", "Codes"));
  assert.deepEqual(
    [...new Set(used)].filter((name) => !listed.includes(name)),
    [],
  );
});

test("every method of workspace.fs has a chapter", () => {
  const types = read("lib/types.ts");
  const body = /export interface WorkspaceFilesystem \{(.*?)^\}/ms.exec(types)[1];
  const methods = new Set([...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name));
  assert.ok(methods.size > 20);
  const chapters = [...read("docs/filesystem.md").matchAll(/^## (.+)$/gm)].flatMap(([, title]) => title.split(" and "));
  assert.deepEqual(
    [...methods].filter((name) => !chapters.includes(name)),
    [],
  );
});

test("every code of an error is in docs/errors.md, and no other", () => {
  const codes = [...read("src/error.rs").matchAll(/Code::\w+ => "(E\w+)"/g)].map(([, code]) => code);
  assert.ok(codes.length > 10);
  codes.push("ERR_CARREL_BINARY", "ERR_DATA_CLONE");
  assert.deepEqual(
    firstColumn("docs/errors.md")
      .filter((name) => /^E[A-Z_]+$/.test(name))
      .sort(),
    codes.sort(),
  );
});

test("every rule of the format is in docs/storage-format.md, and no other", () => {
  const source = read("src/store/check.rs");
  const inList = [...source.matchAll(/^ {8}"([a-z-]+)",$/gm)].map(([, rule]) => rule);
  const apart = [...source.matchAll(/(?:rule: |unreadable\()"([a-z-]+)"/g)].map(([, rule]) => rule);
  assert.ok(inList.length > 10 && apart.length > 0);
  const rules = /^## Rules$(.*?)^## /ms.exec(read("docs/storage-format.md"))[1];
  const documented = [...rules.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, rule]) => rule);
  assert.deepEqual(documented.sort(), [...new Set([...inList, ...apart])].sort());
});

test("every table and column of the database is in docs/storage-format.md", () => {
  const schema = read("src/store/schema.rs");
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+) \((.*?)^\)/gms)];
  assert.ok(tables.length > 5);
  const page = read("docs/storage-format.md");
  const missing = tables.flatMap(([, table, body]) => {
    const chapter = new RegExp(`^### ${table}$(.*?)^##`, "ms").exec(page)?.[1] ?? "";
    const columns = [...body.matchAll(/^ {2}([a-z_]+) +[A-Z]/gm)].map(([, column]) => column);
    return columns.filter((column) => !chapter.includes(`| \`${column}\` |`)).map((column) => `${table}.${column}`);
  });
  assert.deepEqual(missing, []);
});

/** The number that a field has in the defaults of `src/tools/options.rs`. */
function defaultOf(field) {
  const [, expression] = new RegExp(`\\b${field}: ([\\d_* ]+),`).exec(read("src/tools/options.rs"));
  return expression
    .replaceAll("_", "")
    .split("*")
    .reduce((value, factor) => value * Number(factor), 1);
}

const limits = constantsOf("src/limits.rs");
const glob = constantsOf("src/glob.rs");
const pattern = constantsOf("src/search/pattern.rs");
const scan = constantsOf("src/search/scan.rs");
const grep = constantsOf("src/search/grep.rs");

const page = constantsOf("src/tools/text/page.rs");
const kind = constantsOf("src/tools/text/kind.rs");
const editing = constantsOf("src/tools/edit/mod.rs");
const places = constantsOf("src/tools/edit/places.rs");
const nearest = constantsOf("src/tools/edit/nearest.rs");
const call = constantsOf("src/tools/call/mod.rs");
const reading = constantsOf("src/tools/call/read.rs");
const audit = constantsOf("src/binding/tools.rs");
const candidates = constantsOf("src/tools/candidates.rs");
const both = (value, inWords) => `| ${inWords(value)} (${count(value)}) |`;

/** Limits that the documentation names: where, and in which words. */
const NAMED = [
  ["README.md", `| ${count(limits.NAME_BYTES_MAX)} bytes of UTF-8`],
  ["README.md", `| ${count(limits.PATH_BYTES_MAX)} bytes of UTF-8`],
  ["README.md", `| file | ${limits.FILE_BYTES_MAX / 1024 ** 4} TiB |`],
  ["README.md", `| links that one path leads through | ${count(limits.LINK_HOPS_MAX)} |`],
  ["README.md", `may be behind | ${count(limits.CHANGE_LOG_ROWS)} |`],
  [
    "docs/filesystem.md",
    `a segment over ${count(limits.NAME_BYTES_MAX)}, or as a whole over ${count(limits.PATH_BYTES_MAX)} bytes`,
  ],
  ["docs/filesystem.md", `more than ${count(limits.LINK_HOPS_MAX)} links is \`ELOOP\``],
  ["docs/filesystem.md", `\`EFBIG\` over ${limits.FILE_BYTES_MAX / 1024 ** 4} TiB`],
  ["docs/filesystem.md", `${count(limits.CHANGE_LOG_ROWS)} changes are kept`],
  ["docs/filesystem.md", `chunks, up to ${kib(limits.CHUNK_BYTES)}`],
  ["docs/filesystem.md", `several (up to ${count(glob.GLOBS_MAX)}, with ${kib(glob.GLOBS_BYTES_MAX)} together)`],
  ["docs/filesystem.md", `a glob over ${count(glob.GLOB_BYTES_MAX)} bytes`],
  ["docs/filesystem.md", `nest up to ${count(glob.GLOB_NESTING_MAX)} deep`],
  ["docs/filesystem.md", `a pattern over ${kib(pattern.PATTERN_BYTES_MAX)}`],
  ["docs/filesystem.md", `patterns over ${kib(pattern.PATTERN_BYTES_MAX)}, or over ${mib(pattern.COMPILED_BYTES_MAX)}`],
  ["docs/filesystem.md", `each match, up to ${count(grep.CONTEXT_MAX)}`],
  ["docs/filesystem.md", `a line over ${count(scan.LINE_CHARS_MAX)} characters`],
  ["docs/filesystem.md", `in their first ${kib(scan.BINARY_CHECK_BYTES)}`],
  ["docs/filesystem.md", `longer than ${mib(scan.LINE_BYTES_MAX)}`],
  ["docs/storage-format.md", `windows of ${count(limits.CHUNK_BYTES)} bytes`],
  ["docs/storage-format.md", `the bytes, up to ${kib(limits.INLINE_BLOB_BYTES)} of them`],
  ["docs/storage-format.md", `newest ${count(limits.CHANGE_LOG_ROWS)} are removed`],
  ["docs/storage-format.md", `up to ${count(limits.BATCH_JOBS_MAX)} changes or ${mib(limits.BATCH_BYTES_MAX)}`],
  ["docs/storage-format.md", `from ${count(limits.WAL_CHECKPOINT_PAGES)} pages`],
  ["docs/storage-format.md", `copies at ${count(limits.WAL_PAGES_MAX)} pages`],
  ["docs/storage-format.md", `cut to ${mib(limits.WAL_FILE_BYTES)}`],
  ["docs/storage-format.md", `Blobs of up to ${kib(limits.PROMPT_DELETE_BYTES)} are deleted`],
  ["docs/storage-format.md", `steps of ${count(limits.COLLECT_STEP)} rows`],
  ["docs/architecture.md", `up to ${count(limits.BLOCKING_THREADS)} that may block`],
  ["docs/architecture.md", `up to ${count(limits.SEARCHES_MAX)} searches`],
  ["docs/architecture.md", `${count(limits.IDLE_CONNECTIONS_MAX)} in the whole process`],
  ["docs/architecture.md", `a file up to ${kib(limits.SMALL_CONTENT_BYTES)}`],
  [
    "docs/performance.md",
    `up to ${count(limits.SMALL_LISTING_ENTRIES)} entries, reading up to ${kib(limits.SMALL_CONTENT_BYTES)}`,
  ],
  ["docs/tools.md", `up to ${candidates.SHOWN_MAX} paths that may have been meant`],
  ["docs/tools.md", `the file is over ${mib(page.COUNTED_BYTES_MAX)}`],
  ["docs/tools.md", `at most \`read.maxLines\` (${count(defaultOf("max_lines"))})`],
  ["docs/tools.md", `at most ${count(defaultOf("max_lines"))} lines (\`read.maxLines\`)`],
  ["docs/tools.md", `${kib(defaultOf("max_bytes"))} (\`read.maxBytes\`)`],
  ["docs/tools.md", `| \`read.maxLines\` | most lines of one page | ${count(defaultOf("max_lines"))} |`],
  ["docs/tools.md", both(defaultOf("max_bytes"), kib)],
  ["docs/tools.md", both(defaultOf("max_model_bytes"), mib)],
  ["docs/tools.md", `over ${mib(defaultOf("max_model_bytes"))} (\`read.maxModelBytes\`)`],
  ["docs/tools.md", `most bytes of one \`write\` ${both(defaultOf("write_max_bytes"), mib)}`],
  ["docs/tools.md", `at most ${mib(defaultOf("write_max_bytes"))} (\`write.maxBytes\`)`],
  ["docs/tools.md", both(defaultOf("max_diff_bytes"), kib)],
  ["docs/tools.md", `over ${count(defaultOf("max_diff_lines"))} changed lines`],
  ["docs/tools.md", `at ${kib(defaultOf("max_diff_bytes"))} each`],
  ["docs/tools.md", `its first ${kib(kind.PREFIX_BYTES)} decide`],
  ["docs/tools.md", `the first ${reading.FIRST_BYTES} bytes in hex`],
  ["docs/tools.md", `at most ${kib(call.ITEMS_BYTES_MAX)} of JSON together`],
  ["docs/tools.md", `the line is over ${count(scan.LINE_CHARS_MAX)} characters`],
  ["docs/tools.md", `${kib(nearest.NEAREST_BYTES_MAX)} at most`],
  ["docs/tools.md", `of the first ${places.LISTED_MAX} places`],
  ["docs/tools.md", `over ${mib(editing.REPLACEMENT_BYTES_MAX)} of new text together`],
  ["docs/tools.md", `at most ${count(audit.AUDIT_LIMIT_MAX)} | ${count(audit.AUDIT_LIMIT)} |`],
  ["docs/performance.md", `chunks of ${kib(limits.CHUNK_BYTES)}`],
  ["docs/performance.md", `on up to ${count(grep.THREADS_MAX)} threads`],
];

test("limits that the documentation names are those of the code", () => {
  const wrong = NAMED.filter(([page, words]) => !read(page).replaceAll(/\s+/g, " ").includes(words));
  assert.deepEqual(wrong, []);
});
