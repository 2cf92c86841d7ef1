const controller = new AbortController();
const { signal } = controller;
signal.addEventListener("abort", (event) => console.log("event", event.type, event.target === signal));
signal.onabort = () => console.log("onabort");
console.log(signal, signal.aborted, signal.reason, controller);
controller.abort();
controller.abort("twice");
console.log(
  signal.aborted,
  signal.reason.name,
  signal.reason.message,
  signal.reason.code,
  AbortSignal.abort("r").reason,
  AbortSignal.abort(null).reason,
);
try {
  signal.throwIfAborted();
} catch (error) {
  console.log(error.name, error instanceof DOMException, error instanceof Error, String(error));
}
const any = AbortSignal.any([new AbortController().signal, AbortSignal.abort("one of them")]);
console.log(any.aborted, any.reason);
const first = new AbortController();
const combined = AbortSignal.any([first.signal, new AbortController().signal]);
combined.addEventListener("abort", () => console.log("combined", combined.reason));
first.abort("later");
const waiting = setTimeout(() => {}, 1000);
await new Promise((resolve) =>
  AbortSignal.timeout(5).addEventListener("abort", ({ target }) =>
    resolve(console.log(target.reason.name, target.reason.message, target.reason.code)),
  ),
);
clearTimeout(waiting);
for (const call of [
  () => new AbortSignal(),
  () => AbortSignal.timeout(-1),
  () => AbortSignal.any("x"),
  () => AbortSignal.timeout(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
