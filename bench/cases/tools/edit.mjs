// Editing: one place in a file, found exactly, loosely, or not at all.

import { expectEqual } from "../../lib/bench.mjs";
import { sourceText } from "../../lib/texts.mjs";

export const names = ["edit"];

const PATH = "/workspace/file.ts";
const LARGE_BYTES = 2 * 1024 * 1024;
const SMALL_BYTES = 10 * 1024;
const HOSTILE_BYTES = 5_000_000;
const REPEATS = 5;

/** What the cases look for, and what they put there. */
const LINES = ['    const limit = config.get("limit");', "    if (limit > 4711) {", "      return stop(limit);"];
const OLD = LINES.join("\n");
const NEW = OLD.replace("4711", "4712");
/** As an editor for prose would have it. */
const TYPOGRAPHIC = OLD.replaceAll('"limit"', "“limit”").replaceAll(" {", " {  ");

/** A text with some lines in the middle. */
function around(bytes, lines) {
  const text = sourceText(bytes - lines.length - 16);
  const middle = text.indexOf("\n", text.length / 2) + 1;
  return `${text.slice(0, middle)}${lines}\n${text.slice(middle)}`;
}

/** Blocks that are like the one that is looked for up to its last line. */
function nearMatches() {
  const block = Array.from({ length: 20 }, (_, number) => `line ${number}\n`).join("");
  let text = "";
  for (let number = 0; text.length < HOSTILE_BYTES; number++) text += `${block}end ${number}\n`;
  return { text, block };
}

function variants() {
  const large = around(LARGE_BYTES, OLD);
  const { text: hostile, block } = nearMatches();
  return [
    { name: "edit, 10 KB, exact", text: around(SMALL_BYTES, OLD), old: OLD, isMade: true, repeats: 4 * REPEATS },
    { name: "edit, 2 MiB, exact", text: large, old: OLD, isMade: true },
    { name: "edit, 2 MiB, loose", text: around(LARGE_BYTES, TYPOGRAPHIC), old: OLD, isMade: true },
    { name: "edit, 2 MiB, indentation", text: large, old: OLD.replaceAll(/^ {4}/gm, ""), isMade: true },
    { name: "edit, 2 MiB, refused", text: large, old: OLD.replace("limit > 4711", "limit >= 4711"), isMade: false },
    { name: "edit, 5 MB of near matches, refused", text: hostile, old: `${block}end x\n`, isMade: false, repeats: 1 },
    {
      name: "edit, 5 MB of near matches, other indentation, refused",
      text: hostile,
      old: `${block.replaceAll(/^/gm, "\t").trimEnd()}\nend x\n`,
      isMade: false,
      repeats: 1,
    },
    {
      name: "edit, 5 MB of one line, refused",
      text: "a\n".repeat(HOSTILE_BYTES / 2),
      old: `${"a\n".repeat(3_000)}b`,
      isMade: false,
      repeats: 1,
      // Compares 3,000 lines at each of 2,500,000 places.
      except: ["node"],
    },
  ];
}

export async function run(bench) {
  for (const { name, text, old, isMade, repeats = REPEATS, except = [] } of variants()) {
    const stores = new Map();
    for (const side of bench.stores({ except })) {
      stores.set(side, await side.open({ directory: bench.directory(side) }));
    }
    await bench.rounds([...stores.keys()], async (side) => {
      const store = stores.get(side);
      for (let repeat = 0; repeat < repeats; repeat++) {
        await store.fill([[PATH, text]]);
        const result = await bench.time({ name }, side, 1, () => store.edit(PATH, old, NEW));
        expectEqual(name, side, result, isMade);
      }
    });
    for (const store of stores.values()) await store.close();
  }
  bench.note("edit: at normal. The file is written anew before each; the text to edit is in its middle.");
  bench.note(
    "edit: carrel makes a diff, a patch and a version; the plain JavaScript makes none, and compares whole lines.",
  );
}
