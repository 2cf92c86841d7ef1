// @cloudflare/computer in miniflare: each run in an isolate that workerd's Worker Loader makes. A Durable
// Object holds the workspace, so what is timed here is one request to it, divided by how much it did.
//
// miniflare needs Node.js 22; it runs in a child with the one from the npm registry if this one is older.

import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const packageFile = (path) => new URL(`../node_modules/${path}`, import.meta.url);

export const name = "@cloudflare/computer";
export const { version } = JSON.parse(readFileSync(packageFile("@cloudflare/computer/package.json"), "utf8"));

const NODE_MIN = 22;
const node =
  Number(process.versions.node.split(".")[0]) >= NODE_MIN
    ? process.execPath
    : fileURLToPath(packageFile("node/bin/node"));

export async function open({ directory }) {
  const child = fork(fileURLToPath(new URL("computer-host.mjs", import.meta.url)), [directory], {
    execPath: node,
    execArgv: [],
    // The warnings of workerd are no part of the report.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = new Promise((resolve) => {
    child.once("error", ({ message }) => resolve({ error: message }));
    child.once("exit", (code) => resolve({ error: `the child ended with code ${code}` }));
  });
  const message = async () => {
    const answered = new Promise((resolve) => {
      child.once("message", resolve);
    });
    const answer = await Promise.race([answered, ended]);
    if (answer.error) throw new Error(`@cloudflare/computer: ${answer.error}`);
    return answer;
  };
  const ask = async (request) => {
    child.send(request);
    return await message();
  };
  await message();
  return {
    isWarm: () => ask({ does: "runs", count: 1, together: 1 }),
    run: async (text, input) => (await ask({ does: "run", text, input })).value,
    runs: async (count, together) => (await ask({ does: "runs", count, together })).micros / count,
    fill: (files) => ask({ does: "fill", files: [...files] }),
    print: async (text, input) => (await ask({ does: "print", text, input })).value,
    async idle(count) {
      const { bytes } = await ask({ does: "idle", count });
      return { bytes, close: async () => {} };
    },
    async close() {
      if (child.exitCode === null) {
        child.send({ does: "close" });
        await ended;
      }
    },
  };
}
