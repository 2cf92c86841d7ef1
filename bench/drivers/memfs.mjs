// Node's file system in JavaScript objects: nothing is stored, nothing is shared between processes.

import { findInNames, grepInFiles } from "../lib/naive-search.mjs";
import { versionOf } from "../lib/setup.mjs";

const { Volume } = await import("memfs");

export const name = "memfs";
export const version = versionOf("memfs");

/** It loses everything with the process. */
export const isMemory = true;

export function open() {
  const volume = new Volume();
  const fs = volume.promises;
  const names = async (path) => {
    const entries = await fs.readdir(path, { recursive: true, withFileTypes: true });
    const base = path.length + 1;
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(base));
  };
  return {
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
    write: (path, text) => fs.writeFile(path, text),
    stat: (path) => fs.stat(path),
    read: (path) => fs.readFile(path, "utf8"),
    rm: (path) => fs.rm(path),
    readdir: async (path) => (await fs.readdir(path, { withFileTypes: true })).length,
    rename: (from, to) => fs.rename(from, to),
    async fill(files) {
      const made = new Set();
      for (const [path, text] of files) {
        const parent = path.slice(0, path.lastIndexOf("/"));
        if (!made.has(parent)) volume.mkdirSync(parent, { recursive: true });
        made.add(parent);
        volume.writeFileSync(path, text);
      }
    },
    async writeStream(path, source) {
      const file = await fs.open(path, "w");
      for await (const piece of source) await file.write(piece, 0, piece.byteLength);
      await file.close();
    },
    readStream: (path) => volume.createReadStream(path, { highWaterMark: 512 * 1024 }),
    async readRange(path, offset, length) {
      const file = await fs.open(path, "r");
      const { buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      await file.close();
      return buffer;
    },
    find: async (path, glob) => findInNames(await names(path), glob),
    grep: async (pattern, path, { isRegex }) =>
      grepInFiles(await names(path), (name) => fs.readFile(`${path}/${name}`, "utf8"), pattern, isRegex),
    close: () => volume.reset(),
  };
}
