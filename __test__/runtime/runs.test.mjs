// The life of runs as the core sees it, with isolates that are played.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import binding from "../../index.js";
import fake from "../support/fake-isolate.cjs";

const folder = mkdtempSync(join(tmpdir(), "carrel-runs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const skip = process.platform === "win32" && "runs are not there on Windows yet";
const isLinux = process.platform === "linux";
const utf8 = (bytes) => Buffer.from(bytes).toString();
const code = (error) => JSON.parse(error.message).code;
const rejects = (promise, wanted) => assert.rejects(promise, (error) => assert.equal(code(error), wanted) ?? true);

let programs = 0;
const program = (behaviour) => fake.fakeIsolate(folder, `program-${++programs}`, behaviour);

/** A workspace with a runtime whose isolates behave so; upcalls are collected, or answered by `serve`. */
function open(t, behaviour, options = {}, serve = () => {}) {
  const workspace = new binding.NativeWorkspace({ storage: ":memory:" });
  const upcalls = [];
  const config = { isolatePath: program(behaviour), warm: 0, ...options };
  const runtime = workspace.runtime(JSON.stringify(config), (json, bytes) => {
    const upcall = JSON.parse(json);
    upcalls.push(upcall);
    serve(upcall, bytes, runtime);
  });
  t.after(async () => {
    await runtime.close();
    await workspace.close();
  });
  const exec = (request = {}, source = "", stdin = null) => runtime.exec(JSON.stringify(request), source, stdin);
  const result = async (id, output = null) => JSON.parse(await runtime.result(id, output));
  const run = async (request, output) => result(await exec(request), output);
  return { workspace, runtime, upcalls, exec, result, run };
}

async function eventsOf(runtime, id, from = 0) {
  const events = [];
  for (let seq = from; ; ) {
    const next = await runtime.next(id, seq);
    if (next.length === 0) return events;
    events.push(...next);
    seq = next.at(-1).seq;
  }
}

const shown = (events) =>
  events.map(({ seq, name, bytes, json }) => [seq, name, bytes ? utf8(bytes) : JSON.parse(json)]);
const isAlive = (pid) => existsSync(`/proc/${pid}`);

/** Waits until something holds; what does not in half a minute never will. */
async function until(holds) {
  for (const giveUp = Date.now() + 30_000; !(await holds()); ) {
    assert.ok(Date.now() < giveUp, `never true: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const hang = ({ say, output }) => say(output(1, "going\n"));
const succeed = ({ endWith, done }) => endWith(done("completed", "null"));

describe("events", { skip }, () => {
  const printer = ({ begin, write, output, end, done }) => {
    begin();
    write(output(1, "a"), output(2, "b"), output(1, "c"));
    end(done("completed", '{"x":1}', 3));
  };
  const exit = { status: "completed", code: 3, value: '{"x":1}' };

  test("come in order, and the exit last, for whoever reads from wherever", async (t) => {
    const { runtime, exec } = open(t, printer);
    const id = await exec();
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const all = [
      [1, "stdout", "a"],
      [2, "stderr", "b"],
      [3, "stdout", "c"],
      [4, "exit", exit],
    ];
    assert.deepEqual(shown(await eventsOf(runtime, id)), all);
    assert.deepEqual(shown(await eventsOf(runtime, id, 2)), all.slice(2));
    assert.deepEqual(shown(await eventsOf(runtime, id, 3)), all.slice(3));
    assert.deepEqual([await eventsOf(runtime, id, 4), await eventsOf(runtime, id, 99)], [[], []]);
    assert.equal(await runtime.lastSeq(id), 4);
  });

  test("are the same when they come from the store", async (t) => {
    const { runtime, exec, run, result } = open(t, printer);
    const id = await exec();
    const [events, ended] = [await eventsOf(runtime, id), await result(id)];
    // Those that ended last are in memory.
    for (let count = 0; count < 20; count++) await run();
    assert.deepEqual(shown(await eventsOf(runtime, id)), shown(events));
    assert.deepEqual(shown(await eventsOf(runtime, id, 2)), shown(events).slice(2));
    assert.deepEqual(await eventsOf(runtime, id, 4), []);
    assert.deepEqual(await result(id), ended);
    assert.equal(await runtime.lastSeq(id), 4);
  });

  test("reach a reader while the run goes on", async (t) => {
    const { runtime, exec } = open(t, hang);
    const id = await exec();
    assert.deepEqual(shown(await runtime.next(id, 0)), [[1, "stdout", "going\n"]]);
    const later = runtime.next(id, 1);
    await runtime.kill(id);
    assert.deepEqual(
      shown(await later).map(([seq, name]) => [seq, name]),
      [[2, "stderr"]],
    );
  });

  test("of a long run are all there, in memory or not", async (t) => {
    const { runtime, exec } = open(t, ({ begin, write, output, end, done }) => {
      begin();
      for (let line = 0; line < 40_000; line++) write(output(1, `${line} ${"x".repeat(60)}\n`));
      end(done("completed", "1"));
    });
    const id = await exec();
    for (const wait of [0, 1]) {
      if (wait) await runtime.result(id, null);
      const events = await eventsOf(runtime, id);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      );
      const lines = Buffer.concat(events.slice(0, -1).map(({ bytes }) => bytes))
        .toString()
        .split("\n");
      assert.equal(lines.length, 40_001);
      assert.equal(
        lines.slice(0, -1).findIndex((line, index) => line !== `${index} ${"x".repeat(60)}`),
        -1,
      );
    }
  });

  test("of one run have so many readers", async (t) => {
    const { runtime, exec } = open(t, ({ say }) => say(), { maxExecutionSubscribers: 1 });
    const id = await exec();
    const first = runtime.next(id, 0);
    await rejects(runtime.next(id, 0), "EEXEC_BUSY");
    await runtime.kill(id);
    assert.equal((await first).length, 1);
  });
});

describe("ids", { skip }, () => {
  test("are taken while a run goes on, and as long as it is kept", async (t) => {
    const { runtime, exec, result } = open(t, hang);
    assert.equal(await exec({ id: "a" }), "a");
    await rejects(exec({ id: "a" }), "EEXEC_BUSY");
    await rejects(runtime.dispose("a"), "EEXEC_BUSY");
    await runtime.kill("a");
    await rejects(exec({ id: "a" }), "EEXEC_EXISTS");
    assert.equal((await result("a")).exitCode, 130);
    await runtime.dispose("a");
    await rejects(runtime.dispose("a"), "ENOENT");
    assert.equal(await exec({ id: "a" }), "a");
  });

  test("that nobody took are not there", async (t) => {
    const { runtime } = open(t, hang);
    assert.equal(await runtime.has("a"), false);
    for (const call of ["kill", "dispose", "lastSeq"]) await rejects(runtime[call]("a"), "ENOENT");
    await rejects(runtime.next("a", 0), "ENOENT");
    await rejects(runtime.result("a", null), "ENOENT");
  });

  test("are free again after what is kept at most", async (t) => {
    const { runtime, run } = open(t, succeed, { maxRetainedExecutions: 2 });
    for (const id of ["a", "b", "c"]) await run({ id });
    await until(async () => !(await runtime.has("a")));
    assert.deepEqual([await runtime.has("b"), await runtime.has("c")], [true, true]);
    assert.equal((await run({ id: "a" })).status, "completed");
  });

  test("of one runtime are not those of another", async (t) => {
    const { workspace, run } = open(t, succeed, { id: "one" });
    await run({ id: "a" });
    const config = { id: "two", isolatePath: program(succeed), warm: 0 };
    const other = workspace.runtime(JSON.stringify(config), () => {});
    t.after(() => other.close());
    assert.equal(await other.has("a"), false);
    assert.equal(await other.exec('{"id":"a"}', "", null), "a");
  });
});

describe("an end", { skip }, () => {
  test("by a kill is at once, and told", async (t) => {
    const { runtime, exec, result } = open(t, hang);
    const id = await exec();
    await runtime.next(id, 0);
    const { runs } = JSON.parse(await runtime.stats());
    assert.deepEqual([runs.length, runs[0].id, runs[0].state], [1, id, "running"]);
    if (isLinux) {
      assert.ok(isAlive(runs[0].pid));
      assert.ok(runs[0].memoryBytes > 1_000_000 && runs[0].cpuMs >= 0);
    }
    await Promise.all([runtime.kill(id), runtime.kill(id)]);
    assert.deepEqual(await result(id), {
      status: "cancelled",
      exitCode: 130,
      reason: "killed",
      stdout: "going\n",
      stderr: "Run was cancelled.\n",
    });
    await runtime.kill(id);
    await runtime.close();
    if (isLinux) assert.ok(!isAlive(runs[0].pid));
  });

  test("comes to all runs when the runtime closes", async (t) => {
    const { runtime, exec, result } = open(t, hang, { maxConcurrentExecutions: 1 });
    const id = await exec();
    const queued = exec();
    const ended = result(id);
    await runtime.close();
    const { status, exitCode, reason } = await ended;
    assert.deepEqual([status, exitCode, reason], ["cancelled", 130, "interrupted"]);
    assert.equal((await result(await queued)).reason, "interrupted");
    await rejects(exec(), "ECLOSED");
    await runtime.close();
  });

  test("waits for what the host does for the run, whose signal is aborted", async (t) => {
    let settle;
    const { upcalls, exec, runtime } = open(
      t,
      ({ begin, write, call, end, done }) => {
        begin();
        write(call(1, "host", "ws:m", ["f", Buffer.from("args")]));
        end(done("completed", "1"));
      },
      { modules: [{ specifier: "ws:m", exports: ["f"] }] },
      ({ kind, run, call }, _, runtime) => {
        if (kind === "cancel") settle = () => runtime.answer(run, call, true, new Uint8Array(1), null);
      },
    );
    const id = await exec();
    await until(() => settle);
    assert.equal(await runtime.lastSeq(id), 0);
    settle();
    await runtime.result(id, null);
    await until(() => upcalls.length === 3);
    assert.deepEqual(
      upcalls.map(({ kind }) => kind),
      ["host", "cancel", "end"],
    );
  });
});

describe("the queue", { skip }, () => {
  test("is in order and bounded, and its time does not count", async (t) => {
    const { runtime, exec, run, result } = open(t, hang, { maxConcurrentExecutions: 1, maxQueuedExecutions: 2 });
    const first = await exec({ id: "first" });
    const second = exec({ id: "second", timeoutMs: 300 });
    const third = exec({ id: "third" });
    await rejects(run(), "EEXEC_BUSY");
    const { live, queued, runs } = JSON.parse(await runtime.stats());
    assert.deepEqual([live, queued], [1, 2]);
    assert.deepEqual(
      runs.map(({ id, state }) => [id, state]),
      [
        ["first", "running"],
        ["second", "queued"],
        ["third", "queued"],
      ],
    );
    await new Promise((resolve) => setTimeout(resolve, 400));
    await runtime.kill(first);
    assert.equal(await second, "second");
    // It had its whole time for itself.
    assert.deepEqual([(await result("second")).stdout, (await result("second")).reason], ["going\n", "timeout"]);
    assert.equal(await third, "third");
  });

  test("lets go of a run that is killed in it", async (t) => {
    const { runtime, exec, result } = open(t, hang, { maxConcurrentExecutions: 1 });
    await exec({ id: "first" });
    const second = exec({ id: "second" });
    await until(async () => JSON.parse(await runtime.stats()).queued === 1);
    await runtime.kill("second");
    assert.equal(await second, "second");
    const { status, reason, stdout } = await result("second");
    assert.deepEqual([status, reason, stdout], ["cancelled", "killed", ""]);
    assert.equal(JSON.parse(await runtime.stats()).live, 1);
  });
});

describe("what the run asks of the host", { skip }, () => {
  /** Makes calls one after the other and returns each answer: whether it is one, and its bytes as text. */
  const asker = (calls, options, serve) => (t) =>
    open(
      t,
      `(isolate) => {
        isolate.begin();
        const answers = (${calls})(isolate).map((call) => {
          isolate.write(call);
          const { body } = isolate.read();
          return [body[12], body.subarray(13).toString("latin1")];
        });
        isolate.end(isolate.done("completed", JSON.stringify(answers)));
      }`,
      options,
      serve,
    );
  const module = { modules: [{ specifier: "ws:m", exports: ["f"] }] };
  const callF = ({ call }) => [call(1, "host", "ws:m", ["f", Buffer.from("args")])];

  test("functions get their arguments and a deadline, and are answered in bytes", async (t) => {
    for (const isOk of [true, false]) {
      const { run, upcalls } = asker(callF, module, ({ kind, run, call }, bytes, runtime) => {
        if (kind === "host") runtime.answer(run, call, isOk, Buffer.from(`<${utf8(bytes)}>`), null);
      })(t);
      const [[status, text]] = JSON.parse((await run()).value);
      assert.deepEqual([status, text.slice(5)], [isOk ? 1 : 0, "<args>"]);
      const [{ deadline, ...upcall }] = upcalls;
      assert.ok(Math.abs(deadline - Date.now() - 180_000) < 60_000);
      assert.deepEqual(upcall, { kind: "host", run: upcall.run, call: 1, module: "ws:m", function: "f" });
    }
  });

  test("one that takes too long rejects, and its signal is aborted", async (t) => {
    const { run, upcalls } = asker(callF, { ...module, maxHostCallMs: 50 }, ({ kind, run, call }, _, runtime) => {
      if (kind === "cancel") runtime.answer(run, call, true, new Uint8Array(1), null);
    })(t);
    const [[status, text]] = JSON.parse((await run()).value);
    assert.equal(status, 0);
    assert.match(text, /ETIMEDOUT.*maxHostCallMs/);
    assert.deepEqual(upcalls.map(({ kind }) => kind).slice(0, 2), ["host", "cancel"]);
  });

  test("steps of requests have arguments in JSON and bytes beside them", async (t) => {
    const { run, upcalls } = asker(
      ({ call }) => [
        call(1, "fetch", "request", [1, "GET", "http://a/", ["x", "y"], null]),
        call(2, "fetch", "write", [1, Buffer.from("body"), true]),
        call(3, "fetch", "read", [1]),
        call(4, "fetch", "read", [1]),
      ],
      { network: true },
      ({ kind, run, call }, bytes, runtime) => {
        if (kind !== "fetch") return;
        if (call === 1) runtime.answer(run, call, true, null, '[200,"OK",["a","b"]]');
        if (call === 2) runtime.answer(run, call, utf8(bytes) === "body", null, "null");
        if (call === 3) runtime.answer(run, call, true, Buffer.from("piece"), null);
        if (call === 4) runtime.answer(run, call, false, null, '["TypeError","ECONNRESET","gone"]');
      },
    )(t);
    const answers = JSON.parse((await run()).value);
    assert.deepEqual(
      answers.map(([status]) => status),
      [1, 1, 1, 0],
    );
    for (const [index, part] of ["OK", "", "piece", "ECONNRESET"].entries())
      assert.ok(answers[index][1].includes(part));
    const steps = upcalls.filter(({ kind }) => kind === "fetch").map(({ step, args }) => [step, args]);
    assert.deepEqual(steps, [
      ["request", [1, "GET", "http://a/", ["x", "y"], null]],
      ["write", [1, null, true]],
      ["read", [1]],
      ["read", [1]],
    ]);
  });

  test("modules come from files, and types are stripped by the host", async (t) => {
    const { workspace, run } = asker(
      ({ call }) => [
        call(1, "import", "resolve", ["./a.mjs", "/workspace/x.js", null]),
        call(2, "import", "resolve", ["./b.ts", "/workspace/x.js", null]),
        call(3, "import", "resolve", ["./c.json", "/workspace/x.js", "json"]),
        call(4, "import", "resolve", ["./none.js", "/workspace/x.js", null]),
      ],
      {},
      ({ kind, run, call, path }, bytes, runtime) => {
        if (kind === "strip") runtime.answer(run, call, true, null, JSON.stringify(`${path}: ${utf8(bytes)}`));
      },
    )(t);
    const files = workspace.files();
    for (const name of ["a.mjs", "b.ts", "c.json"]) {
      await files.writeFile(`/workspace/${name}`, `content of ${name}`, {}, undefined);
    }
    const answers = JSON.parse((await run()).value).map(([status, text]) => [status, text.replaceAll(/[^ -~]+/g, "|")]);
    assert.deepEqual(
      answers.map(([status]) => status),
      [1, 1, 1, 0],
    );
    assert.match(answers[0][1], /\/workspace\/a\.mjs.*module.*content of a\.mjs/);
    assert.match(answers[1][1], /\/workspace\/b\.ts.*module.*\/workspace\/b\.ts: content of b\.ts/);
    assert.match(answers[2][1], /\/workspace\/c\.json.*json.*content of c\.json/);
    assert.match(answers[3][1], /ERR_MODULE_NOT_FOUND/);
  });

  test("time comes when it was asked for", async (t) => {
    const { run } = open(t, ({ begin, write, wake, read, end, done }) => {
      begin();
      const started = Date.now();
      write(wake(1e9), wake(60));
      const { kind } = read();
      end(done("completed", JSON.stringify([kind, Date.now() - started >= 59])));
    });
    assert.equal((await run()).value, '["tick",true]');
  });
});

describe("long output", { skip }, () => {
  const long = ({ begin, write, output, end, done }) => {
    begin();
    for (let line = 1; line <= 30; line++) write(output(1, `line ${line}\n`));
    write(output(2, "short\n"));
    end(done("completed", "1"));
  };
  const read = async (workspace, path) => workspace.files().readText(path, "utf8");
  const whole = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("");
  const cut = { totalBytes: whole.length, totalLines: 30, firstLine: 29, partialLine: false };

  test("is shown from its end and kept in a file, also when nobody reads", async (t) => {
    const { workspace, runtime, exec, result } = open(t, long, { id: "b.c", output: { maxLines: 2 } });
    const id = await exec({ id: "x/y" });
    const exit = (await eventsOf(runtime, id)).at(-1);
    const path = "/.carrel/output/b%2Ec.x%2Fy.stdout.log";
    const truncated = { stdout: { status: "saved", path, ...cut } };
    assert.deepEqual(JSON.parse(exit.json).truncated, truncated);
    assert.deepEqual(await result(id), {
      status: "completed",
      exitCode: 0,
      value: "1",
      stdout: "line 29\nline 30\n",
      stderr: "short\n",
      truncated,
    });
    assert.equal(await read(workspace, path), whole);
    assert.equal((await result(id, "false")).stdout, whole);
    const less = (await result(id, '{"maxLines":1}')).truncated;
    assert.deepEqual(less.stderr, undefined);
    assert.deepEqual(less.stdout, { ...truncated.stdout, firstLine: 30 });
  });

  test("is all there when nothing is to be cut", async (t) => {
    const { run } = open(t, long, { output: { maxLines: 2 } });
    const result = await run({ output: false }, "false");
    assert.deepEqual([result.stdout, result.truncated], [whole, undefined]);
  });

  test("that nobody may write is not kept, and the run completes", async (t) => {
    const workspace = new binding.NativeWorkspace({
      storage: ":memory:",
      rules: [{ path: "/.carrel", access: "none" }],
    });
    const config = { isolatePath: program(long), warm: 0, output: { maxLines: 2 } };
    const runtime = workspace.runtime(JSON.stringify(config), () => {});
    t.after(async () => {
      await runtime.close();
      await workspace.close();
    });
    const { status, truncated } = JSON.parse(await runtime.result(await runtime.exec("{}", "", null), null));
    assert.deepEqual([status, truncated.stdout.status, truncated.stdout.firstLine], ["completed", "not-saved", 29]);
    assert.match(truncated.stdout.reason, /EACCES/);
  });

  test("of the last runs is kept, and nothing else is touched", async (t) => {
    const { workspace, run } = open(t, long, { output: { maxLines: 2, keep: 2 } });
    for (const id of ["a", "b"]) await run({ id });
    await workspace.files().writeFile("/.carrel/output/mine.txt", "x", {}, undefined);
    await run({ id: "c" });
    const entries = await workspace.files().readdir("/.carrel/output", {});
    const names = JSON.stringify(entries);
    const has = ["a", "b", "c"].map((id) => names.includes(`javascript.${id}.stdout.log`));
    assert.deepEqual([has, names.includes("mine.txt")], [[false, true, true], true]);
  });

  test("beyond maxStdioBytes is dropped and counted", async (t) => {
    const { run } = open(t, long, { maxStdioBytes: 10 });
    const { stdout, stderr, droppedBytes } = await run();
    assert.deepEqual([stdout, stderr], ["line 1\nlin...[stdio truncated]", ""]);
    assert.equal(droppedBytes, whole.length + "short\n".length - 10);
  });
});

describe("processes", { skip: skip || (!isLinux && "asks /proc") }, () => {
  test("are ready before they are needed, and replaced", async (t) => {
    const { runtime, run } = open(t, succeed, { warm: 2 });
    await runtime.prewarm();
    const warm = async () => JSON.parse(await runtime.stats()).warm;
    assert.equal(await warm(), 2);
    assert.equal((await run()).status, "completed");
    await until(async () => (await warm()) === 2);
  });

  test("that ended while they were ready are not used", async (t) => {
    const { runtime, run } = open(
      t,
      ({ write, ready, begin, end, done }) => {
        const { existsSync, writeFileSync } = require("node:fs");
        const mark = `${process.argv[1]}.mark`;
        if (existsSync(mark)) {
          begin();
          end(done("completed", "1"));
        }
        writeFileSync(mark, "");
        write(ready());
        process.exit(1);
      },
      { warm: 1 },
    );
    await runtime.prewarm();
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal((await run()).status, "completed");
  });

  test("and descriptors are not left over", async (t) => {
    const { runtime, run, exec } = open(t, succeed, { warm: 1 });
    await run();
    await until(async () => JSON.parse(await runtime.stats()).warm === 1);
    const count = () => readdirSync("/proc/self/fd").length;
    const before = count();
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 8 }, () => run()));
    await exec();
    await until(async () => JSON.parse(await runtime.stats()).live === 0);
    await until(() => count() <= before + 2);
  });

  /** Another process that has a run; the run's process. */
  async function agent(t, then) {
    const isolatePath = program(hang);
    const script = `
      import binding from ${JSON.stringify(fileURLToPath(new URL("../../index.js", import.meta.url)))};
      const workspace = new binding.NativeWorkspace({ storage: ":memory:" });
      const runtime = workspace.runtime(${JSON.stringify(JSON.stringify({ isolatePath, warm: 1 }))}, () => {});
      const id = await runtime.exec("{}", "", null);
      await runtime.next(id, 0);
      const { runs } = JSON.parse(await runtime.stats());
      console.log(runs[0].pid);
      ${then}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    const ended = new Promise((resolve) => child.on("exit", (status, signal) => resolve(signal ?? status)));
    const pid = await new Promise((resolve) => child.stdout.once("data", (data) => resolve(Number(data))));
    return { child, ended, pid };
  }

  test("end with the agent's, however that ends", async (t) => {
    const { child, ended, pid } = await agent(t, "await runtime.result(id, null);");
    assert.ok(isAlive(pid));
    child.kill("SIGKILL");
    assert.equal(await ended, "SIGKILL");
    await until(() => !isAlive(pid));
  });

  test("do not keep the agent's alive", async (t) => {
    const { ended, pid } = await agent(t, "");
    assert.equal(await ended, 0);
    await until(() => !isAlive(pid));
  });
});
