// What the demonstration shows in a terminal: a call in one line, and what came of it below.

const INDENT = "      ";
// Of a long result only the beginning is shown.
const LINES_MAX = 14;
const LIST_MAX = 4;

const isColourful = wantsColour(process.env, process.stdout);
const width = Math.max(process.stdout.columns ?? 120, 40);

/**
 * Whether to use colour. FORCE_COLOR and NO_COLOR count if they are not empty, in this order as in
 * Node.js itself; else the terminal decides.
 */
function wantsColour({ FORCE_COLOR = "", NO_COLOR = "" }, stream) {
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  if (NO_COLOR !== "") return false;
  return stream.isTTY === true && stream.hasColors();
}

const paint = (code) => (text) => (isColourful ? `\x1b[${code}m${text}\x1b[0m` : text);
export const bold = paint(1);
export const dim = paint(2);
const [red, green, yellow, cyan] = [paint(31), paint(32), paint(33), paint(36)];

/** Text from a model or a file, without the characters by which it could command the terminal. */
export function plain(text) {
  return String(text)
    .replaceAll("\t", "  ")
    .replaceAll(/(?!\n)\p{Cc}/gu, "");
}

/** What a model says. */
export function shownText(text) {
  return wrapped(text.trim(), 2)
    .map((line) => `  ${line}`)
    .join("\n");
}

/** What code prints, below the call that runs it. */
export function shownOutput(text) {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${INDENT}${dim("│")} ${oneLine(line, INDENT.length + 2)}\n`)
    .join("");
}

/** A call and what came of it. */
export function shownCall({ toolName, input }, output) {
  const failed = output === undefined || typeof output.error === "string";
  const head = `  ${failed ? red("✗") : green("●")} ${bold(toolName.padEnd(6))} ${oneLine(argumentsOf(toolName, input), 11)}`;
  const lines = failed ? failure(output) : (RESULTS[toolName]?.(output) ?? [JSON.stringify(output)]);
  const shown = lines.slice(0, LINES_MAX);
  if (lines.length > shown.length) shown.push(dim(`… ${lines.length - shown.length} more lines`));
  return [head, ...shown.map((line) => INDENT + line)].join("\n");
}

/** One line, cut to what the terminal has room for after `used` columns. */
function oneLine(text, used = INDENT.length) {
  const line = plain(text).replaceAll("\n", "⏎");
  const room = width - used;
  return line.length > room ? `${line.slice(0, room - 1)}…` : line;
}

function argumentsOf(toolName, input) {
  if (typeof input !== "object" || input === null) return String(input);
  const { path, pattern, query, content, edits, command, input: argument, ...rest } = input;
  const words = [query ?? pattern, path, command && `${plural(command.trim().split("\n").length, "line")} of code`];
  if (argument !== undefined) words.push(`input ${JSON.stringify(argument)}`);
  words.push(...Object.entries(rest).map(([name, value]) => `${name} ${value}`));
  if (toolName === "edit" && Array.isArray(edits)) {
    const [{ oldText, newText, replaceAll } = {}] = edits;
    words.push(`${cutWords(oldText)} → ${cutWords(newText)}${replaceAll ? ", everywhere" : ""}`);
  }
  return words.filter((word) => word !== undefined && word !== "").join("  ");
}

function cutWords(text) {
  const line = String(text).trim().split("\n")[0];
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function failure(output) {
  const lines = wrapped(output?.error ?? "the call was not made", INDENT.length).map(yellow);
  const { text } = output?.nearest ?? {};
  return text ? [...lines, ...text.split("\n").map((line) => dim(oneLine(line)))] : lines;
}

/** Text in lines that the terminal has room for after `used` columns, broken between words. */
export function wrapped(text, used) {
  const lines = [];
  for (const paragraph of plain(text).split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width - used) {
        lines.push(line);
        line = word;
      } else {
        line = line === "" ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The beginning of a list, and how much more there is. */
function list(items, count = items.length) {
  const lines = items.slice(0, LIST_MAX).map((item) => dim(oneLine(item)));
  if (count > lines.length) lines.push(dim(`… ${count - lines.length} more`));
  return lines;
}

/** What a call gave, by the name of its tool. */
const RESULTS = {
  find: ({ count, entries }) =>
    list(
      entries.map(({ path }) => path),
      count,
    ),
  ls: ({ count, entries }) =>
    list(
      entries.map(({ name }) => name),
      count,
    ),
  grep: ({ count, matches, files, counts }) => {
    if (count === 0) return [dim("nothing")];
    if (files) return list(files, count);
    if (counts)
      return list(
        counts.map(({ path, count: lines }) => `${path}: ${lines}`),
        count,
      );
    return list(
      matches.map(({ path, line, text }) => `${path}:${line}  ${text.trim()}`),
      count,
    );
  },
  read: ({ content, startLine, endLine, totalLines, mediaType, sizeBytes }) => {
    if (content === undefined) return [dim(`${mediaType}, ${sizeBytes} bytes`)];
    const of = totalLines === null ? "" : ` of ${totalLines}`;
    return [dim(`lines ${startLine}-${endLine}${of}`), ...list(content.split("\n"))];
  },
  write: ({ bytesWritten, existed }) => [dim(`${existed ? "replaced" : "new"}, ${plural(bytesWritten, "byte")}`)],
  edit: ({ diff, editsApplied, changed }) =>
    diff ? changesIn(diff) : [dim(changed ? plural(editsApplied, "edit") : "no change")],
  delete: ({ existed }) => [dim(existed ? "deleted" : "was not there")],
  exec: ({ exitCode, reason, stderr, result }) => {
    if (exitCode === 0) return [dim(`returned ${oneLine(JSON.stringify(result))}`)];
    return [yellow(`exit code ${exitCode}${reason ? `, ${reason}` : ""}`), ...list(stderr.trimEnd().split("\n"))];
  },
};

/** The lines of a diff that changed, each with its neighbours. */
function changesIn(diff) {
  const lines = diff.split("\n");
  const isChange = (line) => line !== undefined && /^[+-]/.test(line);
  const shown = [];
  let last = 0;
  for (const [index, line] of lines.entries()) {
    if (![lines[index - 1], line, lines[index + 1]].some(isChange)) continue;
    if (index > last + 1 && shown.length > 0) shown.push(cyan("…"));
    shown.push(painted(oneLine(line)));
    last = index;
  }
  return shown;
}

function painted(line) {
  if (line.startsWith("+")) return green(line);
  return line.startsWith("-") ? red(line) : dim(line);
}
