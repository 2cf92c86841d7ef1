queueMicrotask(() => {
  throw new Error("in microtask");
});
