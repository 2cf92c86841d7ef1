const headers = new Headers([
  ["A", "1"],
  ["b", " 2 "],
]);
headers.append("a", "3");
headers.append("set-cookie", "x=1");
headers.append("set-cookie", "y=2");
headers.set("C", "ü".length);
console.log(
  headers,
  headers.get("A"),
  headers.get("none"),
  headers.has("B"),
  headers.getSetCookie(),
  [...headers],
  [...headers.keys()],
);
headers.delete("a");
headers.forEach((value, name, all) => console.log(name, value, all === headers));
console.log(new Headers({ x: "y" }), new Headers(headers).get("b"), Object.fromEntries(headers));
for (const call of [
  () => headers.append("bad name", "x"),
  () => headers.set("x", "a\nb"),
  () => new Headers("x"),
  () => new Headers([["only"]]),
  () => headers.get(),
  () => headers.append("x", "€"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
