// TypeScript without its types.
//
// Types become blanks, so that every line and column stays where it was; nothing is checked. What would
// need more than that (enums, parameter properties, namespaces with code) is refused.
//
// Short sources are done here and now. Long ones go to a thread, which ends when it has had nothing to do
// for a while.

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** Sources up to this many characters take about as long as a message to a thread. */
const UNITS_HERE_MAX = 16 * 1024;

/** How long a thread without work stays. */
const THREAD_IDLE_MS = 30_000;

/** What the library says: JavaScript, or what is wrong. */
type Stripped = { code: string } | { code?: undefined; problem: Problem };

/** What the library throws. */
interface Problem {
  message?: string | undefined;
  startLine?: number | undefined;
  startColumn?: number | undefined;
}

const require = createRequire(import.meta.url);
const LIBRARY = "@swc/wasm-typescript";

interface Library {
  transformSync(source: string, options: object): { code: string };
}

/** Its text also runs in the thread, so it uses nothing from around it. */
function stripWith(library: Library, source: string, filename: string): Stripped {
  try {
    return { code: library.transformSync(source, { mode: "strip-only", module: true, filename }).code };
  } catch (thrown) {
    const { message, startLine, startColumn } = (thrown ?? {}) as Problem;
    return { problem: { message: message ?? String(thrown), startLine, startColumn } };
  }
}

/**
 * JavaScript of TypeScript.
 *
 * @param path what errors call the source
 */
export async function stripTypes(source: string, path: string): Promise<string> {
  const isShort = source.length <= UNITS_HERE_MAX;
  const stripped = isShort ? stripWith(require(LIBRARY), source, path) : await stripInThread(source, path);
  if (stripped.code !== undefined) return stripped.code;
  const { message = "the source cannot be read", startLine, startColumn } = stripped.problem;
  const place = startLine === undefined ? path : `${path}:${startLine}:${(startColumn ?? 0) + 1}`;
  throw new SyntaxError(`${message} (${place})`);
}

/** The thread, and who waits for it. */
interface Thread {
  worker: Worker;
  waiting: Map<number, { resolve: (stripped: Stripped) => void; reject: (error: Error) => void }>;
  idle: NodeJS.Timeout | undefined;
}

let thread: Thread | undefined;
let jobs = 0;

function stripInThread(source: string, path: string): Promise<Stripped> {
  thread ??= startThread();
  const { worker, waiting, idle } = thread;
  clearTimeout(idle);
  jobs += 1;
  const job = jobs;
  return new Promise((resolve, reject) => {
    waiting.set(job, { resolve, reject });
    worker.ref();
    worker.postMessage([job, source, path]);
  });
}

function startThread(): Thread {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    const library = require(workerData);
    const strip = ${stripWith};
    parentPort.on("message", ([job, source, path]) => parentPort.postMessage([job, strip(library, source, path)]));
  `;
  const worker = new Worker(code, { eval: true, workerData: require.resolve(LIBRARY) });
  const made: Thread = { worker, waiting: new Map(), idle: undefined };
  const rest = () => {
    if (made.waiting.size > 0) return;
    worker.unref();
    made.idle = setTimeout(() => end(new Error("the thread had nothing to do")), THREAD_IDLE_MS).unref();
  };
  const end = (error: Error) => {
    if (thread === made) thread = undefined;
    for (const { reject } of made.waiting.values()) reject(error);
    made.waiting.clear();
    void worker.terminate();
  };
  worker.on("message", ([job, stripped]: [number, Stripped]) => {
    made.waiting.get(job)?.resolve(stripped);
    made.waiting.delete(job);
    rest();
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the thread that strips types ended")));
  worker.unref();
  return made;
}
