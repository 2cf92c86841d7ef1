// Makes the program that `node-program.mjs` imports out of the text on descriptor 4, as a file of the directory that
// the process is in, though none is there.

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const { source, input } = JSON.parse(readFileSync(4, "utf8"));
const url = `${pathToFileURL(process.cwd())}/__workspace_entry__.js`;
const inputUrl = "carrel:input";
const found = (url, format) => ({ url, format, shortCircuit: true });
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "carrel:program") return found(url, "module");
    return specifier === inputUrl ? found(inputUrl, "json") : next(specifier, context);
  },
  load(loaded, context, next) {
    if (loaded === url) return { source, format: "module", shortCircuit: true };
    if (loaded === inputUrl) return { source: JSON.stringify(input), format: "json", shortCircuit: true };
    return next(loaded, context);
  },
});
process.umask(0o022);
delete process.env.TZ;
