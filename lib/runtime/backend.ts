// What a workspace needs of a backend, and users do not see.

import type { NativeWorkspace } from "../../index.js";
import { argumentTypeError } from "../errors.js";
import type { WorkspaceFilesystem } from "../types.js";
import type { Connection } from "./connection.js";
import type { WorkspaceOutputOptions, WorkspaceRuntime } from "./types.js";

/** Where code runs. Made by `carrel/backends/javascript`. */
export interface Backend {
  readonly id: string;
  /** `"module"`: a source is the code of a module. */
  readonly protocol: "module";
  /** Whether it takes `input` and gives a value. */
  readonly callable: boolean;
  /** For a model. */
  readonly description?: string | undefined;
}

/** What a backend is connected to. */
export interface BackendHost {
  native: NativeWorkspace;
  fs: WorkspaceFilesystem;
  runtime: WorkspaceRuntime;
  output: WorkspaceOutputOptions | false | undefined;
}

/** The inner side of a backend. */
export interface BackendParts {
  connect(host: BackendHost): Promise<Connection>;
  /** Takes note of a workspace that the backend is in; `connect` gives its connection. Returns how to forget it. */
  attach(connect: () => Promise<Connection>): () => void;
}

const parts = new WeakMap<object, BackendParts>();

/** Gives a backend its inner side. */
export function registerBackend(backend: Backend, inner: BackendParts): void {
  parts.set(backend, inner);
}

/** The inner side of a backend. */
export function backendParts(backend: Backend): BackendParts {
  const inner = typeof backend === "object" && backend !== null ? parts.get(backend) : undefined;
  if (!inner) throw argumentTypeError("options.backends must be backends, such as new JavaScriptBackend()");
  return inner;
}
