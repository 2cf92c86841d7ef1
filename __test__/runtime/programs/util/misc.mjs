import util from "node:util";

console.log(
  util.isDeepStrictEqual({ a: [1, new Map([[1, { b: 2 }]])] }, { a: [1, new Map([[1, { b: 2 }]])] }),
  util.isDeepStrictEqual([1], ["1"]),
  util.isDeepStrictEqual(new Set([{}]), new Set([{}])),
  util.isDeepStrictEqual(NaN, NaN),
  util.isDeepStrictEqual(0, -0),
);
console.log(
  util.stripVTControlCharacters("\u001b[31mred\u001b[39m"),
  util.toUSVString("a\ud800"),
  util.styleText("red", "x", { validateStream: false }),
  util.styleText(["bold", "underline"], "y", { validateStream: false }),
  util.getSystemErrorName(-2),
  util.getSystemErrorMap().get(-13),
  util.getSystemErrorMessage(-2),
);
const slow = (a, b, callback) => setTimeout(() => (a > b ? callback(new Error("big")) : callback(null, a + b)), 1);
const promised = util.promisify(slow);
console.log(
  await promised(1, 2),
  await promised(3, 2).catch((error) => error.message),
  util.promisify(setTimeout) === (await import("node:timers/promises")).setTimeout,
);
util.callbackify(async (x) => x * 2)(4, (error, value) => console.log(error, value));
util.callbackify(async () => Promise.reject(null))((error) => console.log(error.code, error.message));
const old = util.deprecate((x) => x, "old() is old", "DEP_X");
console.log(old(1), old(2));
function Parent() {}
function Child() {}
util.inherits(Child, Parent);
console.log(
  new Child() instanceof Parent,
  Child.super_ === Parent,
  util.types.isProxy(new Proxy({}, {})),
  util.types.isPromise(Promise.resolve()),
  util.inspect(util.types).length > 100,
);
console.log(
  util.parseArgs({
    args: ["-f", "--bar", "b", "pos"],
    options: { foo: { type: "boolean", short: "f" }, bar: { type: "string" } },
    allowPositionals: true,
  }),
);
console.log(
  util.parseEnv("A=1\nB='two words' # c\nC=\"x\\ny\"\nexport D=4"),
  util.debuglog("x").enabled,
  util.aborted.length,
  new util.TextDecoder().encoding,
  new util.MIMEType("text/html; charset=utf-8"),
);
for (const call of [
  () => util.promisify(5),
  () => util.format.call(),
  () => util.inherits(1, 2),
  () => util.parseArgs({ args: ["--zz"] }),
  () => util.getSystemErrorName("x"),
  () => new util.MIMEType("nope"),
  () => util.styleText("nocolor", "x"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log(util.diff("abc\nd", "abc\ne"), util.getCallSites().length > 0, Object.keys(util).sort().join(" "));
