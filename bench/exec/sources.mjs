// The modules that are run, as a model would write them.

/** Nothing but a start and an end. */
export const TRIVIAL = "export default (input) => input + 1;";

/** A run that waits, until it is ended. */
export const WAITING = "export default () => new Promise((resolve) => setTimeout(resolve, 60_000));";

/** Work of `count` calls, `together` of them at a time; `call` is an expression that makes one. */
const calls = (imports, call) => `${imports}
export default async function ({ count, together }) {
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      begun++;
      await ${call};
    }
  };
  await Promise.all(Array.from({ length: together }, lane));
  return begun;
}`;

export const STAT = calls(`import { stat } from "node:fs/promises";`, `stat("small.txt")`);
export const READ = calls(`import { readFile } from "node:fs/promises";`, `readFile("small.txt", "utf8")`);
export const HOST = calls(`import { add } from "ws:app";`, "add(1, begun)");
/** The same as `STAT` and `READ`, without promises: one after another. */
export const STAT_SYNC = calls(`import { statSync } from "node:fs";`, `statSync("small.txt")`);
export const READ_SYNC = calls(`import { readFileSync } from "node:fs";`, `readFileSync("small.txt", "utf8")`);

/** Bytes of a printed line. */
export const LINE_BYTES = 128;
export const PRINT = `export default function (lines) {
  const line = "x".repeat(${LINE_BYTES - 1});
  for (let index = 0; index < lines; index++) console.log(line);
  return lines;
}`;

export const STREAM = `import { createReadStream } from "node:fs";
export default async function () {
  let bytes = 0;
  for await (const piece of createReadStream("large.bin")) bytes += piece.length;
  return bytes;
}`;
