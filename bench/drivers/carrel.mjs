// carrel as a user has it: the compiled package of this checkout.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Workspace } from "../../dist/index.js";

export const name = "carrel";
export const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** Files of one transaction of `fill`. */
const BATCH = 10_000;

export function open({ directory, durability }) {
  const workspace = new Workspace({ storage: { path: join(directory, "carrel.db"), durability } });
  const { fs } = workspace;
  return {
    workspace,
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
    write: (path, text) => fs.writeFile(path, text),
    stat: (path) => fs.stat(path),
    read: (path) => fs.readFile(path, "utf8"),
    rm: (path) => fs.rm(path),
    readdir: async (path) => (await fs.readdir(path)).length,
    rename: (from, to) => fs.rename(from, to),
    async fill(files) {
      const iterator = files[Symbol.iterator]();
      const made = new Set();
      for (let isDone = false; !isDone; ) {
        await workspace.transaction(async (tx) => {
          for (let count = 0; count < BATCH; count++) {
            const { done, value } = iterator.next();
            isDone = done;
            if (done) return;
            const [path, text] = value;
            const parent = path.slice(0, path.lastIndexOf("/"));
            if (!made.has(parent)) await tx.mkdir(parent, { recursive: true });
            made.add(parent);
            await tx.writeFile(path, text);
          }
        });
      }
    },
    writeStream: (path, source) => fs.writeFile(path, source),
    readStream: (path) => fs.readFile(path),
    async readRange(path, byteOffset, byteLength) {
      return await new Response(await fs.readFile(path, { byteOffset, byteLength })).arrayBuffer();
    },
    find: async (directory, glob) => (await fs.find(directory, glob)).length,
    grep: async (pattern, directory, { isRegex }) => (await fs.grep(pattern, directory, { regex: isRegex })).length,
    close: () => workspace.close(),
  };
}
