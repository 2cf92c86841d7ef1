// The cases of runs in the order of the table, and what is wanted of them.

import { goalList } from "../../lib/goals.mjs";
import * as calls from "./calls.mjs";
import * as data from "./data.mjs";
import * as memory from "./memory.mjs";
import * as runs from "./runs.mjs";

export const cases = [runs, calls, data, memory];

/** The goals whose rows were measured. */
export function goalsOf(rows) {
  const { goals, of, add } = goalList(rows);
  const under = (name, micros) =>
    add(name, micros >= 1000 ? `< ${micros / 1000} ms` : `< ${micros} µs`, of(name), (value) => value < micros, "µs");
  under("trivial run, warm", 2500);
  under("trivial run, cold", 25_000);
  for (const name of ["stat", "readFile"]) {
    for (const how of ["one by one", "64 at a time"]) under(`${name} from inside, ${how}`, 20);
  }
  for (const how of ["one by one", "64 at a time"]) under(`host module call, ${how}`, 60);
  const idle = "private memory of an idle run";
  add(idle, "≤ 16 MiB", of(idle), (value) => value <= 16, "MiB");
  for (const name of rows.map((row) => row.name).filter((name) => name.startsWith("agent's memory"))) {
    add(name, "≤ 1 KiB a run", of(name), (value) => value <= 1, "KiB");
  }
  return goals;
}
