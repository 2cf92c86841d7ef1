// The pages about runs of code: what they list is what the source has, and modules marked `mjs` run in
// an isolate and print what the page says.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { root, run } from "./support/consumer.mjs";
import {
  chapterOf,
  constantsOf,
  count,
  fieldsOf,
  firstColumn,
  kib,
  mib,
  namesIn,
  read,
  rowsOf,
} from "./support/pages.mjs";

const skip = process.env.CARREL_SKIP_ISOLATE === "1" && "there is no isolate";

const RUNTIME = "docs/runtime.md";
const MODULES = "docs/modules.md";
const SECURITY = "docs/security.md";
const TYPES = "lib/runtime/types.ts";

/** Runs a module with the standard options. */
async function inIsolate(source, options) {
  const workspace = new Workspace({ storage: ":memory:", backends: [new JavaScriptBackend()] });
  try {
    const handle = await workspace.runtime.exec(source, { encoding: "utf8", ...options });
    return await handle.result();
  } finally {
    await workspace.close();
  }
}

for (const page of [RUNTIME, MODULES, SECURITY]) {
  const text = read(page);
  for (const { index, 1: code } of text.matchAll(/^```mjs\n(.*?)^```$/gms)) {
    const line = text.slice(0, index).split("\n").length + 1;
    test(`${page}:${line} runs and prints what it says`, { skip }, async () => {
      const { stdout, stderr, status } = await inIsolate(code);
      const printed = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
      assert.deepEqual([status, stderr, stdout.trimEnd().split("\n")], ["completed", "", printed]);
    });
  }
}

/** The row of a table whose first column has `name` first. */
function rowOf(text, name) {
  return text.split("\n").find((line) => line.startsWith(`| \`${name}\``) || line.startsWith(`| \`${name}(`)) ?? "";
}

/** Names of functions and fields in the first column: without arguments. */
const bare = (names) => names.map((name) => /^[\w.]+/.exec(name)?.[0] ?? name);

test("every option of exec is in docs/runtime.md, and no other", () => {
  const rows = rowsOf(chapterOf(RUNTIME, "exec")).sort();
  assert.deepEqual(rows, fieldsOf("WorkspaceRuntimeExecOptions", TYPES).sort());
  const [, known] = /const EXEC_OPTIONS = \[(.*?)\]/s.exec(read("lib/runtime/runtime.ts"));
  assert.deepEqual(rows, [...known.matchAll(/"(\w+)"/g)].map(([, name]) => name).sort());
});

const OPTIONS = fieldsOf("JavaScriptBackendOptions", "lib/backends/javascript.ts");
const backend = chapterOf(RUNTIME, "The backend") + chapterOf(RUNTIME, "Limits");

test("every option of JavaScriptBackend is in docs/runtime.md, and no other", () => {
  assert.ok(OPTIONS.length > 20);
  assert.deepEqual(rowsOf(backend).sort(), [...OPTIONS].sort());
});

/** The numbers of a backend by the names of their options, as Rust has them. */
function defaults() {
  const source = read("src/runtime/limits.rs");
  const names = new Map(
    [...source.matchAll(/\/\/\/ `(\w+)`:.*\n\s+pub (\w+):/g)].map(([, name, field]) => [field, name]),
  );
  const [, body] = /fn default\(\) -> Self \{\s+Limits \{(.*?)\n {8}\}/s.exec(source);
  const value = (expression) =>
    expression
      .replace(/ as \w+$/, "")
      .replaceAll("_", "")
      .split("*")
      .reduce((product, factor) => product * (factor.trim() === "MIB" ? 1024 ** 2 : Number(factor)), 1);
  return new Map(
    [...body.matchAll(/(\w+): ([^,]+),/g)].map(([, field, expression]) => [names.get(field), value(expression)]),
  );
}

function inWords(name, value) {
  if (name.endsWith("Bytes")) return value >= 1024 ** 2 ? mib(value) : kib(value);
  if (name.endsWith("Ms")) return value >= 3_600_000 ? `${value / 3_600_000} h` : `${value / 1000} s`;
  return count(value);
}

test("the defaults of JavaScriptBackend in docs/runtime.md and in its types are those of the code", () => {
  const types = read("lib/backends/javascript.ts");
  const numbers = [...defaults()].filter(([name]) => OPTIONS.includes(name));
  assert.ok(numbers.length > 20);
  for (const [name, value] of numbers) {
    const row = rowOf(backend, name);
    const typed = new RegExp(`@defaultValue (\\S+) \\*/\\n  ${name}\\?:`).exec(types)?.[1] ?? "";
    if (["maxCpuMs", "maxHostCallMs"].includes(name)) {
      assert.equal(value, defaults().get("maxTimeoutMs"));
      assert.deepEqual([row.includes("| `maxTimeoutMs` |"), typed], [true, "`maxTimeoutMs`"], row);
      continue;
    }
    const words = inWords(name, value);
    assert.ok(row.includes(`| ${words} |`) || row.includes(`| ${words}, `), `${row}: ${words}`);
    assert.equal(Number(typed), value, name);
  }
});

test("the options of output in docs/runtime.md and their defaults are those of the code", () => {
  const chapter = chapterOf(RUNTIME, "Long output");
  const fields = [
    ...fieldsOf("WorkspaceRuntimeOutputOptions", TYPES),
    ...fieldsOf("WorkspaceOutputOptions", TYPES),
  ].map((name) => `output.${name}`);
  assert.deepEqual(rowsOf(chapter).sort(), fields.sort());
  const source = read("src/runtime/config.rs");
  const [, lines, bytes] = /OutputLimits \{ lines_max: (\d+), bytes_max: ([\d_]+) \}/.exec(
    read("src/tail.rs") + source,
  );
  const [, folder] = /const OUTPUT_FOLDER: &str = "(.*)";/.exec(source);
  const [, kept] = /kept: (\d+),/.exec(source);
  for (const [name, words] of [
    ["maxLines", count(Number(lines))],
    ["maxBytes", kib(Number(bytes.replaceAll("_", "")))],
    ["dir", `\`"${folder}"\``],
    ["keep", kept],
  ]) {
    assert.ok(rowOf(chapter, `output.${name}`).endsWith(`| ${words} |`), name);
  }
});

test("the reasons and exit codes in docs/runtime.md are those of the code", () => {
  const [, union] = /export type WorkspaceRuntimeReason =(.*?);/s.exec(read(TYPES));
  const sources = ["ending", "mod", "thread"].map((name) => read(`src/runtime/${name}.rs`).split("#[cfg(test)]")[0]);
  const used = [...union.matchAll(/"([\w-]+)"/g)]
    .map(([, name]) => name)
    .filter((name) => sources.some((source) => source.includes(`"${name}"`)));
  const chapter = chapterOf(RUNTIME, "Results").split("| `reason` | `status` |")[1];
  assert.deepEqual([...new Set(rowsOf(chapter))].sort(), used.sort());
  const codes = constantsOf("src/runtime/ending.rs");
  for (const [reason, status, code] of [
    ["timeout", "failed", codes.TIME_EXIT_CODE],
    ["cpu", "failed", codes.TIME_EXIT_CODE],
    ["memory", "failed", codes.MEMORY_EXIT_CODE],
    ["killed", "cancelled", codes.STOPPED_EXIT_CODE],
  ]) {
    assert.ok(chapter.includes(`| \`${reason}\` | \`${status}\` | ${code} |`), reason);
  }
});

for (const [title, name, extra] of [
  ["Results", "WorkspaceRuntimeResult", []],
  ["Events", "WorkspaceRuntimeExecHandle", ["id", "backend"]],
  ["Runs by their id", "WorkspaceRuntime", []],
  ["What goes on", "WorkspaceRuntimeStats", []],
  ["Host modules", "WorkspaceModuleCallContext", []],
]) {
  test(`every member of ${name} is in docs/runtime.md`, () => {
    const members = [...fieldsOf(name, TYPES), ...extra];
    assert.ok(members.length > 2);
    const rows = bare(rowsOf(chapterOf(RUNTIME, title)));
    assert.deepEqual(
      members.filter((member) => !rows.includes(member)),
      [],
    );
  });
}

test("every mode and option of egress is in docs/runtime.md", () => {
  const [, union] = /export type EgressOptions =(.*?);\n\n/s.exec(read("lib/runtime/egress.ts"));
  const chapter = chapterOf(RUNTIME, "Network");
  const modes = [...union.matchAll(/mode: "([\w-]+)"/g)].map(([, mode]) => mode);
  assert.ok(modes.length > 3);
  for (const mode of modes) assert.ok(chapter.includes(`mode: "${mode}"`), mode);
  const { EXCHANGES_MAX, BYTES_MAX, SILENCE_MS_MAX } = constantsOf("lib/runtime/egress.ts");
  assert.ok(rowOf(chapter, "maxBytes").endsWith(`| ${mib(BYTES_MAX)} |`));
  assert.ok(rowOf(chapter, "timeoutMs").endsWith(`| ${SILENCE_MS_MAX / 1000} s |`));
  assert.ok(chapter.includes(`more than ${EXCHANGES_MAX} requests`));
});

test("every code in the errors of docs/runtime.md is in docs/errors.md", () => {
  const rows = rowsOf(chapterOf(RUNTIME, "Errors"));
  const known = firstColumn("docs/errors.md");
  assert.ok(rows.length > 8);
  assert.deepEqual(
    rows.filter((code) => !known.includes(code)),
    [],
  );
});

test("the modules of Node that docs/modules.md lists are those of the prelude, and models are told of no other", () => {
  const [, list] = /const PUBLIC = \[(.*?)\]/s.exec(read("isolate/prelude/public.js"));
  const there = [...list.matchAll(/"([\w/]+)"/g)].map(([, id]) => id).concat("process");
  assert.deepEqual(rowsOf(chapterOf(MODULES, "Node's modules")).sort(), there.sort());
  const { description } = new JavaScriptBackend();
  const told = [...description.matchAll(/`node:([\w/]+)`/g)].map(([, id]) => id);
  assert.ok(told.length > 20);
  assert.deepEqual(
    told.filter((id) => !there.includes(id)),
    [],
  );
});

test("the modules that docs/modules.md lists can be imported, with and without node:, and the others not", {
  skip,
}, async () => {
  const chapter = chapterOf(MODULES, "Node's modules");
  const there = rowsOf(chapter);
  const missing = namesIn(chapter.slice(chapter.indexOf("The rest is about")));
  const source = `
    export default async ({ there, missing }) => {
      const code = (id) => import(id).then(() => "there", ({ code }) => code);
      const wrong = [];
      for (const id of there) for (const name of [id, "node:" + id]) if (await code(name) !== "there") wrong.push(name);
      for (const id of missing) if (await code("node:" + id) !== "ERR_UNKNOWN_BUILTIN_MODULE") wrong.push(id);
      return wrong;
    }`;
  const { value, stderr } = await inIsolate(source, { input: { there, missing } });
  assert.ok(missing.length > 10);
  assert.deepEqual(value, [], stderr);
});

test("the globals that docs/modules.md lists are there, and those that it denies are not", { skip }, async () => {
  const chapter = chapterOf(MODULES, "Globals").split("`console` prints")[0];
  const [there, missing] = chapter
    .split("Not there:")
    .map((text) => namesIn(text).filter((name) => /^\w+$/.test(name)));
  const source = `export default (names) => names.map((name) => name in globalThis)`;
  const { value } = await inIsolate(source, { input: [...there, ...missing] });
  const expected = [...there.map((name) => [name, true]), ...missing.map((name) => [name, false])];
  assert.ok(there.length > 50 && missing.length > 5);
  assert.deepEqual(
    [...there, ...missing].map((name, index) => [name, value[index]]),
    expected,
  );
  const [, list] = /const NOT_HERE = \[(.*?)\]/.exec(read("isolate/prelude/realm.js"));
  for (const [, name] of list.matchAll(/"(\w+)"/g)) assert.ok(missing.includes(name), name);
});

test("the members of process that docs/modules.md lists are there", { skip }, async () => {
  const names = bare(rowsOf(chapterOf(MODULES, "process"))).filter((name) => !name.includes("."));
  const { value } = await inIsolate("export default (names) => names.filter((name) => !(name in process))", {
    input: names,
  });
  assert.ok(names.length > 20);
  assert.deepEqual(value, []);
  const refused = read("isolate/prelude/process.js").matchAll(/process\.(\w+) = refuse\(/g);
  const row = rowOf(chapterOf(MODULES, "process"), "chdir");
  assert.deepEqual(namesIn(row).sort(), [...refused].map(([, name]) => name).sort());
});

test("every code of an import is in docs/modules.md", () => {
  const sources = ["isolate/src/modules.rs", "src/runtime/files/import.rs"].map(read).join("\n");
  const codes = [...new Set([...sources.matchAll(/"(ERR_\w+)"/g)].map(([, code]) => code))];
  assert.ok(codes.length > 6);
  const rows = rowsOf(chapterOf(MODULES, "Imports"));
  assert.deepEqual(
    codes.filter((code) => !rows.includes(code)),
    [],
  );
});

test("what docs/security.md says is locked is what the isolate locks", () => {
  const chapter = chapterOf(SECURITY, "What is locked");
  const table = [...read("isolate/src/lockdown/mod.rs").matchAll(/^\/\/! \| ([^|-]+) \| ([^|]+) \| ([^|]+) \|/gm)];
  assert.ok(table.length > 5);
  for (const [, what, linux, macos] of table) {
    if (what.trim() === "") continue;
    assert.ok(chapter.includes(`| ${what} | ${linux} | ${macos} |`), what);
  }
});

test("the system calls in docs/security.md are those of the allow-list", () => {
  const [, body] = /fn allow_list\(\)(.*?)^\}/ms.exec(read("isolate/src/lockdown/linux.rs"));
  const allowed = [...body.matchAll(/libc::SYS_(\w+)/g)].map(([, name]) => name);
  const [, table] = /^\| For \| Calls \|$(.*?)^$/ms.exec(chapterOf(SECURITY, "What is locked"));
  const listed = namesIn(table).filter((name) => name !== "no_new_privs");
  assert.ok(allowed.length > 20);
  assert.deepEqual(listed.sort(), allowed.sort());
});

test("the networks, headers and methods in docs/security.md are those of the code", () => {
  const chapter = chapterOf(SECURITY, "Network");
  const addresses = read("lib/runtime/addresses.ts");
  for (const [version, name] of [
    ["4", "NOT_PUBLIC_4"],
    ["6", "NOT_PUBLIC_6"],
  ]) {
    const [, list] = new RegExp(`const ${name} = \\[(.*?)\\]`, "s").exec(addresses);
    const networks = [...list.matchAll(/^\s*"([^"]+)"/gm)].map(([, network]) => network);
    const [, row] = new RegExp(`\\| version ${version} \\| (.*) \\|`).exec(chapter);
    const listed = namesIn(row).filter((network) => network !== "2000::/3");
    assert.deepEqual(listed.sort(), networks.sort());
  }
  const exchange = read("lib/runtime/exchange.ts");
  const [, headers] = /const OF_CONNECTION = new Set\(\[(.*?)\]\)/s.exec(exchange);
  const [, sentence] = /Code cannot set the headers (.*?)\.$/ms.exec(chapter);
  assert.deepEqual(namesIn(sentence).sort(), [...headers.matchAll(/"([\w-]+)"/g)].map(([, name]) => name).sort());
  const [, methods] = /\/\^\(([\w|]+)\)\$\/i/.exec(exchange);
  for (const method of methods.split("|")) assert.ok(chapter.includes(`\`${method.toUpperCase()}\``), method);
});

const descriptors = constantsOf("src/runtime/files/descriptor.rs");
const config = constantsOf("src/runtime/config.rs");
const seconds = (name, file) =>
  Number(new RegExp(`${name}: Duration = Duration::from_secs\\((\\d+)\\)`).exec(read(file))[1]);

/** Limits that the pages name: where, and in which words. */
const NAMED = [
  [RUNTIME, `name of the run, 1 to ${config.ID_BYTES_MAX} bytes`],
  [MODULES, `| open files | ${count(descriptors.DESCRIPTORS_MAX)} at one time`],
  [RUNTIME, { 5: "five seconds at most" }[seconds("CALLS_PATIENCE", "src/runtime/thread.rs")]],
  [SECURITY, { 5: "waits five seconds" }[seconds("CALLS_PATIENCE", "src/runtime/thread.rs")]],
  [RUNTIME, { 60: "They end after a minute of disuse" }[seconds("IDLE_MAX", "src/runtime/pool.rs")]],
  [RUNTIME, `at least ${/MEMORY_BYTES_MIN: usize = (\d+) \* MIB/.exec(read("src/runtime/limits.rs"))[1]} MiB`],
  [RUNTIME, `at least ${constantsOf("src/runtime/limits.rs").CALL_BYTES_MIN}`],
  [
    SECURITY,
    `at most ${defaults().get("maxConcurrentExecutions")} processes of ${mib(defaults().get("maxMemoryBytes"))}`,
  ],
  [
    "README.md",
    `${inWords("Ms", defaults().get("defaultTimeoutMs"))}, ${mib(defaults().get("maxMemoryBytes"))}, ` +
      `${count(defaults().get("maxCapabilityCalls"))} calls, ${mib(defaults().get("maxStdioBytes"))} of output`,
  ],
];

test("limits that the pages name are those of the code", () => {
  const wrong = NAMED.filter(([page, words]) => !words || !read(page).replaceAll(/\s+/g, " ").includes(words));
  assert.deepEqual(wrong, []);
});

test("every folder of the sources has its place in docs/architecture.md", () => {
  const page = read("docs/architecture.md");
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.ok(folders.length > 5);
  assert.deepEqual(
    folders.map(({ name }) => name).filter((name) => !page.includes(`src/${name}/`)),
    [],
  );
});

test("examples/run-code.mjs runs and shows what its code does", { skip }, () => {
  const lines = run(process.execPath, ["examples/run-code.mjs"], { cwd: root, timeout: 60_000 }).trimEnd().split("\n");
  assert.deepEqual(lines, [
    "stdout  ada.json done",
    'stderr  bob.json there is no item "salt"',
    "stdout  bob.json done",
    'exit 0 {"to buy":{"cake":1,"jam":2,"salt":1}}',
  ]);
});
