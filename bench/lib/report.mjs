// The table, and how far the goals are met.

import { median } from "./bench.mjs";

const HOW_TO_READ = [
  "Medians; in brackets how many times carrel is better (above 1) or worse (below 1) than that side.",
  "`—`: the side cannot do it or was not asked to.",
];

/** The whole report as Markdown, which also reads well on a terminal. */
export function report({ rows, notes, sides, why, machine, goals }) {
  const missing = [...why].map(([name, reason]) => `* Column absent: ${name}: ${reason}`);
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node.js ${machine.node}, ` +
      `${machine.fileSystem}, load ${machine.load} before and ${machine.loadAfter} after`,
    "",
    ...HOW_TO_READ,
    "",
    ...table(rows, sides),
    ...(goals.length > 0 ? ["", "| goal | wanted | measured | |", "| --- | --- | --- | --- |"] : []),
    ...goals.map(
      ({ goal, wanted, measured, isMet }) => `| ${goal} | ${wanted} | ${measured} | ${isMet ? "met" : "not met"} |`,
    ),
    "",
    ...notes.map((note) => `* ${note}`),
    ...missing,
  ].join("\n");
}

function table(rows, sides) {
  const shown = sides.filter(({ id }) => rows.some(({ values }) => values[id]));
  const head = ["case", ...shown.map(({ name, version }) => `${name} ${version}`)];
  const body = rows.map((row) => [row.name, ...shown.map(({ id }) => cell(row, id))]);
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((text, column) => pad(text, widths[column], column)).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`;
  return [line(head), rule, ...body.map(line)];
}

const pad = (text, width, column) => (column === 0 ? text.padEnd(width) : text.padStart(width));

function cell(row, id) {
  const values = row.values[id];
  if (!values) return "—";
  const value = median(values);
  const ours = row.values.carrel && median(row.values.carrel);
  if (id === "carrel" || ours === undefined) return amount(value, row.unit);
  const ratio = row.isMoreBetter ? ours / value : value / ours;
  return `${amount(value, row.unit)} (${Number.isFinite(ratio) ? short(ratio) : "—"})`;
}

/** A number with three digits that matter, in a unit that suits it. */
export function amount(value, unit) {
  if (unit === "µs" && value >= 1000) return `${short(value / 1000)} ms`;
  return `${short(value)} ${unit}`;
}

function short(value) {
  if (value === 0) return "0";
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(value < 1 ? 2 : 3).replace(/\.0+$/, "");
}
