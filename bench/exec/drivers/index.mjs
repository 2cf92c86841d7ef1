// The sides of the comparison of runs. A side is a module with
//
//   name, version                       for the head of the table
//   open({ directory, warm }) → session with nothing ready; with warm: false it also never has
//
// and a session has those of these methods that the side can do. A source is the text of a module with a
// default function, as a model would write it.
//
//   isWarm()                            resolves when the next run would find everything ready
//   run(source, input) → its value
//   runs(count, together) → µs for each trivial run, so many in all and at a time
//   fill(files)                         files: iterable of [name, text], where runs find them
//   fillLarge(name, mib)                a file of that many MiB
//   print(source) → bytes of output that were received
//   idle(count) → { bytes, close() }    private memory of each of so many runs that wait
//   close()
//
// `features` of a side names the cases in which it takes part.

import { gatherSides } from "../../lib/sides.mjs";

const NAMES = ["carrel", "computer", "isolated-vm", "worker"];

/** The sides that are there, and why others are not. */
export const loadSides = () => gatherSides(NAMES, async (id) => ({ id, ...(await import(`./${id}.mjs`)) }));
