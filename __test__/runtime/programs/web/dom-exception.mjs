const error = new DOMException("m", "NotFoundError");
console.log(
  error.name,
  error.message,
  error.code,
  DOMException.NOT_FOUND_ERR,
  error.NOT_FOUND_ERR,
  error instanceof Error,
  Object.prototype.toString.call(error),
  String(error),
  new DOMException().name,
  new DOMException("x", { name: "N", cause: 5 }).cause,
);
console.log(
  structuredClone(error).name,
  structuredClone(new RangeError("r", { cause: 1 })),
  Object.getOwnPropertyNames(DOMException).length,
  new DOMException("q", "QuotaExceededError").code,
);
