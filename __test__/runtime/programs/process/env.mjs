// options: {"env": {"A": "1", "EMPTY": "", "UMLAUT": "ü"}}
console.log(
  process.env.A,
  JSON.stringify(process.env.EMPTY),
  process.env.UMLAUT,
  process.env.NONE,
  "A" in process.env,
  Object.keys(process.env).sort(),
);
process.env.B = 5;
process.env.N = null;
delete process.env.A;
console.log(process.env.B, typeof process.env.B, process.env.N, process.env.A, JSON.stringify(process.env), {
  ...process.env,
});
try {
  process.env.S = Symbol("x");
} catch (error) {
  console.log(error.name, error.message);
}
console.log(
  Object.getOwnPropertyDescriptor(process.env, "B"),
  process.env.toString === Object.prototype.toString,
  Object.hasOwn(process.env, "B"),
);
