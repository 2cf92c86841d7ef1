// Isolate processes that lie: the addon answers with a failed run, and nothing else happens.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import binding from "../../index.js";
import fake from "../support/fake-isolate.cjs";

const { NativeWorkspace } = binding;

const folder = mkdtempSync(join(tmpdir(), "carrel-lying-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const skip = process.platform === "win32" && "runs are not there on Windows yet";

/** Runtimes over one new workspace, one for each behaviour, closed when the test is over. */
function runtimes(t, options = {}) {
  const workspace = new NativeWorkspace({ storage: ":memory:" });
  const open = [];
  t.after(async () => {
    for (const runtime of open) await runtime.close();
    await workspace.close();
  });
  return (name, behaviour, upcall = () => {}) => {
    const isolatePath = fake.fakeIsolate(folder, name, behaviour);
    const config = { id: name, isolatePath, warm: 0, ...options };
    const runtime = workspace.runtime(JSON.stringify(config), upcall);
    open.push(runtime);
    return runtime;
  };
}

async function run(runtime, request = {}) {
  const id = await runtime.exec(JSON.stringify({ timeoutMs: 20_000, ...request }), "", null);
  return JSON.parse(await runtime.result(id, null));
}

/** The processes that this one has started and not yet waited for. */
function children() {
  const mine = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?=\S )/);
      if (Number(rest.split(" ")[1]) === process.pid) mine.push(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return mine;
}

const honest = ({ output, done, write, begin, end }) => {
  begin();
  write(output(1, "innocent\n"));
  end(done("completed", "[1]"));
};

/** Runs a liar between two honest runs, and checks that these know nothing of it. */
async function check(t, behaviour, wanted, request = {}, options = {}) {
  const open = runtimes(t, options);
  const [good, bad] = [open("honest", honest), open(t.name, behaviour)];
  const [first, result, second] = await Promise.all([run(good), run(bad, request), run(good)]);
  for (const { status, stdout, value } of [first, second]) {
    assert.deepEqual([status, stdout, value], ["completed", "innocent\n", "[1]"]);
  }
  const { status, exitCode, reason, value, stderr } = result;
  assert.deepEqual({ status, exitCode, reason, value }, { value: undefined, ...wanted.result });
  assert.match(stderr, wanted.stderr);
  await Promise.all([good.close(), bad.close()]);
  if (process.platform === "linux") assert.deepEqual(children(), []);
  return result;
}

const crashed = { status: "failed", exitCode: 1, reason: "crashed" };
const lie = (sentence) => ({ result: crashed, stderr: sentence });

describe("malformed frames", { skip }, () => {
  const cases = {
    "an empty frame": ({ u32, say }) => say(u32(0)),
    "a frame of no kind": ({ frame, u8, say }) => say(frame(u8(99))),
    "a frame that goes on": ({ frame, u8, say }) => say(frame(u8(7), Buffer.alloc(90))),
    "a frame that ends too early": ({ frame, u8, u32, say }) => say(frame(u8(5), u32(1).subarray(0, 2))),
    "a text that is longer than its frame": ({ frame, u8, u32, say }) =>
      say(frame(u8(6), u8(1), u32(0xffffffff), Buffer.from("x"))),
    "a text that is not UTF-8": ({ frame, u8, u32, say }) =>
      say(frame(u8(4), u32(1), u8(0), u8(0), u32(1), Buffer.from([0xff]), u32(0))),
    "a list that is longer than its frame": ({ frame, u8, u32, text, say }) =>
      say(frame(u8(4), u32(1), u8(0), u8(0), text("stat"), u32(1), u8(5), u32(0x7fffffff))),
    "lists that are too deep": ({ call, write, begin, hang }) => {
      let list = [];
      for (let depth = 0; depth < 1000; depth++) list = [list];
      begin();
      write(call(1, "file", "stat", [list]));
      hang();
    },
    "output to no stream": ({ output, say }) => say(output(3, "x")),
    "a time that does not come": ({ wake, say }) => say(wake(Number.NaN)),
  };
  for (const [name, behaviour] of Object.entries(cases)) {
    test(name, (t) => check(t, behaviour, lie(/sent what no isolate sends \(malformed frame: /)));
  }
});

describe("frames out of order", { skip }, () => {
  const cases = {
    "ready twice": [({ ready, say }) => say(ready()), /it is ready twice/],
    "loaded twice": [({ loaded, say }) => say(loaded()), /loaded its code twice/],
    "output before the code runs": [({ output, sayEarly }) => sayEarly(output(1, "x")), /prints before its code runs/],
    "a file call before the code runs": [
      ({ call, sayEarly }) => sayEarly(call(1, "file", "stat", ["/"])),
      /calls before its code runs/,
    ],
    "a result before the code runs": [({ done, sayEarly }) => sayEarly(done("completed", "1")), /done before it runs/],
    "a call with the number of another": [
      ({ call, write, begin, hang }) => {
        begin();
        write(call(1, "file", "stat", ["/workspace"]), call(1, "file", "stat", ["/workspace"]));
        hang();
      },
      /not numbered in order/,
    ],
    "a call with a number to come": [
      ({ call, say }) => say(call(2, "file", "stat", ["/workspace"])),
      /not numbered in order/,
    ],
    "a call without a number": [
      ({ call, say }) => say(call(0, "file", "stat", ["/workspace"])),
      /not numbered in order/,
    ],
    "the end of a call that was not made": [({ cancel, say }) => say(cancel(1)), /cancels a call that it did not make/],
  };
  for (const [name, [behaviour, sentence]] of Object.entries(cases)) {
    test(name, (t) => check(t, behaviour, lie(sentence)));
  }

  test("what comes after the end is not looked at", async (t) => {
    const runtime = runtimes(t)("after-the-end", ({ frame, u8, output, done, write, begin, hang }) => {
      begin();
      write(done("completed", "7"), done("failed", "x"), output(1, "late"), frame(u8(99)));
      hang();
    });
    const { status, value, stdout, stderr } = await run(runtime);
    assert.deepEqual([status, value, stdout, stderr], ["completed", "7", "", ""]);
  });
});

describe("frames that are too large", { skip }, () => {
  test("by what they announce", (t) => check(t, ({ u32, say }) => say(u32(0xffffffff)), lie(/longer than allowed/)));

  test("by what they bring", (t) =>
    check(
      t,
      ({ frame, u8, say }) => say(frame(u8(6), u8(1), Buffer.alloc(2 ** 21))),
      lie(/longer than allowed/),
      {},
      { maxCapabilityBytes: 2 ** 20, maxResultBytes: 2 ** 20 },
    ));

  test("a frame that never ends takes no memory for what it announces", async (t) => {
    const before = process.memoryUsage().rss;
    await check(
      t,
      ({ u32, say }) => say(u32(16 * 2 ** 20)),
      { result: { status: "failed", exitCode: 124, reason: "timeout" }, stderr: /timeoutMs \(500 ms\)/ },
      { timeoutMs: 500 },
    );
    assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
  });

  test("a result beyond its limit", (t) =>
    check(
      t,
      ({ done, endWith }) => endWith(done("completed", JSON.stringify("x".repeat(2000)))),
      {
        result: { status: "failed", exitCode: 1, reason: "limit" },
        stderr: /more than 1000 bytes as JSON, which maxResultBytes allows/,
      },
      {},
      { maxResultBytes: 1000 },
    ));

  test("a result that is not JSON", (t) =>
    check(t, ({ done, endWith }) => endWith(done("completed", "[1,}")), lie(/its result is not JSON/)));

  test("a result of lists in lists", async (t) => {
    const runtime = runtimes(t)("deep", ({ done, begin, end }) => {
      begin();
      end(done("completed", "[".repeat(200_000) + "]".repeat(200_000)));
    });
    const { status, value } = await run(runtime);
    assert.deepEqual([status, value.length], ["completed", 400_000]);
  });
});

describe("frames without an end", { skip }, () => {
  const timeout = {
    result: { status: "failed", exitCode: 124, reason: "timeout" },
    stderr: /Run was stopped: it took longer than timeoutMs \(1000 ms\)\.\n$/,
  };
  const cases = {
    output: ({ output, write, begin }) => {
      begin();
      for (;;) write(output(1, "x".repeat(1000)), output(2, "y"));
    },
    "empty output": ({ output, write, begin }) => {
      begin();
      for (;;) write(output(1, ""));
    },
    ticks: ({ wake, write, begin }) => {
      begin();
      for (;;) write(wake(0));
    },
    "ticks that are read": ({ wake, write, read, begin }) => {
      begin();
      for (;;) {
        write(wake(0));
        read();
      }
    },
    "file calls that are answered": ({ call, write, read, begin }) => {
      begin();
      for (let id = 1; ; id++) {
        write(call(id, "file", "stat", ["/workspace"]));
        read();
      }
    },
  };
  for (const [name, behaviour] of Object.entries(cases)) {
    test(name, async (t) => {
      const before = process.memoryUsage().rss;
      const { stdout, droppedBytes } = await check(t, behaviour, timeout, { timeoutMs: 1000 });
      if (name === "output") {
        assert.ok(stdout.length <= 65_536, "the result has its limits");
        assert.ok(droppedBytes > 0, "what was dropped is counted");
      }
      assert.ok(process.memoryUsage().rss - before < 200 * 2 ** 20, "memory is bounded");
    });
  }

  test("calls whose answers nobody reads", (t) =>
    check(
      t,
      ({ call, write, begin }) => {
        begin();
        for (let id = 1; ; id++) write(call(id, "file", "readdir", ["/"]));
      },
      lie(/more calls at one time than it may/),
    ));

  test("cancelled calls", (t) =>
    check(
      t,
      ({ call, cancel, write, begin }) => {
        begin();
        write(call(1, "file", "stat", ["/workspace"]));
        for (;;) write(cancel(1));
      },
      lie(/cancels a call that it did not make/),
    ));

  test("more calls than allowed", async (t) => {
    const runtime = runtimes(t, { maxCapabilityCalls: 2 })("counted", ({ call, done, write, read, begin, end }) => {
      begin();
      const answers = [1, 2, 3].map((id) => {
        write(call(id, "file", "stat", ["/workspace"]));
        const { body } = read();
        return [body[12], body.includes("ELIMIT") && body.includes("maxCapabilityCalls")];
      });
      end(done("completed", JSON.stringify(answers)));
    });
    const { value } = await run(runtime);
    assert.deepEqual(JSON.parse(value), [
      [1, false],
      [1, false],
      [0, true],
    ]);
  });
});

describe("what an isolate was not given", { skip }, () => {
  test("functions of the host", (t) =>
    check(
      t,
      ({ call, say }) => say(call(1, "host", "ws:other", ["f", Buffer.alloc(1)])),
      lie(/a function of the host that it was not given/),
    ));

  test("a function that a module does not have", (t) =>
    check(
      t,
      ({ call, say }) => say(call(1, "host", "ws:m", ["__proto__", Buffer.alloc(1)])),
      lie(/a function of the host that it was not given/),
      {},
      { modules: [{ specifier: "ws:m", exports: ["f"] }] },
    ));

  test("the network", (t) =>
    check(
      t,
      ({ call, say }) => say(call(1, "fetch", "request", [1, "GET", "http://a/"])),
      lie(/a network that it was not given/),
    ));

  test("files outside of the root", async (t) => {
    const runtime = runtimes(t)("outside", ({ call, write, begin, read, end, done }) => {
      begin();
      const paths = ["/", "/.carrel", "/workspace/..", "../nowhere", "/workspace/../nowhere"];
      const answers = paths.map((path, index) => {
        write(call(index + 1, "file", "readdir", [path]));
        const { body } = read();
        return body[12] === 0 && body.includes("EACCES");
      });
      end(done("completed", JSON.stringify(answers)));
    });
    assert.equal((await run(runtime)).value, "[true,true,true,true,true]");
  });
});

describe("processes that end", { skip }, () => {
  const cases = {
    "without a word": [({ exit }) => exit(0), crashed, /ended unexpectedly \(exit code 0\)/],
    "within a frame": [
      ({ u32, endWith }) => endWith(u32(100), Buffer.from("x")),
      crashed,
      /ended unexpectedly \(exit code 0\)/,
    ],
    "before the code is loaded": [
      ({ ready, write, read }) => {
        write(ready());
        read();
        process.exit(3);
      },
      { status: "failed", exitCode: 1, reason: "not-started" },
      /ended unexpectedly \(exit code 3\)/,
    ],
    "by a signal": [({ signal }) => signal("SIGSEGV"), crashed, /\(signal 11\)/],
    "by being killed": [({ signal }) => signal("SIGKILL"), crashed, /\(signal 9\)/],
    "by their timer of CPU time": [
      ({ signal }) => signal("SIGPROF"),
      { status: "failed", exitCode: 124, reason: "cpu" },
      /maxCpuMs/,
    ],
    "for want of memory": [
      ({ exit }) => exit(137),
      { status: "failed", exitCode: 137, reason: "memory" },
      /maxMemoryBytes/,
    ],
    "only in their output": [({ closeOutput }) => closeOutput(), crashed, /ended unexpectedly/],
  };
  for (const [name, [behaviour, result, stderr]] of Object.entries(cases)) {
    test(name, (t) => check(t, behaviour, { result, stderr }));
  }

  test("not, because they are stopped", (t) =>
    check(
      t,
      ({ signal }) => signal("SIGSTOP"),
      { result: { status: "failed", exitCode: 124, reason: "timeout" }, stderr: /timeoutMs/ },
      { timeoutMs: 500 },
    ));

  test("not, although their input does", async (t) => {
    const runtime = runtimes(t)("deaf", ({ done, write, begin, sleep }) => {
      begin();
      write(done("completed", "1"));
      sleep();
    });
    assert.equal((await run(runtime)).status, "completed");
    await runtime.close();
    if (process.platform === "linux") assert.deepEqual(children(), []);
  });
});

describe("programs that are no isolates", { skip }, () => {
  const cases = {
    "another version": [
      ({ ready, hang, write }) => {
        write(ready(77));
        hang();
      },
      /is of version 77/,
    ],
    "another program": [
      ({ write, hang }) => {
        write(Buffer.from("hello, world\n"));
        hang();
      },
      /is another program/,
    ],
    "one that ends": [() => process.exit(5), /ended before it was ready \(exit code 5\)/],
  };
  for (const [name, [behaviour, sentence]] of Object.entries(cases)) {
    test(name, async (t) => {
      const runtime = runtimes(t)(name, behaviour);
      await assert.rejects(run(runtime, { id: "a" }), (error) => {
        const { code, message } = JSON.parse(error.message);
        assert.equal(code, "ENOEXEC");
        assert.match(message, sentence);
        return true;
      });
      assert.equal(await runtime.has("a"), false);
    });
  }

  test("none at all", async (t) => {
    const workspace = new NativeWorkspace({ storage: ":memory:" });
    t.after(() => workspace.close());
    for (const isolatePath of [undefined, join(folder, "nowhere"), folder]) {
      const runtime = workspace.runtime(JSON.stringify({ isolatePath }), () => {});
      await assert.rejects(run(runtime), (error) => JSON.parse(error.message).code === "ENOEXEC");
    }
  });
});

test("code that cannot be loaded leaves nothing behind", { skip }, async (t) => {
  const runtime = runtimes(t)("not-loaded", ({ ready, notLoaded, write, read, end }) => {
    write(ready());
    read();
    end(notLoaded("SyntaxError", "Unexpected token", "ERR_X", "/workspace/a.js"));
  });
  await assert.rejects(run(runtime, { id: "a" }), (error) => {
    const { name, message, code, path } = JSON.parse(error.message);
    assert.deepEqual([name, message, code, path], ["SyntaxError", "Unexpected token", "ERR_X", "/workspace/a.js"]);
    return true;
  });
  assert.equal(await runtime.has("a"), false);
});
