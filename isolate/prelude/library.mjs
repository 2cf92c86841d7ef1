/**
 * What of Node's library is in the prelude: where the search for needed files starts, which files
 * are left out, which are replaced by files of this folder, and which are changed.
 */

import { PUBLIC } from "./public.js";

/** Files that are needed by their id: the public modules and what the realm itself starts with. */
export const ROOTS = [
  ...PUBLIC,
  "internal/bootstrap/web/exposed-wildcard",
  "internal/bootstrap/web/exposed-window-or-worker",
  "internal/navigator",
  "internal/per_context/domexception",
  "internal/per_context/messageport",
  "internal/per_context/primordials",
  "internal/process/per_thread",
  "internal/process/promises",
  "internal/process/task_queues",
  "internal/process/warning",
  // Named in what a cloned exception is made from, not required.
  "internal/worker/clone_dom_exception",
];

/**
 * Files that are not there although others name them: every place that does is about something that
 * does not exist in an isolate (processes, sockets, other contexts, the inspector, CommonJS).
 */
export const ABSENT = new Set([
  "child_process",
  "cluster",
  "dgram",
  "dns",
  "domain",
  "http",
  "inspector",
  "internal/deps/acorn/acorn/dist/acorn",
  "internal/deps/amaro/dist/index",
  "internal/error_serdes",
  "internal/heap_utils",
  "internal/locks",
  "internal/main/repl",
  "internal/process/pre_execution",
  "internal/repl",
  "internal/source_map/source_map",
  "internal/stream_base_commons",
  "internal/tls/common",
  "internal/trace_events_async_hooks",
  "internal/util/inspector",
  "internal/vm",
  "internal/vm/module",
  "internal/watchdog",
  "module",
  "net",
  "repl",
  "sea",
  "sqlite",
  "tls",
  "tty",
  "v8",
  "vm",
  "worker_threads",
]);

/** Files that `replaced.js` has something smaller for. */
export const REPLACED = new Set([
  "internal/bootstrap/realm",
  "internal/errors/error_source",
  "internal/fs/rimraf",
  "internal/modules/helpers",
  "internal/options",
  "internal/process/execution",
  "internal/source_map/source_map_cache",
  "internal/util/trace_sigint",
  "internal/worker",
]);

/** Changes of single places: `from` in the file `of` becomes `to`. */
export const PATCHES = [
  // `fetch` would load all of `crypto` and `zlib` for these, before it needs them.
  {
    of: "internal/deps/undici/undici",
    from: 'var random = runtimeFeatures.has("crypto") ? require("node:crypto").randomInt : (max)',
    to: "var random = (max)",
  },
  {
    of: "internal/deps/undici/undici",
    from: "const cryptoHashes = crypto.getHashes();",
    to: 'const cryptoHashes = ["sha256", "sha384", "sha512"];',
  },
  // Algorithms of WebCrypto that a run does not have are unknown to it.
  ...["Ed448", "X448"].map((name) => ({
    of: "internal/crypto/util",
    from: `'${name}': !process.features.openssl_is_boringssl,`,
    to: `'${name}': false,`,
  })),
  ...["KT128", "KT256", "TurboSHAKE128", "TurboSHAKE256"].map((name) => ({
    of: "internal/crypto/util",
    from: `'${name}': !isFips,`,
    to: `'${name}': false,`,
  })),
  ...["cSHAKE128", "cSHAKE256"].map((name) => ({
    of: "internal/crypto/util",
    from: `'${name}': !process.features.openssl_is_boringssl ||`,
    to: `'${name}':`,
  })),
  { of: "internal/deps/undici/undici", from: 'var hasZstd = runtimeFeatures.has("zstd");', to: "var hasZstd = false;" },
];

/** Changes of whole files: from the source of file `id` to what is in the prelude. */
export const TRANSFORMS = { "internal/deps/undici/undici": fetchOfUndici };

/**
 * undici without its clients: what `fetch` and its classes need, with the dispatcher of `fetch.js`
 * in the place of the global one. undici is one file of functions `require_x` here.
 */
function fetchOfUndici(source) {
  const parts = new Map();
  for (const [part, name] of source.matchAll(/^var (require_\w+) = __commonJS\(\{\n[\s\S]*?^\}\);\n/gm)) {
    parts.set(name, part);
  }
  const global = "require_global2";
  const needed = new Set();
  const roots = {
    require_fetch: ["fetch"],
    require_formdata: ["FormData"],
    require_headers: ["Headers"],
    require_response: ["Response"],
    require_request2: ["Request"],
    require_events: ["CloseEvent", "ErrorEvent", "MessageEvent", "createFastMessageEvent"],
  };
  const waiting = Object.keys(roots);
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (name === global || needed.has(name)) continue;
    const part = parts.get(name);
    if (part === undefined) throw new Error(`undici has no '${name}' any more`);
    needed.add(name);
    for (const [, required] of part.matchAll(/\b(require_\w+)\(\)/g)) waiting.push(required);
  }
  const head = source.slice(0, source.indexOf("// lib/core/errors.js"));
  // A request converts its body with what the file of responses defines, and does not ask for that file.
  const before = { require_request2: "require_response(), " };
  const exported = Object.entries(roots).flatMap(([name, keys]) =>
    keys.map(
      (key) =>
        `Object.defineProperty(module.exports, '${key}', { get: () => (${before[name] ?? ""}${name}()).${key} });`,
    ),
  );
  return [
    head,
    `var ${global} = () => ({ getGlobalDispatcher: () => require("carrel/dispatcher") });`,
    ...[...parts].filter(([name]) => needed.has(name)).map(([, part]) => part),
    ...exported,
  ].join("\n");
}
