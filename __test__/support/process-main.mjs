// What `startProcess` starts: runs the functions that it is sent.

import { Workspace } from "carrel";

const context = { Workspace, workspace: undefined, state: {} };

process.on("message", async ({ id, body, args }) => {
  try {
    // biome-ignore lint/security/noGlobalEval: the text is a function of the test's
    const run = globalThis.eval(`(${body})`);
    process.send({ id, value: await run(context, ...args) });
  } catch (error) {
    const { name, code, message, path, stack } = error;
    process.send({ id, error: { name, code, message, path, stack } });
  }
});
