import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";

const backend = new JavaScriptBackend({ modules: { "ws:app": { double: async ([number]) => number * 2 } } });
const workspace = new Workspace({ storage: ":memory:", backends: [backend] });
const source = `
  import { double } from "ws:app";
  export default async (input) => \`\${await double(input)} from an isolate\`;
`;
const run = await workspace.runtime.exec(source, { input: 21 });
console.log((await run.result()).value);
await workspace.close();
