// `exec` in every library: what its model is told, what a person is shown meanwhile, and what an abort ends.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JavaScriptBackend } from "carrel/backends/javascript";
import { AGENTS } from "../support/exec-agents.mjs";
import { skip } from "../support/runs.mjs";
import { eventually, open } from "../support/workspace.mjs";

function gate() {
  const made = {};
  made.promise = new Promise((resolve) => {
    made.resolve = resolve;
  });
  return made;
}

/** A workspace whose code can wait for the test: `reach()` of `ws:test` resolves what `reached` waits for. */
function prepare(t) {
  const gates = { reached: gate(), open: gate() };
  const backend = new JavaScriptBackend({
    modules: {
      "ws:test": {
        reach: () => gates.reached.resolve(),
        pass: () => gates.open.promise,
      },
    },
  });
  return { workspace: open(t, "memory", { backends: [backend] }), gates };
}

for (const [agent, run] of Object.entries(AGENTS)) {
  describe(agent, { skip }, () => {
    test("a model is offered exec, runs code, is told its result, and goes on", async (t) => {
      const { workspace } = prepare(t);
      const command = `
        import fs from "node:fs";
        console.log("to stdout");
        console.error("to stderr");
        export default ({ name }) => {
          fs.writeFileSync("made.txt", name);
          return { length: name.length };
        };
      `;
      const steps = [
        ["exec", { command, input: { name: "carrel" } }],
        (told) => ["read", { path: `/workspace/made.txt${told.length === 1 ? "" : "!"}` }],
        ["exec", { command: "process.exitCode = 3" }],
      ];
      const { told, schemas } = await run(workspace, steps);
      const { description, schema } = schemas.exec;
      assert.match(description, /ES module[\s\S]*`ws:test`[\s\S]*`reach\(\)`/);
      assert.equal(schema.properties.command.type, "string");
      assert.equal(schema.properties.input.type, "object");
      assert.equal(schema.properties.backend, undefined);
      const { exitCode, stdout, stderr, result } = JSON.parse(told[0]);
      assert.deepEqual(
        { exitCode, stdout, stderr, result },
        { exitCode: 0, stdout: "to stdout\n", stderr: "to stderr\n", result: { length: 6 } },
      );
      assert.match(told[1], /carrel/);
      assert.equal(JSON.parse(told[2]).exitCode, 3);
    });

    test("output is shown while the code runs, in order, and whole", async (t) => {
      const { workspace, gates } = prepare(t);
      const command = `
        import { pass } from "ws:test";
        console.log("first");
        export default async () => { await pass(); console.log("second"); return 2; };
      `;
      const shown = [];
      const onUpdate = (snapshot) => {
        shown.push(snapshot);
        gates.open.resolve();
      };
      const { told, finals } = await run(workspace, [["exec", { command }]], { onUpdate });
      // MCP shows the last line alone.
      const [first, ...more] = shown.filter(({ exitCode }) => exitCode === null).map(({ stdout }) => stdout.trimEnd());
      assert.equal(first, "first");
      for (const next of more) assert.ok([first, "first\nsecond", "second"].includes(next), next);
      const { stdout, result } = JSON.parse(told[0]);
      assert.deepEqual({ stdout, result }, { stdout: "first\nsecond\n", result: 2 });
      assert.equal(finals.length, 1);
      assert.equal(finals[0].stdout, "first\nsecond\n");
    });

    test("what cannot be run is told, and the model can go on", async (t) => {
      const { workspace } = prepare(t);
      const steps = [
        ["exec", { command: "const = 1;" }],
        ["exec", { command: "import { a } from './gone.js'" }],
        ["exec", { command: "1", cwd: "/elsewhere" }],
        ["exec", { command: "throw new Error('thrown')" }],
        ["exec", { command: "export default () => 'fine'" }],
      ];
      const { told } = await run(workspace, steps);
      assert.match(told[0], /Nothing was run: SyntaxError/);
      assert.match(told[1], /Nothing was run: .*gone\.js/);
      assert.match(told[2], /Nothing was run: .*cwd/);
      const failed = JSON.parse(told[3]);
      assert.deepEqual([failed.exitCode, failed.reason], [1, "error"]);
      assert.match(failed.stderr, /Error: thrown/);
      assert.equal(JSON.parse(told[4]).result, "fine");
    });

    test("of long output a model is told the end, and where the rest is", async (t) => {
      const { workspace } = prepare(t);
      const steps = [
        ["exec", { command: "for (let i = 1; i <= 9; i += 1) console.log('line', i)" }],
        (told) => {
          const path = /Full output: (\S+)\]/.exec(JSON.parse(told[0]).stdout)[1];
          return ["read", { path, limit: 2 }];
        },
      ];
      const { told } = await run(workspace, steps, { tools: { execOutput: { maxLines: 2 } } });
      const { stdout } = JSON.parse(told[0]);
      assert.match(stdout, /^line 8\nline 9\n\n\n\[Showing lines 8-9 of 9\. Full output: \/\.carrel\/output\/\S+\]$/);
      assert.match(told[1], /line 1.*line 2/s);
    });

    for (const [what, rest] of [
      ["waits", "await pass();"],
      ["computes", "for (;;);"],
    ]) {
      test(`an abort stops code that ${what}`, async (t) => {
        const { workspace, gates } = prepare(t);
        const command = `
          import { reach, pass } from "ws:test";
          await reach();
          ${rest}
        `;
        const controller = new AbortController();
        gates.reached.promise.then(() => controller.abort());
        await run(workspace, [["exec", { command }]], { signal: controller.signal }).catch((error) => {
          assert.ok(controller.signal.aborted, error);
        });
        assert.ok(controller.signal.aborted);
        await eventually(async () => (await workspace.runtime.stats()).live === 0, "the end of the run");
        assert.deepEqual((await workspace.runtime.stats()).runs, []);
      });
    }
  });
}
