// isolated-vm: each run in an isolate of its own inside this process. It has no modules of Node.js, so a
// file call is what a program has to provide: a reference to a function of the host.

import { writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inLanes } from "../lanes.mjs";
import { growthPerOne } from "../memory.mjs";
import { TRIVIAL } from "../sources.mjs";

const require = createRequire(import.meta.url);
const ivm = require("isolated-vm");

export const name = "isolated-vm";
export const { version } = require("isolated-vm/package.json");

export function open({ directory, warm = true }) {
  const functions = {
    stat: async (path) => (await stat(join(directory, path))).size,
    readFile: async (path) => await readFile(join(directory, path), "utf8"),
    add: async (a, b) => a + b,
  };
  const prepare = async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 128 });
    return { isolate, context: await isolate.createContext() };
  };
  let ready;
  const run = async (text, input) => {
    const { isolate, context } = ready ?? (await prepare());
    ready = undefined;
    try {
      // Imports become references; then it is as in the other sides.
      for (const [, name] of text.matchAll(/^import \{ (\w+) \} from .*$/gm)) {
        await context.global.set(`$${name}`, new ivm.Reference(functions[name]));
      }
      const inside = text.replace(
        /^import \{ (\w+) \} from .*$/gm,
        "const $1 = (...args) => $$$1.apply(undefined, args, { arguments: { copy: true }, result: { promise: true, copy: true } });",
      );
      const module = await isolate.compileModule(inside);
      await module.instantiate(context, () => {
        throw new Error("there are no modules");
      });
      await module.evaluate();
      const main = await module.namespace.get("default", { reference: true });
      return await main.apply(undefined, [input], {
        arguments: { copy: true },
        result: { promise: true, copy: true },
      });
    } finally {
      isolate.dispose();
    }
  };
  return {
    run,
    async isWarm() {
      if (warm) ready ??= await prepare();
    },
    async runs(count, together) {
      const begin = performance.now();
      await inLanes(count, together, () => run(TRIVIAL, 1));
      return ((performance.now() - begin) * 1000) / count;
    },
    fill(files) {
      for (const [path, text] of files) writeFileSync(join(directory, path), text);
    },
    idle(count) {
      return growthPerOne(count, async () => {
        const { isolate, context } = await prepare();
        await context.eval("new Promise(() => {})");
        return () => isolate.dispose();
      });
    },
    close() {
      ready?.isolate.dispose();
    },
  };
}
