// Data of the web-platform-tests in isolates: how URLs are parsed and changed, how host names become ASCII, and the
// labels of encodings.
//
// The data of URLs comes with the source of the crate `ada-url`, which the isolate is built from; that of encodings is
// in the npm package `whatwg-encoding`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Workspace } from "carrel";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { installPackages } from "../support/packages.mjs";
import { cannotCompare } from "../support/same-program.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The folder with the data, which cargo has unpacked to build the isolate. */
function dataFolder() {
  const { status, stdout, stderr } = spawnSync("cargo", ["metadata", "--format-version", "1", "--locked"], {
    cwd: root,
    maxBuffer: 1024 ** 3,
  });
  assert.equal(status, 0, String(stderr));
  const { manifest_path } = JSON.parse(stdout).packages.find(({ name }) => name === "ada-url");
  return join(dirname(manifest_path), "tests/wpt");
}

const PARTS = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

describe("data of the web-platform-tests holds in an isolate", { skip: cannotCompare }, () => {
  let workspace;
  let folder;
  before(() => {
    installPackages();
    folder = dataFolder();
    workspace = new Workspace({ storage: ":memory:", backends: [new JavaScriptBackend()] });
  });
  after(() => workspace?.close());

  /** Cases of one file; texts between them are comments. */
  const cases = (name) =>
    JSON.parse(readFileSync(join(folder, name), "utf8")).filter((item) => typeof item === "object");

  /** What `check`, a function without a surrounding, says of each case in an isolate: nothing if it holds. */
  async function failures(check, input) {
    const source = `const check = ${check};
      export default (cases) => cases.flatMap((each) => {
        const said = check(each);
        return said === undefined ? [] : [{ case: each, said }];
      });`;
    const run = await workspace.runtime.exec(source, { encoding: "utf8", input });
    const { status, value, stderr } = await run.result();
    assert.equal(status, "completed", stderr);
    return value;
  }

  test("URLs are parsed", async () => {
    const urls = [...cases("urltestdata.json"), ...cases("urltestdata-javascript-only.json")];
    assert.ok(urls.length > 800, `${urls.length} cases`);
    const found = await failures(
      ({ input, base, failure, ...wanted }) => {
        const url = URL.parse(input, base ?? undefined);
        if (failure || url === null) return failure === (url === null) ? undefined : String(url);
        for (const [part, value] of Object.entries(wanted)) {
          if (typeof url[part] === "string" && url[part] !== value) return `${part} is ${url[part]}`;
        }
        return undefined;
      },
      urls.map((item) => ({ ...item, failure: item.failure === true })),
    );
    assert.deepEqual(found, []);
  });

  test("parts of URLs are set", async () => {
    const all = JSON.parse(readFileSync(join(folder, "setters_tests.json"), "utf8"));
    const setters = PARTS.concat("href").flatMap((part) => all[part].map((item) => ({ part, ...item })));
    assert.ok(setters.length > 200, `${setters.length} cases`);
    const found = await failures(({ part, href, new_value, expected }) => {
      const url = new URL(href);
      try {
        url[part] = new_value;
      } catch (error) {
        if (part !== "href") return String(error);
      }
      const wrong = Object.entries(expected).find(([name, value]) => url[name] !== value);
      return wrong && `${wrong[0]} is ${url[wrong[0]]}`;
    }, setters);
    assert.deepEqual(found, []);
  });

  for (const name of ["toascii.json", "IdnaTestV2.json"]) {
    test(`host names become ASCII: ${name}`, async () => {
      const found = await failures(
        ({ input, output }) => {
          const url = URL.parse(`https://${encodeURIComponent(input)}/x`);
          const host = url?.host ?? null;
          return host === output ? undefined : String(host);
        },
        cases(name).filter(({ input }) => input !== "" && input.isWellFormed()),
      );
      assert.deepEqual(found, []);
    });
  }

  test("labels name their encodings", async () => {
    const require = createRequire(new URL("packages/package.json", import.meta.url));
    const names = require("whatwg-encoding/lib/labels-to-names.json");
    assert.ok(Object.keys(names).length > 200);
    // Neither can be decoded, by the standard.
    const labels = Object.entries(names).filter(([, name]) => name !== "replacement" && name !== "x-user-defined");
    const found = await failures(([label, name]) => {
      const { encoding } = new TextDecoder(` ${label.toUpperCase()}\n`);
      return encoding === name.toLowerCase() ? undefined : encoding;
    }, labels);
    assert.deepEqual(found, []);
  });
});
