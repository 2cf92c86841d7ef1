// The Worker and its Durable Object that `computer.mjs` asks, bundled by `computer-host.mjs`.

import { DurableObject } from "cloudflare:workers";
import { getWorkspace, withWorkspace } from "@cloudflare/computer";
import { WorkerJavaScriptBackend } from "@cloudflare/computer/backends/worker-javascript";
import { inLanes } from "../lanes.mjs";
import { TRIVIAL, WAITING } from "../sources.mjs";

/** Above the defaults, for the many calls and the output. */
const LIMITS = {
  maxCapabilityCalls: 1_000_000,
  maxConcurrentCapabilityCalls: 64,
  maxCapabilityRequestBytes: 2 ** 30,
  maxCapabilityResponseBytes: 2 ** 30,
  maxStdioBytes: 16 * 2 ** 20,
};

export class Agent extends withWorkspace(
  class extends DurableObject {
    async fetch(request) {
      try {
        return Response.json(await this.#answer(await request.json()));
      } catch (error) {
        return Response.json({ error: `${error.message}` });
      }
    }

    async #answer({ does, text, input, files, count, together }) {
      const workspace = this.workspace ?? (await getWorkspace(this));
      const { fs, runtime } = workspace;
      const run = async (text, input) => {
        const handle = await runtime.exec(text, { input, encoding: "utf8" });
        const { status, value, stderr } = await handle.result();
        if (status !== "completed") throw new Error(`a run ${status}: ${stderr}`);
        return value;
      };
      switch (does) {
        case "fill":
          await fs.mkdir("/workspace", { recursive: true });
          for (const [path, content] of files) await fs.writeFile(`/workspace/${path}`, content);
          return {};
        case "run":
          return { value: await run(text, input) };
        case "runs":
          await inLanes(count, together, () => run(TRIVIAL, 1));
          return {};
        case "print": {
          let bytes = 0;
          for await (const event of await runtime.exec(text, { input })) {
            if (event.name === "stdout") bytes += event.value.byteLength;
          }
          return { value: bytes };
        }
        case "wait":
          for (let index = 0; index < count; index++) await runtime.exec(WAITING);
          return {};
        default:
          throw new Error(`there is no ${does}`);
      }
    }
  },
  (self) => ({
    storage: self.ctx.storage,
    output: false,
    backends: [
      new WorkerJavaScriptBackend({
        ...LIMITS,
        loader: self.env.LOADER,
        // That of the newest workerd which miniflare of this version has.
        compatibilityDate: "2026-04-20",
        modules: { "ws:app": { add: async ([a, b]) => a + b } },
      }),
    ],
  }),
) {}

export default {
  fetch: (request, env) => env.AGENT.get(env.AGENT.idFromName("bench")).fetch(request),
};
