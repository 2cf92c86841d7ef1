export default async () => ({
  text: "ü🎉\u0000",
  numbers: [0, 1.5, -2, 1e300, 1e-7, 123456789012345680000],
  bool: [true, false],
  nothing: null,
  nested: { a: { b: { c: [[], {}] } } },
  "odd key": 1,
  2: "number key",
  1: "first",
});
