// Runs code as a model writes it: `npm run build && node examples/run-code.mjs`.
//
// The code reads the files of a workspace, calls a function of this program, and prints while it works.
// What it may use is what the backend below gives it: files under /workspace/shop, to look at only, one
// host module, a second of CPU time, no network.

import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";

const stock = new Map([
  ["tea", 12],
  ["cake", 0],
  ["jam", 3],
]);

/** What code can import as `ws:stock`. Whatever it passes is checked here. */
const stockModule = {
  level: Object.assign(
    async ([item]) => {
      if (typeof item !== "string" || !stock.has(item))
        throw new RangeError(`there is no item ${JSON.stringify(item)}`);
      return stock.get(item);
    },
    { description: "level(item): how many of an item there are" },
  ),
};

const backend = new JavaScriptBackend({
  root: "/workspace/shop",
  access: "read",
  modules: { "ws:stock": stockModule },
  maxCpuMs: 1000,
});

// A model is told of all that by `backend.description`, and answers with something like this.
const CODE = `
  import { readdir, readFile } from "node:fs/promises";
  import { level } from "ws:stock";

  export default async function (input) {
    const missing = {};
    for (const name of await readdir("orders")) {
      const order = JSON.parse(await readFile("orders/" + name, "utf8"));
      for (const [item, wanted] of Object.entries(order)) {
        const there = await level(item).catch((error) => (console.error(name, error.message), 0));
        if (there < wanted) missing[item] = (missing[item] ?? 0) + wanted - there;
      }
      console.log(name, "done");
    }
    return { [input.title]: missing };
  }`;

const workspace = new Workspace({ storage: ":memory:", backends: [backend] });
await workspace.fs.mkdir("/workspace/shop/orders", { recursive: true });
await workspace.fs.writeFile("/workspace/shop/orders/ada.json", '{ "tea": 2, "cake": 1 }');
await workspace.fs.writeFile("/workspace/shop/orders/bob.json", '{ "jam": 5, "salt": 1 }');

const run = await workspace.runtime.exec(CODE, { input: { title: "to buy" }, encoding: "utf8", timeoutMs: 10_000 });
for await (const event of run) {
  if (event.name === "exit") console.log("exit", event.code, JSON.stringify(event.result ?? event.reason));
  else process.stdout.write(`${event.name}  ${event.value}`);
}
await workspace.close();
