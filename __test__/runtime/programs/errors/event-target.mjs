const target = new EventTarget();
target.addEventListener("x", () => {
  throw new Error("listener");
});
target.dispatchEvent(new Event("x"));
console.log("after dispatch");
