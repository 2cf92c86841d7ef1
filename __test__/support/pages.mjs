// What the tests of the documentation read: pages, their tables and chapters, and the sources behind them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./consumer.mjs";

/** A file of the checkout. */
export const read = (path) => readFileSync(join(root, path), "utf8");

/** What stands in backquotes in the first column of the tables of a page. */
export function firstColumn(page) {
  return [...read(page).matchAll(/^\| `([^`|]+)`[^|]*\|/gm)].map(([, name]) => name);
}

/** A chapter of a page, with those below it. */
export function chapterOf(page, title) {
  return new RegExp(`^## ${title}$(.*?)(?:^## |(?![^]))`, "ms").exec(read(page))?.[1] ?? "";
}

/** The names in backquotes in the first column of the tables of a text. */
export function rowsOf(text) {
  const columns = [...text.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].map(([, column]) => column);
  return columns.flatMap((column) => namesIn(column));
}

/** What stands in backquotes in a text. */
export function namesIn(text) {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
}

/** The fields and methods of an interface, without those of its fields. */
export function fieldsOf(name, file = "lib/tools/types.ts") {
  const [, body] = new RegExp(`^export interface ${name}\\b[^{]*\\{(.*?)^\\}`, "ms").exec(read(file));
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?:(<]/gm)].map(([, field]) => field);
}

/** Every `const` of a file that is a number or a product of numbers. */
export function constantsOf(file) {
  const found = read(file).matchAll(/const (\w+)(?:: \w+)? = ([\d_*< ]+);/g);
  const evaluate = (expression) => {
    const [product, shift = "0"] = expression.replaceAll("_", "").split("<<");
    return product.split("*").reduce((value, factor) => value * Number(factor), 1) * 2 ** Number(shift);
  };
  return Object.fromEntries([...found].map(([, name, expression]) => [name, evaluate(expression)]));
}

export const count = (value) => value.toLocaleString("en");
export const kib = (value) => `${value / 1024} KiB`;
export const mib = (value) => `${value / 1024 ** 2} MiB`;
