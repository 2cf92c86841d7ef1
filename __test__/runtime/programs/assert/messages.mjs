import assert from "node:assert";

class Point {
  constructor(x) {
    this.x = x;
  }
}
for (const call of [
  () => assert(0),
  () => assert(false, "said"),
  () => assert.ok(null),
  () => assert.equal(1, 2),
  () => assert.strictEqual("a", "b"),
  () => assert.strictEqual("a\nb\nc", "a\nx\nc"),
  () => assert.strictEqual({ a: 1 }, { a: 1 }),
  () => assert.strictEqual(NaN, 0),
  () => assert.notStrictEqual(1, 1),
  () => assert.deepStrictEqual({ a: 1, b: [1, 2, { c: 3 }] }, { a: 1, b: [1, 2, { c: 4 }] }),
  () => assert.deepStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]),
  () => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])),
  () => assert.deepStrictEqual(new Set([1]), new Set([2])),
  () => assert.deepStrictEqual(new Point(1), { x: 1 }),
  () => assert.deepStrictEqual([1, "1"], [1, 1]),
  () => assert.deepStrictEqual(new Date(0), new Date(1)),
  () => assert.deepStrictEqual(/a/g, /a/i),
  () => assert.deepEqual({ a: 1 }, { a: 2 }),
  () => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }),
  () => assert.match("abc", /x/),
  () => assert.doesNotMatch("abc", /b/),
  () => assert.throws(() => {}),
  () =>
    assert.throws(() => {
      throw new Error("x");
    }, /y/),
  () =>
    assert.throws(() => {
      throw new Error("x");
    }, TypeError),
  () =>
    assert.throws(
      () => {
        throw new Error("x");
      },
      { message: "z" },
    ),
  () => assert.throws("x"),
  () =>
    assert.doesNotThrow(() => {
      throw new Error("thrown");
    }, "said"),
  () => assert.ifError(new Error("if")),
  () => assert.ifError(null),
  () => assert.fail(),
  () => assert.fail("failed"),
  () => assert.partialDeepStrictEqual({ a: 1 }, { a: 2 }),
  () => assert.strict.equal(1, "1"),
  () => assert.equal(1, 2, new RangeError("own")),
  () => assert.deepStrictEqual("x".repeat(2000), "x".repeat(1999) + "y"),
  () => assert.ok(),
]) {
  try {
    console.log("fine", call());
  } catch (error) {
    console.log(error.name, error.code, error.generatedMessage, error.operator, error.message);
  }
}
