const inner = Object.assign(new RangeError("inner"), { detail: [1, { a: 2 }] });
throw Object.assign(new TypeError("outer", { cause: inner }), {
  code: "E_MINE",
  status: 404,
  nested: { deep: { deeper: { deepest: 1 } } },
});
