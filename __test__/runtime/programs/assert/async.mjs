import assert, { AssertionError } from "node:assert/strict";

for (const call of [
  () => assert.rejects(Promise.resolve(1)),
  () =>
    assert.rejects(async () => {
      throw new Error("x");
    }, /y/),
  () =>
    assert.rejects(async () => {
      throw new Error("x");
    }, /x/),
  () => assert.doesNotReject(Promise.reject(new Error("no"))),
  () => assert.rejects(() => 5),
]) {
  try {
    console.log("fine", await call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
const error = new AssertionError({ actual: 1, expected: 2, operator: "strictEqual" });
console.log(error.message, error instanceof Error, Object.keys(error), assert.equal === assert.strictEqual);
try {
  assert.deepEqual({ a: { b: [1] } }, { a: { b: [2] } });
} catch (thrown) {
  console.log(thrown);
}
