const request = new Request("http://h/p?q#f", {
  method: "post",
  headers: { a: "b" },
  body: "text",
  redirect: "manual",
  signal: AbortSignal.timeout(1e6),
});
console.log(
  request.method,
  request.url,
  request.headers.get("content-type"),
  request.redirect,
  request.mode,
  request.credentials,
  request.cache,
  request.bodyUsed,
  await request.clone().text(),
  await request.json().catch((error) => error.name),
  request.bodyUsed,
);
const response = new Response("body ü", { status: 201, statusText: "Made", headers: { x: "y" } });
console.log(
  response,
  response.ok,
  response.type,
  response.url,
  response.redirected,
  await response.clone().bytes(),
  await response.text(),
  await response.text().catch((error) => [error.name, error.message]),
);
console.log(
  await Response.json({ a: [1] }).text(),
  Response.json(1).headers.get("content-type"),
  Response.redirect("http://x/", 301).headers.get("location"),
  Response.error().type,
  new Response().body,
  new Response(null, { status: 204 }).status,
);
for (const body of [
  new Uint8Array([1]),
  new URLSearchParams("a=b"),
  new Blob(["x"], { type: "q/r" }),
  new ReadableStream({ start: (c) => (c.enqueue(new Uint8Array([65])), c.close()) }),
  5,
  { a: 1 },
]) {
  const made = new Response(body);
  console.log(made.headers.get("content-type"), await made.text());
}
for (const call of [
  () => new Request("/relative"),
  () => new Request("http://a:b@c/"),
  () => new Request("http://x", { method: "GET", body: "x" }),
  () => new Request("http://x", { method: "CONNECT" }),
  () => new Response("", { status: 99 }),
  () => new Response("x", { status: 204 }),
  () => Response.redirect("x", 200),
  () => new Request(),
  () => new Request("http://x", { method: "POST", body: new ReadableStream() }),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
