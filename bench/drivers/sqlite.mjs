// The floor: what SQLite costs a synchronous program that keeps files in one table and has none of the
// rules of a file system: no directories, no links, no history, no sharing, no checksums.

import { join } from "node:path";
import { findInNames, grepInFiles } from "../lib/naive-search.mjs";
import { versionOf } from "../lib/setup.mjs";

const { default: Database } = await import("better-sqlite3");

export const name = "better-sqlite3";
export const version = versionOf("better-sqlite3");

export function open({ directory, durability }) {
  const db = new Database(join(directory, "naive.db"));
  db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  db.exec("CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, content BLOB, mode INTEGER, mtime REAL)");
  // What is below a directory sorts between its path with `/` and its path with the next character, `0`.
  const below = "path > ? || '/' AND path < ? || '0'";
  const put = db.prepare(
    "INSERT INTO files VALUES (?, ?, 420, ?) ON CONFLICT (path) DO UPDATE SET content = excluded.content, mtime = excluded.mtime",
  );
  const look = db.prepare("SELECT mode, mtime, length(content) AS size FROM files WHERE path = ?");
  const get = db.prepare("SELECT content FROM files WHERE path = ?").pluck();
  const part = db.prepare("SELECT substr(content, ?, ?) FROM files WHERE path = ?").pluck();
  const drop = db.prepare("DELETE FROM files WHERE path = ?");
  const list = db.prepare(`SELECT path, mode, mtime, length(content) AS size FROM files WHERE ${below}`);
  const paths = db.prepare(`SELECT path FROM files WHERE ${below} ORDER BY path`).pluck();
  const move = db.prepare(`UPDATE files SET path = ? || substr(path, ?) WHERE ${below}`);
  const write = (path, text) => put.run(path, Buffer.from(text), Date.now());
  const read = (path) => get.get(path).toString("utf8");
  return {
    mkdir: () => {},
    write,
    stat: (path) => look.get(path),
    read,
    rm: (path) => drop.run(path),
    readdir: (path) => list.all(path, path).filter((row) => !row.path.includes("/", path.length + 1)).length,
    rename: (from, to) => move.run(to, from.length + 1, from, from),
    fill: db.transaction((files) => {
      for (const [path, text] of files) write(path, text);
    }),
    async writeStream(path, source) {
      const pieces = [];
      for await (const piece of source) pieces.push(Buffer.from(piece));
      put.run(path, Buffer.concat(pieces), Date.now());
    },
    readStream: async (path) => [get.get(path)],
    readRange: (path, offset, length) => part.get(offset + 1, length, path),
    find: (directory, glob) => findInNames(namesBelow(paths, directory), glob),
    grep: (pattern, directory, { isRegex }) =>
      grepInFiles(namesBelow(paths, directory), (name) => read(`${directory}/${name}`), pattern, isRegex),
    close: () => db.close(),
  };
}

const namesBelow = (paths, directory) =>
  paths.all(directory, directory).map((path) => path.slice(directory.length + 1));
