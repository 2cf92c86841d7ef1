// Tools over a workspace, and short ways to call them.

import assert from "node:assert/strict";
import { createToolSet } from "carrel/tools";
import { open } from "./workspace.mjs";

/** Tools over a new workspace, closed when the test `t` is over. */
export function openTools(t, options = {}, workspaceOptions = {}) {
  const workspace = open(t, "memory", workspaceOptions);
  return { workspace, fs: workspace.fs, ...toolsOver(workspace, options) };
}

/** Tools over `workspace`. */
export function toolsOver(workspace, options = {}) {
  const set = createToolSet({ workspace, ...options });
  const run = (name, input) => set.execute(name, input);
  return {
    set,
    run,
    /** The output of a call that has to succeed. */
    async ok(name, input) {
      const { output, isError } = await run(name, input);
      assert.equal(isError, false, `${name} ${String(JSON.stringify(input)).slice(0, 500)}: ${output.error}`);
      return output;
    },
    /** The output of a call that has to fail with `code`; its sentence has to hold all of `words`. */
    async refused(name, input, code, ...words) {
      const { output, isError, text } = await run(name, input);
      const told = `${name} ${String(JSON.stringify(input)).slice(0, 500)}: ${JSON.stringify(output)}`;
      assert.equal(isError, true, told);
      assert.equal(output.code, code, told);
      assert.ok(output.error.length > 10 && text.startsWith(output.error), told);
      for (const word of words) assert.ok(output.error.includes(word), `${JSON.stringify(word)} is not in ${told}`);
      return output;
    },
  };
}

/** UTF-16 with the high byte first. */
export function utf16be(text) {
  return Buffer.from(text, "utf16le").swap16();
}
