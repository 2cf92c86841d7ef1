/**
 * carrel: a persistent workspace for AI agents on plain Node.js.
 *
 * @packageDocumentation
 */

export type { Bytes, FileContent } from "./content.js";
export { WorkspaceError } from "./errors.js";
export type { Backend } from "./runtime/backend.js";
export type * from "./runtime/types.js";
export type * from "./types.js";
export { WORKSPACE_ROOT, Workspace } from "./workspace.js";
