// One text that looks like source code.

import { sourceTree } from "./tree.mjs";

/** Whole lines of such text, of almost `bytes` bytes. ASCII. */
export function sourceText(bytes) {
  let text = "";
  for (const [, part] of sourceTree("", Math.ceil(bytes / 8_000))) text += part;
  if (text.length < bytes) throw new Error("too few files for so many bytes");
  return text.slice(0, text.lastIndexOf("\n", bytes - 1) + 1);
}
