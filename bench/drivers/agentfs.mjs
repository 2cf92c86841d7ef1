// Turso's file system for agents: SQLite's format too, in a database of its own.

import { join } from "node:path";
import { findInNames, grepInFiles } from "../lib/naive-search.mjs";
import { versionOf } from "../lib/setup.mjs";

const { AgentFS } = await import("agentfs-sdk");

export const name = "agentfs-sdk";
export const version = versionOf("agentfs-sdk");

export async function open({ directory, durability }) {
  const agent = await AgentFS.open({ path: join(directory, "agentfs.db") });
  // Its database knows FULL, which is where it starts, and OFF.
  if (durability !== "full") await agent.getDatabase().exec("PRAGMA synchronous = OFF");
  const { fs } = agent;
  const mkdir = async (path) => {
    const names = path.split("/").slice(1);
    for (let depth = 1; depth <= names.length; depth++) {
      await fs.mkdir(`/${names.slice(0, depth).join("/")}`).catch((error) => {
        if (error.code !== "EEXIST") throw error;
      });
    }
  };
  const names = async (directory, below = "") => {
    const entries = await fs.readdirPlus(directory + below);
    const nested = entries.map(async ({ name, stats }) =>
      stats.isDirectory() ? names(directory, `${below}/${name}`) : [`${below}/${name}`.slice(1)],
    );
    return (await Promise.all(nested)).flat();
  };
  return {
    mkdir,
    write: (path, text) => fs.writeFile(path, text),
    stat: (path) => fs.stat(path),
    read: (path) => fs.readFile(path, "utf8"),
    rm: (path) => fs.rm(path),
    readdir: async (path) => (await fs.readdirPlus(path)).length,
    rename: (from, to) => fs.rename(from, to),
    async fill(files) {
      for (const [path, text] of files) await fs.writeFile(path, text);
    },
    async writeStream(path, source) {
      await fs.writeFile(path, "");
      const file = await fs.open(path);
      let offset = 0;
      for await (const piece of source) {
        await file.pwrite(offset, Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
        offset += piece.byteLength;
      }
    },
    async readStream(path) {
      const file = await fs.open(path);
      const { size } = await file.fstat();
      return (async function* () {
        for (let offset = 0; offset < size; offset += 512 * 1024) yield await file.pread(offset, 512 * 1024);
      })();
    },
    readRange: async (path, offset, length) => (await fs.open(path)).pread(offset, length),
    find: async (directory, glob) => findInNames(await names(directory), glob),
    grep: async (pattern, directory, { isRegex }) =>
      grepInFiles(await names(directory), (name) => fs.readFile(`${directory}/${name}`, "utf8"), pattern, isRegex),
    close: () => agent.close(),
  };
}
