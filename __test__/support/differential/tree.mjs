// A whole tree as a value, read from a workspace or from a directory of the host; and the way back.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { bytesOf } from "../workspace.mjs";

/** Times before this were set by a test; those after it are of the clock and do not compare. */
const SET_BEFORE = Date.UTC(2000, 0);

/** A time as it compares: what was set, or that nothing was. */
export function comparable(time) {
  return time < SET_BEFORE ? Math.round(time) : "recent";
}

/** The tree below `top` in a workspace. */
export async function workspaceTree(fs, top) {
  const tree = new Map();
  const directories = [top];
  for (const directory of directories) {
    for (const { name, isDirectory } of await fs.readdir(directory)) {
      const path = `${directory}/${name}`;
      const stat = await fs.lstat(path);
      if (isDirectory) directories.push(path);
      tree.set(path, {
        type: stat.isDirectory ? "directory" : stat.isSymbolicLink ? "link" : "file",
        mode: stat.mode,
        mtime: stat.mtime,
        inode: stat.inode,
        ...(stat.isSymbolicLink && { target: await fs.readlink(path) }),
        ...(stat.isFile && { bytes: await bytesOf(fs.readFile(path)) }),
      });
    }
  }
  return tree;
}

/** The tree below `top` on the host. */
export function hostTree(top) {
  const tree = new Map();
  const directories = [top];
  for (const directory of directories) {
    for (const name of readdirSync(directory)) {
      const path = `${directory}/${name}`;
      const stat = lstatSync(path);
      if (stat.isDirectory()) directories.push(path);
      tree.set(path, {
        type: stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "link" : "file",
        mode: stat.mode & 0o7777,
        mtime: stat.mtimeMs,
        inode: stat.ino,
        ...(stat.isSymbolicLink() && { target: readlinkSync(path) }),
        ...(stat.isFile() && { bytes: readFileSync(path) }),
      });
    }
  }
  return tree;
}

/** A tree in words, for comparing: hard links by the first of their paths, contents by length and hash. */
export function described(tree) {
  const firstNames = new Map();
  const words = {};
  for (const path of [...tree.keys()].sort()) {
    const { type, mode, mtime, inode, target, bytes } = tree.get(path);
    if (!firstNames.has(inode)) firstNames.set(inode, path);
    words[path] = { type, mode: mode.toString(8), mtime: comparable(mtime) };
    if (firstNames.get(inode) !== path) words[path].sameFileAs = firstNames.get(inode);
    if (target !== undefined) words[path].target = target;
    if (bytes !== undefined) words[path].contents = `${bytes.length} ${digest(bytes)}`;
    // The time of a link cannot be set through a workspace.
    if (type === "link") delete words[path].mtime;
  }
  return words;
}

/** Removes all below `top` on the host, however deep it is. Node's own `rm` calls itself for each level. */
export function clearHost(top) {
  const directories = [top];
  try {
    for (const directory of directories) {
      for (const entry of readdirSync(directory, { withFileTypes: true })) {
        const path = `${directory}/${entry.name}`;
        if (entry.isDirectory()) directories.push(path);
        else unlinkSync(path);
      }
    }
    for (const directory of directories.slice(1).reverse()) rmdirSync(directory);
  } catch (error) {
    // So deep that only a program that goes from directory to directory gets there.
    if (error.code !== "ENAMETOOLONG") throw error;
    execFileSync("find", [top, "-mindepth", "1", "-delete"]);
  }
}

/** Makes what is below `top` on the host the same as `tree`. */
export function restoreHostTree(top, tree) {
  clearHost(top);
  const firstNames = new Map();
  // Parents come before what is in them.
  for (const [path, { type, inode, target, bytes }] of tree) {
    const first = firstNames.get(inode);
    if (first !== undefined) linkSync(first, path);
    else if (type === "directory") mkdirSync(path);
    else if (type === "link") symlinkSync(target, path);
    else writeFileSync(path, bytes);
    if (first === undefined) firstNames.set(inode, path);
  }
  for (const [path, { type, mode, mtime }] of [...tree].reverse()) {
    if (type === "link") continue;
    chmodSync(path, mode);
    if (mtime < SET_BEFORE) utimesSync(path, mtime / 1000, mtime / 1000);
  }
}

function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 12);
}
