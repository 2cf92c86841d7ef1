// What a program does that has the same tools over files on the disk: the shortest code for it, which
// makes no diff, keeps no version, and trusts every path.

import { promises as fs } from "node:fs";
import { join } from "node:path";
import { open as openFiles } from "../node.mjs";

export { name, version } from "../node.mjs";

const LINES_MAX = 2_000;
const PAGE_BYTES = 256 * 1024;
const READERS = 32;

export function open({ directory }) {
  const at = (path) => join(directory, path);
  const names = async (path) => {
    const entries = await fs.readdir(at(path), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(directory.length));
  };
  return {
    fill: openFiles({ directory, durability: "normal" }).fill,
    async read(path, { offset = 1, byteOffset, limit = LINES_MAX } = {}) {
      const lines = byteOffset
        ? (await readPiece(at(path), byteOffset)).split("\n")
        : (await fs.readFile(at(path), "utf8")).split("\n").slice(offset - 1);
      // What follows the last line break is no line.
      if (lines.at(-1) === "") lines.pop();
      return lines
        .slice(0, limit)
        .map((line, index) => `${offset + index}\t${line}`)
        .join("\n");
    },
    async edit(path, oldText, newText) {
      const text = await fs.readFile(at(path), "utf8");
      const place = exactPlace(text, oldText) ?? loosePlace(text, oldText);
      if (!place) {
        nearestLine(text, oldText);
        return false;
      }
      await fs.writeFile(at(path), text.slice(0, place.start) + newText + text.slice(place.end));
      return true;
    },
    async ls(path, limit) {
      const found = (await fs.readdir(at(path))).sort().slice(0, limit);
      const stats = await Promise.all(found.map((name) => fs.stat(join(at(path), name))));
      return stats.length;
    },
    async find(path, glob) {
      const regex = regexOf(`${path}/${glob}`);
      return (await names(path)).filter((name) => regex.test(name)).length;
    },
    async grep(path, query, { isRegex, only }) {
      const regex = isRegex && new RegExp(query, "u");
      const isMatch = regex ? (line) => regex.test(line) : (line) => line.includes(query);
      const files = await names(path);
      let next = 0;
      let count = 0;
      const reader = async () => {
        while (next < files.length) {
          const lines = (await fs.readFile(at(files[next++]), "utf8")).split("\n");
          if (only === "files") count += Number(lines.some(isMatch));
          else count += lines.filter(isMatch).length;
        }
      };
      await Promise.all(Array.from({ length: READERS }, reader));
      return count;
    },
    close: async () => {},
  };
}

async function readPiece(file, position) {
  const handle = await fs.open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(PAGE_BYTES), 0, PAGE_BYTES, position);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** A glob of `*` and `**` + `/`, which is all that the cases have. */
function regexOf(glob) {
  const parts = glob.split(/(\*\*\/|\*)/).map((part) => {
    if (part === "**/") return "(?:.*/)?";
    return part === "*" ? "[^/]*" : part.replaceAll(/[.\\+?()[\]{}|^$]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`);
}

function exactPlace(text, old) {
  const start = text.indexOf(old);
  if (start < 0 || text.indexOf(old, start + 1) >= 0) return undefined;
  return { start, end: start + old.length };
}

const fold = (line) =>
  line
    .normalize("NFKC")
    .replaceAll(/[‘’‚‛]/g, "'")
    .replaceAll(/[“”„‟]/g, '"')
    .replaceAll(/[‐-―−]/g, "-")
    .trim();

/** The only block of lines that looks like the old text. */
function loosePlace(text, old) {
  const lines = text.split("\n");
  const folded = lines.map(fold);
  const wanted = old.replace(/\n$/, "").split("\n").map(fold);
  let found;
  for (let first = folded.indexOf(wanted[0]); first >= 0; first = folded.indexOf(wanted[0], first + 1)) {
    if (!wanted.every((line, index) => line === folded[first + index])) continue;
    if (found !== undefined) return undefined;
    found = first;
  }
  if (found === undefined) return undefined;
  const start = lines.slice(0, found).reduce((sum, line) => sum + line.length + 1, 0);
  return { start, end: start + lines.slice(found, found + wanted.length).join("\n").length };
}

/** Where most lines of the old text would be in their places. */
function nearestLine(text, old) {
  const wanted = new Map(old.split("\n").map((line, index) => [line.trim(), index]));
  const votes = new Map();
  let best = [0, 0];
  text.split("\n").forEach((line, number) => {
    const index = wanted.get(line.trim());
    if (index === undefined) return;
    const count = (votes.get(number - index) ?? 0) + 1;
    votes.set(number - index, count);
    if (count > best[1]) best = [number - index, count];
  });
  return best[0];
}
