// The handle of a run over a core that is made up: which events it gives, and what may be done when.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RunHandle } from "../../dist/runtime/handle.js";

const bytes = (...values) => (typeof values[0] === "string" ? Buffer.from(values[0]) : Uint8Array.from(values));
const out = (seq, ...values) => ({ seq, name: "stdout", bytes: bytes(...values) });
const err = (seq, ...values) => ({ seq, name: "stderr", bytes: bytes(...values) });
const exit = (seq, more) => ({
  seq,
  name: "exit",
  json: JSON.stringify({ code: 0, status: "completed", value: "null", ...more }),
});

/** A core with these events, handed out in these batches; `result` is what it says of the run. */
function core(batches, result) {
  const asked = [];
  const events = batches.flat();
  return {
    asked,
    native: {
      async next(_id, after) {
        asked.push(after);
        const batch = batches.find((candidate) => candidate.at(-1).seq > after);
        if (!batch) return events.at(-1)?.name === "exit" ? [] : new Promise(() => {});
        return batch.filter(({ seq }) => seq > after);
      },
      async result() {
        asked.push("result");
        return typeof result === "function"
          ? result()
          : JSON.stringify({ status: "completed", exitCode: 0, stdout: "", stderr: "", value: "null", ...result });
      },
    },
  };
}

function handle({ native }, more) {
  return new RunHandle({
    native,
    id: "run",
    backend: "javascript",
    encoding: "utf8",
    after: 0,
    output: undefined,
    kill: async () => {},
    ...more,
  });
}

/** What a stream gives, short: seq, name, and value or code. */
async function read(stream) {
  const events = [];
  for await (const { seq, name, value, code } of stream) events.push([seq, name, value ?? code]);
  return events;
}

test("nothing is asked for before somebody reads", async () => {
  const made = core([[exit(1)]]);
  const run = handle(made);
  await new Promise(setImmediate);
  assert.deepEqual(made.asked, []);
  assert.deepEqual(await read(run), [[1, "exit", 0]]);
});

test("events come in order over batches, and the exit has the value", async () => {
  const made = core([[out(1, "a"), err(2, "b")], [out(3, "c")], [exit(4, { value: '{"a":[1]}' })]]);
  const events = [];
  for await (const event of handle(made)) events.push(event);
  assert.deepEqual(events, [
    { id: "run", seq: 1, name: "stdout", value: "a" },
    { id: "run", seq: 2, name: "stderr", value: "b" },
    { id: "run", seq: 3, name: "stdout", value: "c" },
    { id: "run", seq: 4, name: "exit", code: 0, status: "completed", result: { a: [1] } },
  ]);
  assert.deepEqual(made.asked, [0, 2, 3]);
});

test("an exit without a value has none, and has its reason", async () => {
  const made = core([[exit(1, { code: 124, status: "failed", reason: "timeout", value: undefined })]]);
  for await (const event of handle(made)) {
    assert.deepEqual(event, { id: "run", seq: 1, name: "exit", code: 124, status: "failed", reason: "timeout" });
  }
});

test("characters that were cut are joined, for each stream by itself, and numbers stay whole", async () => {
  const made = core([
    [out(1, 0xe2, 0x82), err(2, 0xc3), out(3, 0xac, 0x41), err(4, 0xbc), out(5, 0xf0, 0x9f), exit(6)],
  ]);
  assert.deepEqual(await read(handle(made)), [
    [1, "stdout", ""],
    [2, "stderr", ""],
    [3, "stdout", "€A"],
    [4, "stderr", "ü"],
    [5, "stdout", ""],
    [5, "stdout", "\ufffd"],
    [6, "exit", 0],
  ]);
});

test("a byte order mark is text like other", async () => {
  assert.deepEqual((await read(handle(core([[out(1, "\ufeffa"), exit(2)]]))))[0], [1, "stdout", "\ufeffa"]);
});

test("without an encoding output is bytes, as it was printed", async () => {
  const [[, , value]] = await read(handle(core([[out(1, 0xff, 0x00), exit(2)]]), { encoding: undefined }));
  assert.deepEqual([...value], [0xff, 0x00]);
});

test("a stream begins where it is told, and ends where there is nothing more", async () => {
  const made = core([[out(1, "a"), out(2, "b"), exit(3)]]);
  assert.deepEqual(await read(handle(made, { after: 1 })), [
    [2, "stdout", "b"],
    [3, "exit", 0],
  ]);
  assert.deepEqual(await read(handle(made, { after: 3 })), []);
});

test("tee() gives both sides everything", async () => {
  const [one, two] = handle(core([[out(1, "a"), exit(2)]])).tee();
  assert.deepEqual(await read(one), await read(two));
});

test("an error of the core comes out of the stream", async () => {
  const native = {
    next: () =>
      Promise.reject(
        new Error(
          '{"code":"EEXEC_BUSY","errno":0,"message":"EEXEC_BUSY: too many","path":null,"dest":null,"syscall":null}',
        ),
      ),
  };
  await assert.rejects(read(handle({ native })), { name: "WorkspaceError", code: "EEXEC_BUSY" });
});

// One consumer ------------------------------------------------------------------------------------

test("the result is one promise, also when it is asked for twice", async () => {
  const run = handle(core([], { stdout: "a", value: "[1]" }));
  const first = run.result();
  assert.equal(run.result(), first);
  assert.deepEqual(await first, {
    status: "completed",
    exitCode: 0,
    stdout: "a",
    stderr: "",
    value: [1],
    pushed: 0,
    pulled: 0,
    skipped: [],
    sync: { status: "complete", applied: 0, skipped: [] },
  });
});

test("after the first read there is no result, also after cancel()", async () => {
  const run = handle(core([[out(1, "a"), exit(2)]]));
  const reader = run.getReader();
  await reader.read();
  assert.throws(() => run.result(), { name: "TypeError" });
  await reader.cancel();
  assert.throws(() => run.result(), { name: "TypeError" });
});

test("after the result the events cannot be read", async () => {
  const run = handle(core([[exit(1)]]));
  await run.result();
  await assert.rejects(read(run), { name: "TypeError" });
});

test("a handle that was cancelled unread still has the result", async () => {
  const run = handle(core([[exit(1)]]));
  await run.cancel();
  assert.equal((await run.result()).status, "completed");
});

for (const [what, dispose] of [
  ["dispose", (run) => run[Symbol.dispose]()],
  ["asyncDispose", (run) => run[Symbol.asyncDispose]()],
]) {
  test(`${what} ends a stream, a reader that waits, and a result that waits; twice is fine`, async () => {
    const unread = handle(core([[exit(1)]]));
    await dispose(unread);
    await dispose(unread);
    assert.deepEqual(await read(unread), []);
    await assert.rejects(unread.result(), { code: "ECLOSED" });

    const reading = handle(core([[out(1, "a")]]));
    const reader = reading.getReader();
    await reader.read();
    const waiting = assert.rejects(reader.read(), { code: "ECLOSED" });
    await dispose(reading);
    await waiting;

    const asking = handle(core([], () => new Promise(() => {})));
    const result = assert.rejects(asking.result(), { code: "ECLOSED" });
    await dispose(asking);
    await result;
  });
}

test("a result that nobody waits for and that fails is no unhandled rejection", async (t) => {
  const seen = [];
  const see = (reason) => seen.push(reason);
  process.on("unhandledRejection", see);
  t.after(() => process.off("unhandledRejection", see));
  const run = handle(core([], () => Promise.reject(new Error("gone"))));
  run.result();
  run[Symbol.dispose]();
  await new Promise((done) => setTimeout(done, 10));
  assert.deepEqual(seen, []);
});

test("id and backend are there without being enumerable", () => {
  const run = handle(core([]));
  assert.deepEqual([run.id, run.backend, Object.keys(run)], ["run", "javascript", []]);
  assert.ok(run instanceof ReadableStream);
});

// Results as bytes --------------------------------------------------------------------------------

for (const [what, events, result, want] of [
  ["text", [], { stdout: "aü" }, [0x61, 0xc3, 0xbc]],
  ["bytes that are no text", [out(1, 0xff, 0x41), out(2, 0xfe)], { stdout: "\ufffdA\ufffd" }, [0xff, 0x41, 0xfe]],
  [
    "lines that were cut",
    [out(1, "one\ntwo\n"), out(2, 0xff, 0x0a)],
    { stdout: "\ufffd\n", truncated: { stdout: { status: "saved", path: "/p", firstLine: 3, partialLine: false } } },
    [0xff, 0x0a],
  ],
  [
    "a line that was cut",
    [out(1, "aaaa"), out(2, 0xff, 0x41)],
    { stdout: "\ufffdA", truncated: { stdout: { status: "saved", path: "/p", firstLine: 1, partialLine: true } } },
    [0xff, 0x41],
  ],
]) {
  test(`a result has the bytes of ${what}`, async () => {
    const batch = [...events, exit(events.length + 1)];
    const { stdout } = await handle(core([batch], result), { encoding: undefined }).result();
    assert.ok(stdout instanceof Uint8Array);
    assert.deepEqual([...stdout], want);
  });
}
