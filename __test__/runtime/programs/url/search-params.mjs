const params = new URLSearchParams("?a=1&b=2&a=3&c=%20x+y&d");
console.log(
  params,
  params.size,
  params.get("a"),
  params.getAll("a"),
  params.get("zz"),
  params.has("b", "2"),
  params.has("b", "3"),
);
params.append("e", "ü");
params.set("a", "9");
params.sort();
console.log(params.toString(), [...params.keys()], [...params.values()], [...params]);
params.forEach((value, name, all) => console.log(name, value, all === params));
console.log(
  params.entries(),
  new URLSearchParams({ x: 1, y: "z" }).toString(),
  new URLSearchParams([["p", "q"]]).toString(),
  new URLSearchParams(new Map([["m", "n"]])).toString(),
);
params.delete("a");
console.log(String(params));
for (const call of [
  () => new URLSearchParams([["only"]]),
  () => new URLSearchParams(5).toString(),
  () => params.append("x"),
  () => URLSearchParams(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
