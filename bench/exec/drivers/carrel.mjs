// carrel: each run in a process of its own, which waits ready.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JavaScriptBackend } from "../../../dist/backends/javascript.js";
import { Workspace } from "../../../dist/index.js";
import { source } from "../../lib/source.mjs";
import { inLanes } from "../lanes.mjs";
import { privateBytes } from "../memory.mjs";
import { TRIVIAL, WAITING } from "../sources.mjs";

export const name = "carrel";
export const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));

/** Above the defaults, for the many calls and the large file. */
const LIMITS = { maxCapabilityCalls: 1_000_000, maxCapabilityResponseBytes: 2 ** 32 };

export function open({ directory, warm = true }) {
  const backend = new JavaScriptBackend({
    ...LIMITS,
    ...(warm ? {} : { warm: 0 }),
    modules: { "ws:app": { add: async ([a, b]) => a + b } },
  });
  const workspace = new Workspace({
    storage: { path: join(directory, "carrel.db"), durability: "normal" },
    backends: [backend],
    output: false,
  });
  const { fs, runtime } = workspace;

  const run = async (text, input) => {
    const handle = await runtime.exec(text, { input, encoding: "utf8" });
    const { status, value, stderr } = await handle.result();
    if (status !== "completed") throw new Error(`carrel: a run ${status}: ${stderr}`);
    return value;
  };
  return {
    run,
    async isWarm() {
      if (warm) {
        await runtime.ready();
        while ((await runtime.stats()).warm === 0) await sleep(2);
      }
    },
    async runs(count, together) {
      const start = performance.now();
      await inLanes(count, together, () => run(TRIVIAL, 1));
      return ((performance.now() - start) * 1000) / count;
    },
    async fill(files) {
      await fs.mkdir("/workspace", { recursive: true });
      for (const [path, text] of files) await fs.writeFile(`/workspace/${path}`, text);
    },
    async fillLarge(path, bytes) {
      await fs.mkdir("/workspace", { recursive: true });
      await fs.writeFile(`/workspace/${path}`, source(bytes, 1));
    },
    async print(text, input) {
      let bytes = 0;
      for await (const event of await runtime.exec(text, { input })) {
        if (event.name === "stdout") bytes += event.value.byteLength;
      }
      return bytes;
    },
    async idle(count) {
      const handles = [];
      for (let index = 0; index < count; index++) handles.push(await runtime.exec(WAITING));
      // The code has begun; what it still does before it waits is over by then.
      await sleep(500);
      const { runs } = await runtime.stats();
      const bytes = runs.map(({ pid }) => privateBytes(pid));
      return {
        bytes: bytes.reduce((sum, one) => sum + one, 0) / bytes.length,
        close: () => Promise.all(handles.map((handle) => handle.kill())),
      };
    },
    close: () => workspace.close(),
  };
}
