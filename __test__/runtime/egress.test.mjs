// The network of runs, step by step as the code of a run asks for it: against servers of this process.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { addressBytes, isIn, isPublic, parseNetwork } from "../../dist/runtime/addresses.js";
import { AllowList } from "../../dist/runtime/allow-list.js";
import { Exchanges, egressOf, stepError } from "../../dist/runtime/egress.js";

/** A server that `answer`s, and where it is. */
async function serve(t, answer) {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: server.address().port, url: `http://127.0.0.1:${server.address().port}` };
}

/** The network of some options. */
function network(t, options, globalOutbound) {
  const exchanges = new Exchanges(egressOf(options, globalOutbound)());
  t.after(() => exchanges.close());
  return exchanges;
}

const local = (port, more) => ({ mode: "direct", allow: [`127.0.0.1:${port}`], allowPrivate: true, ...more });

let tokens = 0;

/** What the code of a run would see of one request: the head, and the body read to its end. */
async function fetchIn(exchanges, url, { method = "GET", headers = [], body, run = "run" } = {}) {
  const token = String(++tokens);
  const head = exchanges.step(run, "request", [token, method, url, headers, body !== undefined], null);
  head.catch(() => {});
  for (const [at, piece] of (body ?? []).entries()) {
    await exchanges.step(run, "write", [token, at === body.length - 1], Buffer.from(piece));
  }
  const [status, statusText, fields] = JSON.parse((await head).json);
  const pieces = [];
  for (;;) {
    const { bytes } = await exchanges.step(run, "read", [token], null);
    if (!bytes) break;
    pieces.push(bytes);
  }
  return { status, statusText, headers: fields, body: Buffer.concat(pieces).toString() };
}

const code = (code) => (error) => {
  assert.equal(error.code, code, error.stack);
  return true;
};

// Addresses ---------------------------------------------------------------------------------------

const PUBLIC = [
  "1.1.1.1",
  "93.184.216.34",
  "172.32.0.1",
  "100.128.0.1",
  "2606:4700::1111",
  "64:ff9b::1.1.1.1",
  "::ffff:8.8.8.8",
];
const NOT_PUBLIC = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1",
  "::ffff:127.0.0.1",
  "::ffff:a00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
];

for (const [addresses, want] of [
  [PUBLIC, true],
  [NOT_PUBLIC, false],
]) {
  for (const address of addresses) {
    test(`${address} is ${want ? "" : "not "}public`, () => assert.equal(isPublic(addressBytes(address)), want));
  }
}

test("networks contain what they should, to the bit", () => {
  const contains = (network, address) => isIn(addressBytes(address), parseNetwork(network));
  assert.deepEqual(
    [
      contains("10.0.0.0/9", "10.127.255.255"),
      contains("10.0.0.0/9", "10.128.0.0"),
      contains("10.0.0.0/8", "::ffff:10.1.1.1"),
      contains("fd00::/8", "fdff::1"),
      contains("fd00::/8", "fe00::1"),
      contains("1.2.3.4", "1.2.3.4"),
      contains("0.0.0.0/0", "::1"),
    ],
    [true, false, true, true, false, true, false],
  );
  for (const text of ["10.0.0.0/33", "10.0.0/8", "::/129", "x/8", "10.0.0.0/8/8", ""]) {
    assert.equal(parseNetwork(text), undefined, text);
  }
});

// The list ----------------------------------------------------------------------------------------

/** Judged with `allowPrivate` off and on. */
function verdicts(allow, host, port = 443) {
  return [false, true].map((allowPrivate) => new AllowList(allow, allowPrivate).judge(host, port).isAllowed).join(" ");
}

for (const [allow, host, port, want] of [
  [["example.com"], "example.com", 443, "true true"],
  [["example.com"], "EXAMPLE.com.", 80, "true true"],
  [["example.com"], "example.com", 8080, "false false"],
  [["example.com:8080"], "example.com", 8080, "true true"],
  [["example.com:8080"], "example.com", 443, "false false"],
  [["example.com:*"], "example.com", 1, "true true"],
  [["example.com"], "a.example.com", 443, "false false"],
  [["example.com"], "badexample.com", 443, "false false"],
  [["*.example.com"], "a.b.example.com", 443, "true true"],
  [["*.example.com"], "example.com", 443, "false false"],
  [["*.example.com"], "badexample.com", 443, "false false"],
  [["bücher.example"], "xn--bcher-kva.example", 443, "true true"],
  [["*"], "example.com", 443, "true true"],
  [["*"], "1.1.1.1", 443, "true true"],
  [["*"], "127.0.0.1", 443, "false false"],
  [["*"], "::1", 443, "false false"],
  [["127.0.0.1"], "127.0.0.1", 80, "false true"],
  [["10.0.0.0/8"], "10.9.9.9", 443, "false true"],
  [["10.0.0.0/8"], "::ffff:a09:909", 443, "false true"],
  [["10.0.0.0/8"], "intern.example", 443, "false false"],
  [["10.0.0.0/8:8080"], "10.9.9.9", 8080, "false true"],
  [["[::1]:8080"], "::1", 8080, "false true"],
  [["::1"], "::1", 443, "false true"],
  [[], "example.com", 443, "false false"],
]) {
  test(`${JSON.stringify(allow)}: ${host} at ${port}, without and with allowPrivate: ${want}`, () => {
    assert.equal(verdicts(allow, host, port), want);
  });
}

for (const entry of [
  "",
  "http://example.com",
  "example.com/path",
  "user@host",
  "a b",
  "host:0",
  "host:99999",
  "*.*",
  "*x.com",
  7,
  null,
]) {
  test(`${JSON.stringify(entry)} is refused as an entry`, () => {
    assert.throws(() => new AllowList([entry], false), code("EINVAL"));
  });
}

for (const [options, outbound, want] of [
  [{ mode: "every" }, undefined, "EINVAL"],
  [{ mode: "none", allow: [] }, undefined, "EINVAL"],
  [{ mode: "direct" }, undefined, "ERR_INVALID_ARG_TYPE"],
  [{ mode: "direct", allow: ["a"], allowPrivat: true }, undefined, "EINVAL"],
  [{ mode: "direct", allow: ["a"], maxBytes: 0 }, undefined, "EINVAL"],
  [{ mode: "direct", allow: ["a"], maxBytes: Number.NaN }, undefined, "EINVAL"],
  [{ mode: "direct", allow: ["a"], timeoutMs: "1" }, undefined, "ERR_INVALID_ARG_TYPE"],
  [{ mode: "gateway" }, undefined, "ERR_INVALID_ARG_TYPE"],
  [{ mode: "http-gateway", gateway: {} }, undefined, "ERR_INVALID_ARG_TYPE"],
  [undefined, 7, "ERR_INVALID_ARG_TYPE"],
  [{ mode: "none" }, () => {}, "EINVAL"],
]) {
  test(`options ${JSON.stringify({ egress: options, globalOutbound: outbound && String(outbound) })} are refused`, () => {
    assert.throws(() => egressOf(options, outbound), code(want));
  });
}

test("no network is no network", () => {
  assert.equal(egressOf(undefined, undefined), undefined);
  assert.equal(egressOf(undefined, null), undefined);
  assert.equal(egressOf({ mode: "none" }, undefined), undefined);
});

// Direct ------------------------------------------------------------------------------------------

test("a request goes out with its method, headers and body, and the response comes back", async (t) => {
  const { port, url } = await serve(t, async (request, response) => {
    const body = (await request.toArray()).join("");
    response.writeHead(201, "Made", [
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
    ]);
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        host: request.headers.host,
        x: request.headers["x-two"],
        body,
      }),
    );
  });
  const answer = await fetchIn(network(t, local(port)), `${url}/a%20b?c#d`, {
    method: "PUT",
    headers: ["X-Two", "1", "X-Two", "2", "Host", "elsewhere", "Transfer-Encoding", "gzip", "Connection", "upgrade"],
    body: ["one ", "two"],
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.statusText, "Made");
  assert.deepEqual(
    answer.headers.filter((_, at) => answer.headers[at - 1] === "Set-Cookie"),
    ["a=1", "b=2"],
  );
  assert.deepEqual(JSON.parse(answer.body), {
    method: "PUT",
    url: "/a%20b?c",
    host: `127.0.0.1:${port}`,
    x: "1, 2",
    body: "one two",
  });
});

test("redirects are not followed, so that each hop is asked for and checked", async (t) => {
  const { port, url } = await serve(t, (_, response) =>
    response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
  );
  const exchanges = network(t, local(port));
  const { status, headers } = await fetchIn(exchanges, url);
  assert.equal(status, 302);
  assert.equal(headers[headers.indexOf("location") + 1], "http://10.0.0.1/");
  await assert.rejects(fetchIn(exchanges, "http://10.0.0.1/"), code("EACCES"));
});

for (const [what, allow, target] of [
  ["another port", ["127.0.0.1:1"], (port) => `http://127.0.0.1:${port}`],
  ["a name that leads to this machine", ["localhost:*"], (port) => `http://localhost:${port}`],
  ["a decimal address", ["*:*"], (port) => `http://2130706433:${port}`],
  ["an octal address", ["*:*"], (port) => `http://0177.0.0.1:${port}`],
  ["a mapped address", ["*:*"], (port) => `http://[::ffff:127.0.0.1]:${port}`],
  ["the address of everything", ["*:*"], (port) => `http://0.0.0.0:${port}`],
]) {
  test(`${what} is refused before anything is sent`, async (t) => {
    let requests = 0;
    const { server, port } = await serve(t, (_, response) => response.end());
    server.on("connection", () => {
      requests += 1;
    });
    await assert.rejects(fetchIn(network(t, { mode: "direct", allow }), target(port)), code("EACCES"));
    assert.equal(requests, 0);
  });
}

test("a name that leads to this machine is reached with an entry for it and allowPrivate", async (t) => {
  const { port } = await serve(t, (_, response) => response.end("here"));
  const exchanges = network(t, { mode: "direct", allow: [`localhost:${port}`], allowPrivate: true });
  assert.equal((await fetchIn(exchanges, `http://localhost:${port}/`)).body, "here");
});

for (const url of ["file:///etc/passwd", "ftp://127.0.0.1/", "data:,x", "nonsense"]) {
  test(`${url} is refused`, async (t) => {
    await assert.rejects(fetchIn(network(t, { mode: "direct", allow: ["*"] }), url));
  });
}

for (const method of ["CONNECT", "TRACE", "track", "GET /x HTTP/1.1\r\nA: b\r\n\r\nGET", ""]) {
  test(`the method ${JSON.stringify(method)} is refused`, async (t) => {
    const { port, url } = await serve(t, (_, response) => response.end());
    await assert.rejects(fetchIn(network(t, local(port)), url, { method }), code("EINVAL"));
  });
}

test("a body of another length than announced does not become a second request", async (t) => {
  const seen = [];
  const { port, url } = await serve(t, (request, response) => {
    seen.push(request.url);
    response.end();
  });
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  const exchanges = network(t, local(port));
  await assert.rejects(
    fetchIn(exchanges, `${url}/first`, { method: "POST", headers: ["Content-Length", "2"], body: [`ab${smuggled}`] }),
  );
  await fetchIn(exchanges, `${url}/second`);
  assert.ok(!seen.includes("/smuggled"), seen.join());
});

test("the cap holds while a body is read, and ends the connection", async (t) => {
  const closed = deferred();
  const { port, url } = await serve(t, (_, response) => {
    response.on("close", closed.resolve);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    };
    response.on("drain", more);
    more();
  });
  await assert.rejects(fetchIn(network(t, local(port, { maxBytes: 100_000 })), url), code("ELIMIT"));
  await closed.promise;
});

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

test("the cap holds for the body of a request", async (t) => {
  const { port, url } = await serve(t, (request) => request.resume());
  const exchanges = network(t, local(port, { maxBytes: 10 }));
  await assert.rejects(fetchIn(exchanges, url, { method: "POST", body: ["12345678", "9ab"] }), code("ELIMIT"));
});

test("a reader that does not read makes a sender that does not send", async (t) => {
  let sent = 0;
  const stopped = deferred();
  const { port, url } = await serve(t, (_, response) => {
    const more = () => {
      while (sent < 64 * 1024 * 1024) {
        sent += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return stopped.resolve();
      }
    };
    response.on("drain", more);
    more();
  });
  const exchanges = network(t, local(port));
  await exchanges.step("run", "request", ["slow", "GET", url, [], false], null);
  await stopped.promise;
  for (let piece = 0; piece < 3; piece += 1) await exchanges.step("run", "read", ["slow"], null);
  assert.ok(sent < 48 * 1024 * 1024, `${sent} bytes were sent`);
});

test("silence ends a request, and so does the server's end", async (t) => {
  const { port, url } = await serve(t, (request) => {
    if (request.url === "/reset") request.socket.destroy();
  });
  const exchanges = network(t, local(port, { timeoutMs: 50 }));
  await assert.rejects(fetchIn(exchanges, url), code("ETIMEDOUT"));
  await assert.rejects(fetchIn(exchanges, `${url}/reset`), code("ECONNRESET"));
  await assert.rejects(
    fetchIn(network(t, { mode: "direct", allow: ["127.0.0.1:1"], allowPrivate: true }), "http://127.0.0.1:1/"),
    code("ECONNREFUSED"),
  );
});

for (const [what, end] of [
  ["the step", (exchanges) => exchanges.step("run", "cancel", ["t"], null)],
  ["the end of the run", (exchanges) => exchanges.end("run")],
]) {
  test(`${what} ends the connection, and what waits for it`, async (t) => {
    const closed = deferred();
    const { port, url } = await serve(t, (request, response) => {
      request.socket.on("close", closed.resolve);
      response.write("first");
    });
    const exchanges = network(t, local(port));
    await exchanges.step("run", "request", ["t", "GET", url, [], false], null);
    await exchanges.step("run", "read", ["t"], null);
    const read = assert.rejects(exchanges.step("run", "read", ["t"], null));
    await end(exchanges);
    await Promise.all([read, closed.promise]);
  });
}

test("runs do not see each other's requests", async (t) => {
  const { port, url } = await serve(t, (_, response) => response.end("mine"));
  const exchanges = network(t, local(port));
  await exchanges.step("one", "request", ["1", "GET", url, [], false], null);
  assert.deepEqual(await exchanges.step("two", "read", ["1"], null), { json: "null" });
  await assert.rejects(exchanges.step("two", "write", ["1", true], null), code("EPROTO"));
  assert.equal(Buffer.from((await exchanges.step("one", "read", ["1"], null)).bytes).toString(), "mine");
});

test("a run has a bound of requests at once", async (t) => {
  const { port, url } = await serve(t, () => {});
  const exchanges = network(t, local(port));
  const waiting = [];
  for (let token = 0; token < 256; token += 1) {
    waiting.push(exchanges.step("run", "request", [`many ${token}`, "GET", url, [], false], null).catch(() => {}));
  }
  await assert.rejects(exchanges.step("run", "request", ["one more", "GET", url, [], false], null), code("ELIMIT"));
  exchanges.end("run");
  await Promise.all(waiting);
});

// Gateway -----------------------------------------------------------------------------------------

for (const [what, options, outbound] of [
  ["egress", (gateway) => ({ mode: "gateway", fetch: gateway }), () => undefined],
  ["egress, as others write it", (gateway) => ({ mode: "http-gateway", gateway: { fetch: gateway } }), () => undefined],
  ["globalOutbound as a function", () => undefined, (gateway) => gateway],
  ["globalOutbound as an object", () => undefined, (gateway) => ({ fetch: gateway })],
]) {
  test(`${what} is handed a Request, and its Response comes back`, async (t) => {
    const gateway = async (request) => {
      assert.ok(request instanceof Request);
      assert.equal(request.redirect, "manual");
      const body = await request.text();
      return new Response(`${request.method} ${request.url} ${request.headers.get("x")} ${body}`, {
        status: 203,
        headers: { "content-encoding": "gzip", "x-y": "z" },
      });
    };
    const exchanges = network(t, options(gateway), outbound(gateway));
    const answer = await fetchIn(exchanges, "https://any.example/a", {
      method: "POST",
      headers: ["x", "y"],
      body: ["b", "c"],
    });
    assert.equal(answer.status, 203);
    assert.equal(answer.body, "POST https://any.example/a y bc");
    assert.deepEqual(answer.headers, ["content-type", "text/plain;charset=UTF-8", "x-y", "z"]);
  });
}

for (const [what, gateway, message] of [
  [
    "throws",
    () => {
      throw new Error("not today");
    },
    "not today",
  ],
  ["rejects", async () => Promise.reject(Object.assign(new Error("later"), { code: "EBUSY" })), "later"],
  ["throws nothing", () => Promise.reject(undefined), "undefined"],
  ["returns something else", () => ({ ok: true }), "the gateway returned no Response"],
  ["returns an error", () => Response.error(), "the gateway returned no Response"],
]) {
  test(`a gateway that ${what} is a TypeError with its message`, async (t) => {
    const error = await fetchIn(network(t, { mode: "gateway", fetch: gateway }), "https://a.example/").catch((e) => e);
    const [name, , text] = JSON.parse(stepError(error));
    assert.deepEqual([name, text], ["TypeError", message]);
  });
}

test("a gateway streams both ways", async (t) => {
  const gateway = (request) => new Response(request.body.pipeThrough(new TransformStream()));
  const exchanges = network(t, { mode: "gateway", fetch: gateway });
  await Promise.all([
    exchanges.step("run", "request", ["echo", "POST", "https://a.example/", [], true], null),
    exchanges.step("run", "write", ["echo", false], Buffer.from("one")),
  ]);
  assert.equal(Buffer.from((await exchanges.step("run", "read", ["echo"], null)).bytes).toString(), "one");
  await exchanges.step("run", "write", ["echo", false], Buffer.from("two"));
  assert.equal(Buffer.from((await exchanges.step("run", "read", ["echo"], null)).bytes).toString(), "two");
  await exchanges.step("run", "write", ["echo", true], null);
  assert.deepEqual(await exchanges.step("run", "read", ["echo"], null), { json: "null" });
});

test("a gateway that never settles ends with the request, whose signal fires", async (t) => {
  const aborted = deferred();
  const gateway = (request) => {
    request.signal.addEventListener("abort", aborted.resolve);
    return new Promise(() => {});
  };
  const exchanges = network(t, { mode: "gateway", fetch: gateway });
  const head = assert.rejects(exchanges.step("run", "request", ["t", "GET", "https://a.example/", [], false], null));
  await new Promise(setImmediate);
  exchanges.end("run");
  await Promise.all([head, aborted.promise]);
});

test("the cap holds for a gateway's body", async (t) => {
  const exchanges = network(t, { mode: "gateway", fetch: () => new Response("x".repeat(1000)), maxBytes: 999 });
  await assert.rejects(fetchIn(exchanges, "https://a.example/"), code("ELIMIT"));
});
