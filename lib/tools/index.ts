/**
 * The file tools, for a library that carrel has no adapter for.
 *
 * @packageDocumentation
 */

export type * from "./schema.js";
export { createToolSet, type Tool, type ToolCallOptions, type ToolSet } from "./tool-set.js";
export type * from "./types.js";
