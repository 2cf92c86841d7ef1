setImmediate(function named() {
  throw new Error("in immediate");
});
