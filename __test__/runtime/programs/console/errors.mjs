const show = (error) => console.log(error.stack === undefined ? error : error);
show(new Error("plain"));
show(new TypeError("with cause", { cause: new RangeError("inner", { cause: "text" }) }));
show(Object.assign(new Error("fields"), { code: "E_X", data: { a: [1] } }));
show(new AggregateError([new Error("one"), "two"], "many"));
class Custom extends Error {
  name = "Custom";
  extra = 1;
}
show(new Custom("custom"));
class Plain extends Error {}
show(new Plain("sub"));
show({ error: new Error("nested") });
show([new Error("in list")]);
const noStack = new Error("no stack");
noStack.stack = undefined;
show(noStack);
const named = new Error("named");
named.name = "Renamed";
show(named);
const oddStack = new Error("odd");
oddStack.stack = "only this";
show(oddStack);
show(new Error(""));
show(new Error("multi\nline"));
show(new DOMException("dom", "AbortError"));
try {
  null.x;
} catch (error) {
  show(error);
}
try {
  undefinedName;
} catch (error) {
  console.log(String(error), error.name, error.constructor.name);
}
console.log("%s|%o|%O", new Error("fmt"), "s", new Error("fmt2"));
console.error(new Error("to stderr"));
