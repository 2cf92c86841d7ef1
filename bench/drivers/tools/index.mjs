// The sides of the comparison of tools. A side is a module with
//
//   name, version       for the head of the table
//   open({ directory }) → store
//
// and a store has those of these methods that the side can do. Paths begin with `/`.
//
//   fill(files)                                    files: iterable of [path, text]; parents too
//   read(path, { offset, byteOffset, limit }) → lines with their numbers
//   edit(path, oldText, newText) → whether it was made
//   ls(path, limit) → how many, with sizes and times   find(path, glob) → how many
//   grep(path, query, { isRegex, only }) → how many lines, or files with only: "files"
//   close()

import { gatherSides } from "../../lib/sides.mjs";

const NAMES = ["carrel", "node", "just-bash"];

/** The sides that are there, and why others are not. */
export const loadSides = () => gatherSides(NAMES, async (id) => ({ id, ...(await import(`./${id}.mjs`)) }));
