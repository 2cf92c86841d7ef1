// What the project aims at, and where it stands.

import { median } from "./bench.mjs";
import { amount } from "./report.mjs";

/** A list of goals to be filled: `of` is the median of a row, `add` notes a goal if it was measured. */
export function goalList(rows) {
  const of = (name, side = "carrel") => {
    const values = rows.find((row) => row.name === name)?.values[side];
    return values && median(values);
  };
  const goals = [];
  const add = (goal, wanted, value, isMet, unit) => {
    if (Number.isFinite(value)) goals.push({ goal, wanted, measured: amount(value, unit), isMet: isMet(value) });
  };
  return { goals, of, add };
}

/** The goals whose rows were measured. */
export function goalsOf(rows) {
  const { goals, of, add } = goalList(rows);
  const ratio = (goal, wanted, isMet, name, side, otherName = name) =>
    add(goal, wanted, of(name) / of(otherName, side), isMet, "times");

  for (const operation of ["create", "overwrite", "stat", "read", "rm"]) {
    const name = `${operation}, normal, one by one`;
    ratio(`${operation}: time over better-sqlite3's`, "≤ 3 times", (value) => value <= 3, name, "sqlite");
  }
  add(
    "100 creates at a time, full: gain over an fsync per file one by one",
    "≥ 10 times",
    of("create, full, one by one", "node") / of("create, full, 100 at a time"),
    (value) => value >= 10,
    "times",
  );
  for (const size of ["64 MiB", "1 GiB"]) {
    add(`stream in, ${size}`, "≥ 400 MB/s", of(`stream in, ${size}`), (value) => value >= 400, "MB/s");
    add(`stream out, ${size}`, "≥ 1000 MB/s", of(`stream out, ${size}`), (value) => value >= 1000, "MB/s");
  }
  for (const direction of ["in", "out"]) {
    const name = `stream ${direction}, 1 GiB, peak extra memory`;
    add(`stream ${direction} of 1 GiB: peak extra memory`, "< 64 MiB", of(name), (value) => value < 64, "MiB");
  }
  for (const name of rows.map((row) => row.name).filter((name) => /^(find|grep),/.test(name))) {
    ratio(`${name}: time over ripgrep's`, "≤ 1 time", (value) => value <= 1, name, "ripgrep");
  }
  for (const name of rows.map((row) => row.name).filter((name) => /^event-loop delay p99/.test(name))) {
    add(name, "< 20 ms", of(name), (value) => value < 20, "ms");
  }
  add("open an existing small file", "< 5 ms", of("open") / 1000, (value) => value < 5, "ms");
  for (const operation of ["stat", "create"]) {
    for (const count of ["100,000", "1,000,000"]) {
      const name = `scale: ${operation} among ${count}`;
      const growth = of(name) / of(`scale: ${operation} among 1,000`);
      add(`${name}: time over that among 1,000`, "≤ 2 times", growth, (value) => value <= 2, "times");
    }
  }
  add("addon", "< 8 MiB", of("addon, stripped"), (value) => value < 8, "MiB");
  return goals;
}
