// The cases of the tools in the order of the table, and what is wanted of them.

import { goalList } from "../../lib/goals.mjs";
import * as edit from "./edit.mjs";
import * as read from "./read.mjs";
import * as search from "./search.mjs";

export const cases = [read, edit, search];

/** The goals whose rows were measured. */
export function goalsOf(rows) {
  const { goals, of, add } = goalList(rows);
  const atMost = (name, ms) => add(name, `< ${ms} ms`, of(name), (value) => value < ms * 1000, "µs");
  for (const name of rows.map((row) => row.name).filter((name) => /^read, .* page/.test(name))) atMost(name, 2);
  for (const how of ["exact", "loose", "indentation"]) atMost(`edit, 2 MiB, ${how}`, 20);
  for (const name of rows.map((row) => row.name).filter((name) => /^edit, 5 MB/.test(name))) atMost(name, 1000);
  return goals;
}
