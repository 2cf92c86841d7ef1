#!/usr/bin/env node
// The command `carrel`. Its only command serves a workspace to MCP clients on standard input and
// output, so nothing but the protocol is written there; what people are told goes to standard error.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { WorkspaceError } from "./errors.js";
import type { StorageOptions } from "./types.js";
import { version } from "./version.js";
import { Workspace } from "./workspace.js";

const HELP = `Usage: carrel mcp <agent.db> [options]

Serves the files of a workspace to an MCP client, on standard input and output,
until the input ends.

Options:
  --create              make the workspace, and the directory of --root, if there is none
  --readonly            offer only read, ls, find and grep, and change nothing
  --root <path>         the directory of the workspace that the tools cannot leave
  --tag <text>          who calls, for the audit and for what was read
  --audit               keep a record of every call, without contents
  --durability <level>  full (default): changes survive a power cut;
                        normal: the end of the process; off: nothing
  -h, --help            print this
  -v, --version         print the version of carrel

Exit codes: 0 the client went away, 1 something failed, 2 wrong usage.
`;

const EXIT = { failed: 1, usage: 2 } as const;

// A call of `write` is at most 2 MiB of text; JSON may spell each byte with six characters.
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

/** What the command line asks for. */
interface Command {
  path: string;
  create: boolean;
  readonly: boolean;
  audit: boolean;
  root?: string;
  tag?: string;
  durability?: NonNullable<StorageOptions["durability"]>;
}

/** A command line that makes no sense. */
class UsageError extends Error {}

function commandOf(args: string[]): Command | "help" | "version" {
  const { values, positionals } = parse(args);
  if (values.help) return "help";
  if (values.version) return "version";
  const [name, path, ...others] = positionals;
  if (name === undefined) throw new UsageError("a command is missing");
  if (name !== "mcp") throw new UsageError(`there is no command "${name}"; there is "mcp"`);
  if (!path) throw new UsageError("the file of the workspace is missing");
  if (others.length > 0) throw new UsageError(`"${others[0]}" is one argument too many`);
  const { create = false, readonly = false, audit = false, root, tag, durability } = values;
  if (create && readonly) throw new UsageError("--create and --readonly exclude each other");
  if (audit && readonly) throw new UsageError("--audit writes to the workspace, which --readonly rules out");
  if (root !== undefined && !root.startsWith("/")) {
    throw new UsageError(`--root is an absolute path of the workspace, not "${root}"`);
  }
  if (durability !== undefined && !isDurability(durability)) {
    throw new UsageError(`--durability is full, normal or off, not "${durability}"`);
  }
  return {
    path,
    create,
    readonly,
    audit,
    ...(root !== undefined && { root }),
    ...(tag !== undefined && { tag }),
    ...(durability !== undefined && { durability }),
  };
}

function isDurability(text: string): text is NonNullable<StorageOptions["durability"]> {
  return ["full", "normal", "off"].includes(text);
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        create: { type: "boolean" },
        readonly: { type: "boolean" },
        audit: { type: "boolean" },
        root: { type: "string" },
        tag: { type: "string" },
        durability: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function serve(command: Command): Promise<void> {
  const { create, readonly, root, tag } = command;
  const { createMcpServer, serveStdio, StdioServerTransport } = await protocol();
  const workspace = open(command);
  try {
    if (root !== undefined) await requireDirectory(workspace, root, create);
    const options = {
      workspace,
      readonly,
      ...(root !== undefined && { root }),
      ...(tag !== undefined && { auditTag: tag }),
    };
    // Wrong options are told now, not when the first client speaks.
    createMcpServer(options);
    const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
    const end = theEnd();
    const connection = serveStdio(() => createMcpServer(options), {
      transport,
      onerror: (error) => {
        tell(onOneLine(error.message));
        // The transport reads no more after a message that is too long.
        if (error.message.includes("maximum size")) {
          process.exitCode = EXIT.failed;
          process.stdin.destroy();
        }
      },
    });
    await end;
    await connection.close();
  } finally {
    // Changes under way are finished and kept.
    await workspace.close();
  }
}

/** What needs the optional package. */
async function protocol() {
  try {
    const [{ createMcpServer }, stdio] = await Promise.all([
      import("./tools/mcp.js"),
      import("@modelcontextprotocol/server/stdio"),
    ]);
    return { createMcpServer, ...stdio };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("@modelcontextprotocol/server")) throw error;
    throw new Error(
      "`carrel mcp` needs a package that is not installed: run `npm install @modelcontextprotocol/server@2`, " +
        "or start it with `npx -p carrel -p @modelcontextprotocol/server@2 carrel mcp <agent.db>`",
    );
  }
}

function open({ path, create, readonly, audit, durability }: Command): Workspace {
  const file = resolve(path);
  // A wrong path, or a client that starts in another directory, would otherwise show an agent
  // an empty workspace in place of its files.
  if (!create && !existsSync(file)) throw new Error(`there is no workspace at ${file}; pass --create to make one`);
  return new Workspace({
    storage: { path: file, readonly, ...(durability !== undefined && { durability }) },
    ...(audit && { audit }),
  });
}

async function requireDirectory({ fs }: Workspace, root: string, create: boolean): Promise<void> {
  if (create) await fs.mkdir(root, { recursive: true });
  const stat = await fs.stat(root).catch((error: unknown) => {
    if (error instanceof WorkspaceError && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (stat?.isDirectory) return;
  throw new Error(
    stat
      ? `--root ${root} is no directory of the workspace`
      : `there is no directory ${root} in the workspace; pass --create to make it`,
  );
}

/** Resolves when the client has gone, or when this process is asked to end. */
function theEnd(): Promise<void> {
  return new Promise((done) => {
    for (const name of ["end", "close", "error"]) process.stdin.on(name, () => done());
    // Nobody reads any more.
    process.stdout.on("error", () => done());
    // Only the first is waited for: a second one ends the process at once.
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => done());
  });
}

/** Messages about a client's input may quote all of it. */
function onOneLine(message: string): string {
  const line = message.replace(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

function tell(sentence: string): void {
  process.stderr.write(`carrel: ${sentence}\n`);
}

async function main(args: string[]): Promise<void> {
  const command = commandOf(args);
  if (command === "help") process.stdout.write(HELP);
  else if (command === "version") process.stdout.write(`${version}\n`);
  else await serve(command);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  tell(`${error instanceof Error ? error.message : String(error)}${isUsage ? "; see carrel --help" : ""}`);
  process.exitCode = isUsage ? EXIT.usage : EXIT.failed;
}
