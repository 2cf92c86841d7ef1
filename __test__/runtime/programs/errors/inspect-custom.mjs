throw Object.assign(new Error("shown otherwise"), {
  [Symbol.for("nodejs.util.inspect.custom")]: () => "shown by itself",
});
