throw Object.defineProperty(new Error("with a getter"), "bad", {
  enumerable: true,
  get() {
    throw new Error("no");
  },
});
