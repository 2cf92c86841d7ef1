// The package as published: packed, installed into an empty folder without Rust and without a
// network, used from there.

import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { platformName, thisMachine } from "../loader.js";
import { pack } from "../scripts/pack.mjs";
import { addon, isolateProgram } from "../scripts/setup.mjs";
import { environmentWithoutRust, root, run, temporaryFolder } from "./support/consumer.mjs";

const ADDON_BYTES_MAX = 12 * 1024 * 1024;

const temporary = temporaryFolder();
const consumer = join(temporary.path, "consumer");
const tool = (name) => join(root, "node_modules", ".bin", name);
let env;
let tarballs;

before(() => {
  tarballs = pack(join(temporary.path, "packages"));
  env = environmentWithoutRust(temporary.path);
  cpSync(join(root, "__test__", "support", "consumer"), consumer, { recursive: true });
  writeFileSync(join(consumer, "package.json"), '{ "private": true, "type": "module" }\n');
  run("npm", ["install", "--offline", tarballs.main, tarballs.platform], { cwd: consumer, env });
});

after(() => temporary.remove());

/** Every file below `folder`, relative to it. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

test("a consumer without Rust opens a workspace, writes and reads", () => {
  assert.throws(() => run("cargo", ["--version"], { env }), /ENOENT/);
  const output = run("node", ["use.js"], { cwd: consumer, env });
  assert.equal(output, "hello from a tarball\n");
});

test("a consumer without Rust runs code", () => {
  const output = run("node", ["run.js"], { cwd: consumer, env });
  assert.equal(output, "42 from an isolate\n");
});

test("the command and the entry points that need no library are in the package", () => {
  const { version, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(run("npm", ["exec", "--offline", "--", "carrel", "--version"], { cwd: consumer, env }), `${version}\n`);
  const entries = Object.keys(exports).filter((path) => !["./package.json", "./tools/mcp"].includes(path));
  const imports = entries.map((path) => `await import("${path.replace(/^\./, "carrel")}");`);
  run("node", ["--input-type=module", "-e", imports.join("\n")], { cwd: consumer, env });
});

test("the types of the package resolve for a consumer", () => {
  const args = ["--project", consumer, "--typeRoots", join(root, "node_modules", "@types")];
  run(tool("tsc"), args, { cwd: consumer });
});

test("the tarball holds the JavaScript, the types and no binary", () => {
  const files = filesOf(join(consumer, "node_modules", "carrel"));
  const dist = files.filter((file) => file.startsWith("dist/"));
  assert.deepEqual(
    files.filter((file) => !/^(dist|docs)\//.test(file)),
    ["CHANGELOG.md", "LICENSE", "README.md", "index.d.ts", "index.js", "loader.js", "package.json"],
  );
  assert.ok(dist.length > 0);
  assert.deepEqual(
    dist.filter((file) => !/\.(js|d\.ts)$/.test(file)),
    [],
  );
});

test("the packed manifest names all platform packages in its own version and runs nothing at install", () => {
  const read = (path) => JSON.parse(readFileSync(path, "utf8"));
  const manifest = read(join(consumer, "node_modules", "carrel", "package.json"));
  const platforms = readdirSync(join(root, "npm"));
  assert.equal(platforms.length, 8);
  assert.deepEqual(
    manifest.optionalDependencies,
    Object.fromEntries(platforms.map((name) => [`carrel-${name}`, manifest.version])),
  );
  for (const script of ["preinstall", "install", "postinstall", "prepare"]) {
    assert.equal(manifest.scripts[script], undefined);
  }
  const committed = read(join(root, "package.json"));
  assert.equal(committed.optionalDependencies, undefined);
});

test("the platform packages are what napi-rs makes of package.json, and carry the isolate program", () => {
  const folder = join(temporary.path, "generated");
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  run(tool("napi"), ["create-npm-dirs"], { cwd: folder });
  const contents = (at) => filesOf(at).map((file) => [file, readFileSync(join(at, file), "utf8")]);
  const expected = contents(join(folder, "npm")).map(([file, text]) => {
    if (!file.endsWith("package.json")) return [file, text];
    const manifest = JSON.parse(text);
    manifest.files.push(`carrel-isolate${manifest.os.includes("win32") ? ".exe" : ""}`);
    return [file, `${JSON.stringify(manifest, null, 2)}\n`];
  });
  assert.deepEqual(contents(join(root, "npm")), expected);
});

test("a platform package has the addon, the isolate program, and the licences of what is inside it", () => {
  const files = filesOf(join(consumer, "node_modules", `carrel-${platformName(thisMachine())}`));
  assert.deepEqual(files, [
    "LICENSE.node",
    "LICENSE.urlpattern-polyfill",
    "README.md",
    isolateProgram,
    addon,
    "package.json",
  ]);
});

test("Cargo.toml and package.json are of one version", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const cargo = readFileSync(join(root, "Cargo.toml"), "utf8");
  assert.equal(/^version = "(.*)"$/m.exec(cargo)[1], version);
});

test("the addon is small", () => {
  assert.ok(statSync(join(root, addon)).size < ADDON_BYTES_MAX);
});

test("publint and arethetypeswrong have nothing to say", () => {
  const said = run(tool("publint"), [tarballs.main, "--strict"]);
  assert.match(said, /All good!/);
  run(tool("attw"), [tarballs.main, "--profile", "esm-only"]);
});

test("without the platform package, importing carrel says which one is missing", () => {
  const lonely = join(temporary.path, "lonely");
  cpSync(join(consumer, "use.js"), join(lonely, "use.js"));
  writeFileSync(join(lonely, "package.json"), '{ "private": true, "type": "module" }\n');
  run("npm", ["install", "--offline", "--omit=optional", tarballs.main], { cwd: lonely, env });
  const name = `carrel-${platformName(thisMachine())}`;
  assert.throws(
    () => run("node", ["use.js"], { cwd: lonely, env }),
    ({ message }) => message.includes("ERR_CARREL_BINARY") && message.includes(`add the package ${name}@`),
  );
});
