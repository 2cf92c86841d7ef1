import { Workspace } from "carrel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runNextTask } from "./agent.js";

let workspace;

// A workspace in memory is new for every test, leaves nothing on disk and opens in well under a millisecond.
beforeEach(async () => {
  workspace = new Workspace({ storage: ":memory:" });
  await workspace.fs.writeFile("/workspace/tasks.md", "- [x] Say hello\n- [ ] Sum up the report\n");
});

afterEach(() => workspace.close());

test("the first open task is done and ticked off", async () => {
  const path = await runNextTask(workspace, async (task) => `I was asked: ${task}`);

  expect(path).toBe("/workspace/answers/sum-up-the-report.md");
  expect(await workspace.fs.readFile(path, "utf8")).toBe("I was asked: Sum up the report");
  expect(await workspace.fs.readFile("/workspace/tasks.md", "utf8")).toBe("- [x] Say hello\n- [x] Sum up the report\n");
});

test("nothing is asked when every task is done", async () => {
  await runNextTask(workspace, async () => "done");
  const path = await runNextTask(workspace, () => expect.unreachable());

  expect(path).toBeUndefined();
});

test("a model that fails leaves the workspace as it was", async () => {
  const failing = runNextTask(workspace, async () => {
    throw new Error("overloaded");
  });

  await expect(failing).rejects.toThrow("overloaded");
  expect(await workspace.fs.exists("/workspace/answers")).toBe(false);
});
