const { map } = Array.prototype;
Array.prototype.map = () => "patched";
Array.prototype[Symbol.iterator] = undefined;
String.prototype.split = () => "patched";
Object.prototype.polluted = "everywhere";
Map.prototype.get = () => "patched";
RegExp.prototype.exec = () => null;
console.log([1, 2], { a: "x" }, "%s", "text");
const { format, inspect } = process.getBuiltinModule("util");
console.log(
  format("%s %j", "a", 1),
  inspect({ deep: { er: [] } }),
  Buffer.from("abc").toString("hex"),
  new URL("http://a/b?c").href,
);
process.getBuiltinModule("fs").writeFileSync("f", "text");
console.log(
  process.getBuiltinModule("fs").readFileSync("f", "utf8"),
  process.getBuiltinModule("path").join("a", "..", "b"),
);
setTimeout((value) => console.log("timer", value, typeof map), 1, "argument");
