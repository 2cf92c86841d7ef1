// Node's own file system, asynchronous as carrel is.

import { createReadStream, promises as fs } from "node:fs";
import { join } from "node:path";
import { findInNames, grepInFiles } from "../lib/naive-search.mjs";

export const name = "node:fs/promises";
export const version = process.versions.node;

export function open({ directory, durability }) {
  const at = (path) => join(directory, path);
  const isFull = durability === "full";
  const names = async (path) => {
    const entries = await fs.readdir(at(path), { recursive: true, withFileTypes: true });
    const base = at(path).length + 1;
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(base));
  };
  return {
    mkdir: (path) => fs.mkdir(at(path), { recursive: true }),
    write: isFull ? (path, text) => writeAndSync(at(path), text) : (path, text) => fs.writeFile(at(path), text),
    stat: (path) => fs.stat(at(path)),
    read: (path) => fs.readFile(at(path), "utf8"),
    // To be gone after a power cut, the directory would have to be flushed as well; it is not.
    rm: (path) => fs.rm(at(path)),
    readdir: async (path) => (await fs.readdir(at(path), { withFileTypes: true })).length,
    rename: (from, to) => fs.rename(at(from), at(to)),
    async fill(files) {
      const made = new Set();
      for (const [path, text] of files) {
        const parent = path.slice(0, path.lastIndexOf("/"));
        if (!made.has(parent)) await fs.mkdir(at(parent), { recursive: true });
        made.add(parent);
        await fs.writeFile(at(path), text);
      }
    },
    writeStream: (path, source) => writeAndSync(at(path), source, isFull),
    // Pieces as large as carrel's; with the default of 64 KiB it is slower.
    readStream: (path) => createReadStream(at(path), { highWaterMark: 512 * 1024 }),
    async readRange(path, offset, length) {
      const file = await fs.open(at(path));
      try {
        return (await file.read(Buffer.allocUnsafe(length), 0, length, offset)).buffer;
      } finally {
        await file.close();
      }
    },
    find: async (path, glob) => findInNames(await names(path), glob),
    grep: async (pattern, path, { isRegex }) =>
      grepInFiles(await names(path), (name) => fs.readFile(join(at(path), name), "utf8"), pattern, isRegex),
    close: async () => {},
  };
}

async function writeAndSync(path, content, mustSync = true) {
  const file = await fs.open(path, "w");
  try {
    await file.writeFile(content);
    if (mustSync) await file.sync();
  } finally {
    await file.close();
  }
}
