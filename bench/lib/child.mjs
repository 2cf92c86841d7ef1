// Runs a job in a process of its own, for what must not be mixed with anything else: memory, and the
// delay of the event loop.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The result of `job(argument)`, the default export of a module in `jobs/`. */
export function inChild(job, argument) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [job, JSON.stringify(argument)], {
      execArgv: ["--expose-gc"],
    });
    let result;
    child.on("message", (message) => {
      result = message;
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (result) resolve(result);
      else reject(new Error(`the job ${job} ended with ${signal ?? `code ${code}`}`));
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [job, argument] = process.argv.slice(2);
  const { default: run } = await import(`../jobs/${job}.mjs`);
  const result = await run(JSON.parse(argument)).catch((error) => ({ error: error.message }));
  process.send(result, () => process.exit());
}
