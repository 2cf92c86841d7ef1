// Tools as code calls them, of whatever library they came.

import type { JSONValue } from "./schema.js";

/** A tool that other code calls. */
export interface ToolBinding {
  readonly name: string;
  /** Whether it changes nothing, as far as is known. */
  readonly readOnly: boolean;
  /** Calls it. Rejects for arguments that are wrong, with what the tool throws, and with the reason of the signal. */
  call(input: unknown, context?: { signal?: AbortSignal | undefined }): Promise<ToolBindingResult>;
}

/** What came of a {@link ToolBinding}. */
export interface ToolBindingResult {
  /** What a model that is given text would read. */
  readonly text: string;
  readonly isError: boolean;
  /** The output as plain JSON; absent if it cannot be. */
  readonly details?: JSONValue;
  /** The structured content of tools that give it. */
  readonly structuredContent?: JSONValue;
}
