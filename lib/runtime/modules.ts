// The modules that a backend offers to code: what may be configured, and what is made of it when a
// workspace connects.

import { argumentTypeError, WorkspaceError } from "../errors.js";
import type {
  WorkspaceModule,
  WorkspaceModuleFactory,
  WorkspaceModuleFunctions,
  WorkspaceModuleHost,
} from "./types.js";

const HOST_SPECIFIER = /^ws:[A-Za-z0-9][A-Za-z0-9._-]*$/;
const EXPORT_NAME = /^[A-Za-z_$][\w$]*$/;
/** Names that an importing module would take for something else. */
const NOT_EXPORTS = ["default", "then", "__proto__"];

/** Checked modules, as they were configured. */
export interface ConfiguredModules {
  sources: Map<string, string>;
  objects: Map<string, WorkspaceModuleFunctions>;
  factories: Map<string, WorkspaceModuleFactory>;
  /** In the order of the option. */
  order: string[];
}

/** Checks the option `modules`. */
export function configuredModules(modules: unknown): ConfiguredModules {
  const configured: ConfiguredModules = { sources: new Map(), objects: new Map(), factories: new Map(), order: [] };
  if (modules == null) return configured;
  if (typeof modules !== "object" || Array.isArray(modules)) throw argumentTypeError("modules must be an object");
  for (const [specifier, module] of Object.entries(modules) as [string, WorkspaceModule][]) {
    configured.order.push(specifier);
    if (typeof module === "string") {
      checkSourceSpecifier(specifier);
      configured.sources.set(specifier, module);
      continue;
    }
    if (!HOST_SPECIFIER.test(specifier)) {
      throw invalid(
        `modules has functions under ${JSON.stringify(specifier)}; a module of functions is named ws:, a letter or digit, then letters, digits, ".", "_" or "-"`,
      );
    }
    if (typeof module === "function") {
      configured.factories.set(specifier, module);
    } else {
      const names = functionNames(specifier, module);
      if (names.length === 0) throw invalid(`the module ${specifier} has no functions`);
      configured.objects.set(specifier, module);
    }
  }
  return configured;
}

function checkSourceSpecifier(specifier: string): void {
  if (specifier.startsWith("ws:")) {
    throw invalid(
      `modules has source text under ${JSON.stringify(specifier)}; names that begin with ws: are for functions`,
    );
  }
  const bare = specifier.replace(/^node:/, "");
  if (specifier === "" || specifier.includes("/") || specifier.includes("\0") || /^\.{1,2}$/.test(specifier)) {
    throw invalid(`modules has source text under ${JSON.stringify(specifier)}, which is no name for a module`);
  }
  if (specifier.startsWith("node:") || bare === "fs") {
    throw invalid(`modules cannot replace ${JSON.stringify(specifier)}`);
  }
}

/** The names of the functions of a module, all of which have to be functions. */
function functionNames(specifier: string, module: unknown): string[] {
  if (typeof module !== "object" || module === null || Array.isArray(module)) {
    throw argumentTypeError(
      `the module ${specifier} must be source text, an object of functions, or a function that makes one`,
    );
  }
  const names = Object.keys(module);
  for (const name of names) {
    if (!EXPORT_NAME.test(name) || NOT_EXPORTS.includes(name)) {
      throw invalid(`the module ${specifier} cannot have an export ${JSON.stringify(name)}`);
    }
    if (typeof (module as Record<string, unknown>)[name] !== "function") {
      throw argumentTypeError(`${name} of the module ${specifier} must be a function`);
    }
  }
  return names;
}

/** The modules of one connection. */
export interface ConnectedModules {
  functions: Map<string, WorkspaceModuleFunctions>;
  /** What the core is told of them. */
  exports: { specifier: string; exports: string[] }[];
}

/** Makes the modules of a connection. Rejects with what a factory throws. */
export async function connectModules(
  configured: ConfiguredModules,
  host: WorkspaceModuleHost,
): Promise<ConnectedModules> {
  const functions = new Map<string, WorkspaceModuleFunctions>();
  const exports: ConnectedModules["exports"] = [];
  for (const specifier of configured.order) {
    const factory = configured.factories.get(specifier);
    const module = factory ? await factory(host) : configured.objects.get(specifier);
    if (module === undefined && !factory) continue;
    const names = functionNames(specifier, module);
    if (names.length === 0) continue;
    functions.set(specifier, module as WorkspaceModuleFunctions);
    exports.push({ specifier, exports: names });
  }
  return { functions, exports };
}

function invalid(sentence: string): WorkspaceError {
  return new WorkspaceError("EINVAL", `EINVAL: ${sentence}`, { errno: -22 });
}
