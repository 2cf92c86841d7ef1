/**
 * The text of the call that an error was made in, for `assert(value)` without a message.
 *
 * Node cuts it out of the line with a whole JavaScript parser. Here the brackets are counted, and
 * strings, templates and comments skipped: enough to find where a call ends in its line.
 */

import { late } from "./late.js";
import { primordials } from "./primordials.js";

const { RegExpPrototypeExec, StringPrototypeIndexOf, StringPrototypeSlice } = primordials;

/** `(error)`: the line of its top frame and the column in it, or undefined. */
const errorSource = late("core", "errorSource", () => undefined);

/** Position after the string, template or comment that begins at `start`. */
function skip(code, start) {
  const quote = code[start];
  if (quote === "/") {
    if (code[start + 1] === "/") return code.length;
    const end = StringPrototypeIndexOf(code, "*/", start + 2);
    return end === -1 ? code.length : end + 2;
  }
  for (let index = start + 1; index < code.length; index++) {
    if (code[index] === "\\") index += 1;
    else if (code[index] === quote) return index + 1;
  }
  return code.length;
}

/** Where the expression that begins at `start` ends: at its last bracket or before a semicolon. */
function endOf(code, start) {
  let depth = 0;
  for (let index = start; index < code.length; ) {
    const unit = code[index];
    const isComment = unit === "/" && (code[index + 1] === "/" || code[index + 1] === "*");
    if (isComment || unit === '"' || unit === "'" || unit === "`") {
      index = skip(code, index);
      continue;
    }
    if (unit === "(") depth += 1;
    if (unit === ")") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
    if (unit === ";" && depth === 0) return index;
    index += 1;
  }
  return code.length;
}

/** What was called where `error` was made, such as `assert.ok(a === b)`. */
export function getErrorSourceExpression(error) {
  const found = errorSource(error);
  if (found === undefined) return undefined;
  const { 0: line, 1: column } = found;
  // The column is that of the last name of `assert.ok`.
  const before = RegExpPrototypeExec(/[\w$]+(?:\??\.[\w$]+)*\??\.$/u, StringPrototypeSlice(line, 0, column));
  const start = before === null ? column : column - before[0].length;
  return StringPrototypeSlice(line, start, endOf(line, column));
}
