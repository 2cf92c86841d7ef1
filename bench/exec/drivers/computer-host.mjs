// The child of `computer.mjs`: it has miniflare, and times the requests.

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { privateBytes } from "../memory.mjs";

const [directory] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("computer-worker.mjs", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  target: "esnext",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  logLevel: "error",
});
mkdirSync(join(directory, "objects"), { recursive: true });
const miniflare = new Miniflare({
  modules: [{ type: "ESModule", path: "worker.mjs", contents: outputFiles[0].text }],
  compatibilityDate: "2026-04-20",
  compatibilityFlags: ["nodejs_compat"],
  durableObjects: { AGENT: { className: "Agent", useSQLite: true } },
  durableObjectsPersist: join(directory, "objects"),
  workerLoaders: { LOADER: {} },
});
await miniflare.ready;

const ask = async (request) => {
  const start = performance.now();
  const response = await miniflare.dispatchFetch("http://bench/", { method: "POST", body: JSON.stringify(request) });
  const answer = await response.json();
  return { ...answer, micros: (performance.now() - start) * 1000 };
};

// The object itself is there before anything is timed.
await ask({ does: "fill", files: [] });
process.send({ isReady: true });

process.on("message", async (request) => {
  if (request.does === "close") {
    await miniflare.dispose();
    process.exit();
  }
  try {
    process.send(request.does === "idle" ? await idle(request.count) : await ask(request));
  } catch (error) {
    process.send({ error: error.message });
  }
});

/** How much workerd grows with each run that waits. */
async function idle(count) {
  const pid = childOf(process.pid);
  await ask({ does: "runs", count: 1, together: 1 });
  const before = privateBytes(pid);
  const { error } = await ask({ does: "wait", count });
  if (error) return { error };
  await sleep(500);
  return { bytes: (privateBytes(pid) - before) / count };
}

/** The one child that is workerd. */
function childOf(parent) {
  for (const thread of readdirSync(`/proc/${parent}/task`)) {
    const children = readFileSync(`/proc/${parent}/task/${thread}/children`, "utf8").trim().split(" ");
    const found = children.find((pid) => pid && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd"));
    if (found) return found;
  }
  throw new Error("there is no workerd");
}
