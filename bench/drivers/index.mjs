// The sides of the comparison. A side is a module with
//
//   name, version       for the head of the table
//   open({ directory, durability, tree }) → store
//
// and a store has those of these methods that the side can do; a case that needs another one leaves the
// side out. Paths begin with `/`.
//
//   mkdir(path)  write(path, text)  stat(path)  read(path) → text  rm(path)
//   readdir(path) → how many  rename(from, to)
//   fill(files)                     files: iterable of [path, text]; parents too, in as few steps as may be
//   writeStream(path, source)       source: async iterable of bytes
//   readStream(path) → async iterable of bytes  readRange(path, offset, length) → bytes
//   find(directory, glob) → how many  grep(pattern, directory, { isRegex }) → how many lines
//   close()

import { gatherSides } from "../lib/sides.mjs";

const NAMES = ["carrel", "node", "sqlite", "agentfs", "memfs", "ripgrep"];

/** The sides that are there, and why others are not. */
export const loadSides = () => gatherSides(NAMES, loadSide);

/** One side, by the name of its file. */
export async function loadSide(id) {
  return { id, ...(await import(`./${id}.mjs`)) };
}
