import assert from "node:assert";

assert.deepStrictEqual({ a: [1, 2, 3] }, { a: [1, 2, 4] });
