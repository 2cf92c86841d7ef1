/**
 * Builds the prelude: one script with Node's own JavaScript library and the files of this folder.
 *
 *     node build.mjs <path of the script>
 *
 * - The library comes out of a Node executable of exactly `NODE_VERSION`, from the package of this
 *   platform that package.json names, or, where there is none, from the Node that runs this file. Its licence is
 *   copied beside the script, for the packages that carry it.
 * - What is taken is what the roots in `library.mjs` need, found by following `require`.
 * - The script is plain ASCII: one character beyond Latin-1 would double its size in every process.
 * - Only white space is taken out: functions and classes of the library have names that code can see,
 *   and every shorter way to write something loses some of them.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { ABSENT, PATCHES, REPLACED, ROOTS, TRANSFORMS } from "./library.mjs";

const NODE_VERSION = "24.22.3";
const FOLDER = dirname(fileURLToPath(import.meta.url));
const PARAMETERS = "exports, require, module, process, internalBinding, primordials";
const PER_CONTEXT_PARAMETERS = "exports, primordials, privateSymbols, perIsolateSymbols";

const PLACE = "carrelLibrary";

// A function that is assigned is not dropped as unused.
const HOLDER = "globalThis.file=";

/** Where the Node is whose library is taken: its executable and its licence. */
function nodeInstallation() {
  const isWindows = process.platform === "win32";
  const name = `node-${isWindows ? "win" : process.platform}-${process.arch}`;
  const executable = isWindows ? "node.exe" : "node";
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return { executable: join(folder, "bin", executable), license: join(folder, "LICENSE") };
  } catch {
    if (process.version !== `v${NODE_VERSION}`) {
      throw new Error(
        `the prelude is built from the library of Node ${NODE_VERSION}: install it and run this script with it, ` +
          `since package ${name}@${NODE_VERSION} is not there`,
      );
    }
  }
  const folder = dirname(process.execPath);
  const license = [join(folder, "..", "LICENSE"), join(folder, "LICENSE")].find(existsSync);
  if (!license) throw new Error(`the licence of Node is not beside ${process.execPath}, as it is in its archives`);
  return { executable: process.execPath, license };
}

const node = nodeInstallation();

/** Source text of every file of the library, by id. */
function librarySources() {
  const script = "process.stdout.write(JSON.stringify([process.version, process.binding('natives')]))";
  const output = execFileSync(node.executable, ["--no-deprecation", "-e", script], {
    encoding: "utf8",
    env: {},
    maxBuffer: 256 * 1024 * 1024,
  });
  const [version, sources] = JSON.parse(output);
  if (version !== `v${NODE_VERSION}`) throw new Error(`the library is of Node ${version}, not of v${NODE_VERSION}`);
  return sources;
}

/** Ids that the roots need, the roots included, in alphabetical order. */
function neededIds(sources) {
  const needed = new Set();
  const waiting = [...ROOTS];
  while (waiting.length > 0) {
    const id = waiting.pop();
    if (needed.has(id) || ABSENT.has(id) || REPLACED.has(id)) continue;
    if (sources[id] === undefined) throw new Error(`Node's library has no file '${id}'`);
    needed.add(id);
    for (const [, required, lazy] of sources[id].matchAll(/require\('([^']+)'\)|'(internal\/[^']+)'/g)) {
      if (sources[required ?? lazy] !== undefined) waiting.push(required ?? lazy);
    }
  }
  return [...needed].sort();
}

/**
 * Functions and classes have the names that they have in `source`: esbuild gives one that stands inside
 * of another scope's namesake a number, and that would be its name for code, too.
 */
function withOriginalNames(code, source) {
  let restored = code;
  for (const [, renamed, name] of code.matchAll(/\b(?:class|function\*?) (([A-Za-z_$][\w$]*?)\d+)\b/g)) {
    const isOriginal = new RegExp(`\\b${renamed}\\b`).test(source);
    if (!isOriginal) restored = restored.replaceAll(new RegExp(`\\b${renamed}\\b`, "g"), name);
  }
  return restored;
}

/** An object from id to the file as a function, as an expression. */
async function libraryObject() {
  const sources = librarySources();
  const patched = new Set();
  const parts = [];
  for (const id of neededIds(sources)) {
    let source = TRANSFORMS[id]?.(sources[id]) ?? sources[id];
    for (const { of, from, to } of PATCHES) {
      if (of !== id) continue;
      if (!source.includes(from)) throw new Error(`'${from}' is not in Node's '${id}'`);
      source = source.replace(from, () => to);
      patched.add(from);
    }
    const parameters = id.startsWith("internal/per_context/") ? PER_CONTEXT_PARAMETERS : PARAMETERS;
    const { code } = await transform(`${HOLDER}function (${parameters}) {${source}\n}`, {
      charset: "ascii",
      legalComments: "none",
      minifyWhitespace: true,
    });
    if (!code.startsWith(HOLDER)) throw new Error(`'${id}' is not one function any more`);
    const body = withOriginalNames(code.trim().slice(HOLDER.length).replace(/;$/, ""), source);
    parts.push(`${JSON.stringify(id)}:${body}`);
  }
  if (patched.size !== PATCHES.length) throw new Error("a file that is patched is not part of the prelude any more");
  return `{__proto__:null,\n${parts.join(",\n")}\n}`;
}

const target = resolve(process.argv[2] ?? join(FOLDER, "../../target/prelude/prelude.js"));
const { outputFiles } = await build({
  entryPoints: [join(FOLDER, "main.js")],
  bundle: true,
  charset: "ascii",
  format: "iife",
  keepNames: false,
  legalComments: "none",
  logLevel: "warning",
  minifyWhitespace: true,
  plugins: [
    {
      name: "library",
      setup(context) {
        context.onResolve({ filter: /^carrel:library$/ }, () => ({ namespace: "library", path: "library" }));
        context.onLoad({ filter: /.*/, namespace: "library" }, () => ({
          contents: `export const library = ${PLACE};`,
          loader: "js",
        }));
      },
    },
  ],
  target: "esnext",
  treeShaking: true,
  write: false,
});
mkdirSync(dirname(target), { recursive: true });
// The library stands outside of what esbuild sees: it would rename what has the name of something of
// ours, and the library's free names must be globals.
writeFileSync(target, `((${PLACE})=>{${outputFiles[0].text.trim()}})(${await libraryObject()});\n`);
for (const [name, license] of [
  ["LICENSE.node", node.license],
  ["LICENSE.urlpattern-polyfill", join(FOLDER, "node_modules/urlpattern-polyfill/LICENSE")],
]) {
  writeFileSync(join(dirname(target), name), readFileSync(license));
}
