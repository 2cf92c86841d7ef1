// The tools as a model calls them: arguments in, JSON and text out.

import { createToolSet } from "../../../dist/tools/index.js";
import { open as openFiles } from "../carrel.mjs";

export { name, version } from "../carrel.mjs";

/** Most entries of one page. */
const PAGE = 1_000;
/** The largest file of a case is above the default. */
const EDIT_BYTES_MAX = 16 * 1024 * 1024;

export function open({ directory }) {
  const files = openFiles({ directory, durability: "normal" });
  const tools = createToolSet({ workspace: files.workspace, edit: { maxBytes: EDIT_BYTES_MAX } });
  const call = async (name, input) => {
    const { output, isError } = await tools.execute(name, input);
    if (isError) throw new Error(output.error);
    return output;
  };
  /** All pages of a list. */
  const count = async (name, input, limit = Number.POSITIVE_INFINITY) => {
    let offset = 0;
    for (;;) {
      const page = await call(name, { ...input, offset, limit: Math.min(limit, PAGE) });
      offset += page.count;
      if (!page.truncated || offset >= limit) return offset;
    }
  };
  return {
    fill: files.fill,
    read: async (path, part) => (await call("read", { path, ...part })).content,
    async edit(path, oldText, newText) {
      const { output, isError } = await tools.execute("edit", { path, edits: [{ oldText, newText }] });
      if (isError && output.code !== "ENOMATCH") throw new Error(output.error);
      return !isError;
    },
    ls: (path, limit) => count("ls", { path }, limit),
    find: (path, pattern) => count("find", { path, pattern }),
    grep: (path, query, { isRegex, only }) =>
      count("grep", { path, query, regex: isRegex, outputMode: only ?? "content" }),
    close: files.close,
  };
}
