// What a model is told of a backend: everything that it needs to write code for it.

import type { WorkspaceModuleFunctions } from "./types.js";

/** The modules of Node.js that are there and that new code has a use for, without `node:`. */
export const builtins = [
  "assert",
  "async_hooks",
  "buffer",
  "crypto",
  "diagnostics_channel",
  "events",
  "fs",
  "fs/promises",
  "os",
  "path",
  "perf_hooks",
  "process",
  "querystring",
  "stream",
  "stream/consumers",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "timers",
  "timers/promises",
  "url",
  "util",
  "zlib",
] as const;

/** What is described. */
export interface Described {
  root: string;
  access: "read" | "read-write";
  network: string | undefined;
  modules: {
    specifier: string;
    source?: true;
    functions?: WorkspaceModuleFunctions | undefined;
    text?: string | undefined;
  }[];
  limits: { wallMs: number; memoryBytes: number; calls: number };
}

/** Markdown for a model. */
export function describe({ root, access, network, modules, limits }: Described): string {
  const lines = [
    "Runs JavaScript: the source is an ES module, as in Node.js 24, with top-level `await`. TypeScript works too where it can be asked for; its types are ignored.",
    "",
    "- Put the work into a default-exported function, which may be async. It is called with `input` (`null` if there is none), and what it returns is the result: data that JSON can hold, `null` for nothing. Without a default export there is only the output.",
    '- To run a file that exists: `export { default } from "./file.js";`',
    `- Files are those of the workspace below \`${root}\`, through \`node:fs\` and \`node:fs/promises\`, also synchronous. Relative paths and imports start at \`cwd\`, which is \`${root}\` if nothing else is said.`,
  ];
  if (access === "read") lines.push("- Files can be read, not changed: a change fails with `EROFS`.");
  lines.push(
    "- `console` and `process.stdout` print to stdout, `console.error` and `console.warn` to stderr. An error that nobody catches is printed with its stack and fails the run.",
    network === undefined
      ? "- There is no network: `fetch` fails."
      : `- \`fetch\` reaches ${network}. There are no sockets and no servers.`,
    `- A run may take ${duration(limits.wallMs)} and ${size(limits.memoryBytes)} of memory, and make ${limits.calls.toLocaleString("en-US")} calls of files and modules.`,
    "- There is no `require`, no shell and no installing of packages. Every run starts anew: what the next one needs goes into files.",
    "",
    "It can import:",
    "",
    "- Files, with their extension: `./x.js`, `.mjs`, `.json`, `.ts`, `.mts`.",
    ...modules.map(describeModule),
    `- Of Node.js: ${builtins.map((name) => `\`node:${name}\``).join(", ")}. No child processes, servers, sockets, workers or \`require\`.`,
  );
  return lines.join("\n");
}

function describeModule({ specifier, source, functions, text }: Described["modules"][number]): string {
  if (source) return `- \`${specifier}\`: a bundled library.`;
  if (text) return `- \`${specifier}\`: ${text}`;
  const names = Object.entries(functions ?? {});
  if (names.length === 0) return `- \`${specifier}\`.`;
  const isDescribed = names.some(([, { description }]) => typeof description === "string");
  if (!isDescribed) return `- \`${specifier}\`: async ${names.map(([name]) => `\`${name}()\``).join(", ")}.`;
  return [
    `- \`${specifier}\`, all async:`,
    ...names.map(
      ([name, { description }]) => `  - \`${name}()\`${typeof description === "string" ? `: ${description}` : ""}`,
    ),
  ].join("\n");
}

function duration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

function size(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
