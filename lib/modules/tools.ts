/**
 * An agent's own tools as a module that its code can import: `ws:tools`.
 *
 * @packageDocumentation
 */

import { argumentTypeError, WorkspaceError } from "../errors.js";
import type {
  WorkspaceModuleCallContext,
  WorkspaceModuleFactory,
  WorkspaceModuleFunction,
  WorkspaceModuleFunctions,
} from "../runtime/types.js";
import { forAISDKTools } from "../tools/ai-sdk.js";
import type { ToolBinding, ToolBindingResult } from "../tools/bindings.js";
import { forPiTools } from "../tools/pi-ai.js";

export type { ToolBinding, ToolBindingResult } from "../tools/bindings.js";
export { forAISDKTools, forPiTools };

/** A tool that code can call, as other libraries may make it. */
export interface CallableBinding {
  readonly name: string;
  /** Whether it changes nothing; only such run where code may not change files. */
  readonly readOnly?: boolean;
  /** What it does, for a model. */
  readonly description?: string;
  /** Calls it with the one argument of the code's call. */
  call(
    input: unknown,
    context: WorkspaceModuleCallContext,
  ): Promise<ToolBindingResult> | ToolBindingResult | Promise<LooseResult> | LooseResult;
}

/** What came of a call, with structured data of any kind. */
interface LooseResult {
  readonly text: string;
  readonly isError: boolean;
  readonly details?: unknown;
  readonly structuredContent?: unknown;
}

/** Tools, or a function that gives those that there are now. */
export type ToolBindings = Iterable<ToolBinding | CallableBinding> | (() => Iterable<ToolBinding | CallableBinding>);

/** How tools become a module. */
export interface ToolBindingsOptions {
  /** Names of tools that code cannot call. @defaultValue `["exec"]` */
  exclude?: readonly string[];
  /** What the module is called in descriptions, before the list of its functions. */
  description?: string;
}

/**
 * Makes a host module of tools; each is an async function that takes one object.
 *
 * A name becomes one of JavaScript: `-`, `.` and spaces become `_`, and what cannot be in one is dropped.
 * Two tools with one name fail the connection of the backend.
 *
 * @example
 * ```js
 * const tools = createAITools({ workspace });
 * new JavaScriptBackend({ modules: { "ws:tools": createToolBindings(forAISDKTools(tools)) } });
 * ```
 */
export function createToolBindings(bindings: ToolBindings, options: ToolBindingsOptions = {}): WorkspaceModuleFactory {
  const { exclude = ["exec"], description } = options;
  const isIterable = typeof (bindings as Iterable<unknown> | null | undefined)?.[Symbol.iterator] === "function";
  if (typeof bindings !== "function" && !isIterable) {
    throw argumentTypeError("bindings must be a list of tools, or a function that gives one");
  }
  if (!Array.isArray(exclude)) throw argumentTypeError("options.exclude must be a list of names");
  if (description !== undefined && typeof description !== "string") {
    throw argumentTypeError("options.description must be a string");
  }
  const list = () => {
    const given = typeof bindings === "function" ? bindings() : bindings;
    return [...given].filter(({ name }) => !exclude.includes(name));
  };
  const factory = (): WorkspaceModuleFunctions => {
    const functions: Record<string, WorkspaceModuleFunction> = Object.create(null);
    const names = new Map<string, string>();
    for (const binding of list()) {
      const exported = exportName(binding.name);
      const other = names.get(exported);
      if (other !== undefined) {
        const both = `${JSON.stringify(other)} and ${JSON.stringify(binding.name)}`;
        throw new WorkspaceError("EINVAL", `EINVAL: the tools ${both} would both be the function ${exported}`, {
          errno: -22,
        });
      }
      names.set(exported, binding.name);
      functions[exported] = (args: readonly unknown[], context) => call(binding, args, context);
    }
    return { ...functions };
  };
  // Tools that are made anew for a description may ask for that of the backend which this module is part of.
  let isListing = false;
  const text = () => {
    if (isListing) return describe([], description);
    isListing = true;
    try {
      return describe(list(), description);
    } finally {
      isListing = false;
    }
  };
  return Object.defineProperty(factory, "description", { get: text, enumerable: true });
}

/** The name of a tool's function. */
function exportName(name: string): string {
  const made = name.replace(/[-.\s]/g, "_").replace(/[^A-Za-z0-9_$]/g, "");
  if (made === "") return "_";
  if (/^[0-9]/.test(made)) return `_${made}`;
  return ["default", "then", "__proto__"].includes(made) ? `${made}_` : made;
}

async function call(
  binding: ToolBinding | CallableBinding,
  args: readonly unknown[],
  context: WorkspaceModuleCallContext,
): Promise<LooseResult> {
  const [input = {}] = args;
  if (args.length > 1 || !isPlainObject(input)) {
    throw new TypeError(`${binding.name} takes one object with its arguments, or nothing`);
  }
  if (context.access === "read" && binding.readOnly !== true) {
    throw new WorkspaceError(
      "EROFS",
      `EROFS: code may not change files here, and ${binding.name} is not known to change nothing`,
      {
        errno: -30,
      },
    );
  }
  context.signal.throwIfAborted();
  const { text, isError, details, structuredContent } = await binding.call(input, context);
  return {
    text,
    isError,
    ...(details !== undefined && { details }),
    ...(structuredContent !== undefined && { structuredContent }),
  };
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function describe(
  tools: readonly (ToolBinding | CallableBinding)[],
  description = "the tools of this agent, with the same arguments",
): string {
  const lines = tools.map((tool) => {
    const { description: text } = tool as CallableBinding;
    return `  - \`${exportName(tool.name)}({ … })\`${text ? `: ${text}` : ""}`;
  });
  return [`${description}. Each is async, takes one object and gives \`{ text, isError, details? }\`:`, ...lines].join(
    "\n",
  );
}
