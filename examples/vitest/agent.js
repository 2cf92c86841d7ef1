// A small agent: it takes the first open task of /workspace/tasks.md, lets a model write the
// answer into a file, and ticks the task off. The model is a function, so a test can play it.

const TASKS = "/workspace/tasks.md";
const OPEN = /^- \[ \] (.+)$/m;

/** Returns the path of the answer, or undefined when no task is open. */
export async function runNextTask(workspace, askModel) {
  const tasks = await workspace.fs.readFile(TASKS, "utf8");
  const task = OPEN.exec(tasks)?.[1];
  if (task === undefined) return undefined;

  const answer = await askModel(task);
  const path = `/workspace/answers/${task.replaceAll(/\W+/g, "-").toLowerCase()}.md`;

  // The answer and the tick belong together: after a crash there are both or neither.
  await workspace.transaction(async (fs) => {
    await fs.mkdir("/workspace/answers", { recursive: true });
    await fs.writeFile(path, answer);
    await fs.writeFile(
      TASKS,
      tasks.replace(OPEN, (_, name) => `- [x] ${name}`),
    );
  });
  return path;
}
