function one() {
  return new Error("e").stack;
}
const lines = one().split("\n");
console.log(lines[0], lines[1].trim(), lines[2].trim());
Error.stackTraceLimit = 1;
console.log(one().split("\n").length, Error.stackTraceLimit);
Error.prepareStackTrace = (error, sites) =>
  sites.map((site) =>
    [
      site.getFunctionName(),
      site.getLineNumber(),
      site.getColumnNumber(),
      site.isToplevel(),
      site.isConstructor(),
    ].join(),
  );
Error.stackTraceLimit = 2;
console.log(new Error("p").stack[0], one().length);
Error.prepareStackTrace = undefined;
const object = {};
Error.captureStackTrace(object, one);
console.log(typeof object.stack, Object.keys(object));
class Thing {
  method() {
    return new Error("m").stack.split("\n")[1].trim();
  }
  static make() {
    return new Thing().method();
  }
  get prop() {
    return new Error("g").stack.split("\n")[1].trim();
  }
}
console.log(Thing.make(), new Thing().prop);
Error.stackTraceLimit = 10;
console.log(
  await (async function asyncName() {
    await null;
    return new Error("a").stack.split("\n")[1].trim();
  })(),
);
console.log(
  [1].map(() =>
    new Error("n").stack
      .split("\n")
      .slice(1, 3)
      .map((line) => line.trim()),
  ),
  eval("new Error('v').stack.split('\\n')[1].trim()"),
);
