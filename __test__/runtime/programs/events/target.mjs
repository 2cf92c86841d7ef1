import util from "node:util";

const target = new EventTarget();
const log = (name) => (event) =>
  console.log(
    name,
    event.type,
    event.target === target,
    event.eventPhase,
    event.defaultPrevented,
    event.cancelable,
    event.bubbles,
    event.composed,
    event.isTrusted,
    event.detail,
  );
target.addEventListener("a", log("a"));
target.addEventListener("a", log("once"), { once: true });
target.addEventListener("a", { handleEvent: log("object") });
target.addEventListener("b", (event) => event.preventDefault());
target.addEventListener("b", (event) => event.preventDefault(), { passive: true });
console.log(
  target.dispatchEvent(new Event("a")),
  target.dispatchEvent(new CustomEvent("a", { detail: { x: 1 } })),
  target.dispatchEvent(new Event("b", { cancelable: true })),
);
const controller = new AbortController();
target.addEventListener("c", log("c"), { signal: controller.signal });
controller.abort();
target.dispatchEvent(new Event("c"));
const event = new Event("shown", { bubbles: true });
console.log(
  util.inspect(event).replace(/timeStamp: [\d.]+/, "timeStamp"),
  target,
  event.composedPath(),
  event.srcElement,
  event.returnValue,
  event.cancelBubble,
);
target.addEventListener("stop", (event) => {
  console.log("first");
  event.stopImmediatePropagation();
});
target.addEventListener("stop", () => console.log("not shown"));
target.dispatchEvent(new Event("stop"));
for (const call of [
  () => new Event(),
  () => target.dispatchEvent({}),
  () => target.addEventListener("x", 5),
  () => target.addEventListener("x"),
  () => EventTarget.prototype.addEventListener.call({}, "x", () => {}),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
target.addEventListener("null", null);
const same = new Event("again");
target.addEventListener("again", () => {
  try {
    target.dispatchEvent(same);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
});
target.dispatchEvent(same);
