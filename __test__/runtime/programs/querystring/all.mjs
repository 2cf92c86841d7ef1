import querystring from "node:querystring";

console.log(
  querystring.parse("a=1&b=2&a=3&c=%E4%BD%A0&d&e=%zz"),
  querystring.parse("a:1;b:2", ";", ":"),
  querystring.parse("a=1&b=2&c=3", null, null, { maxKeys: 2 }),
);
console.log(
  querystring.stringify({ a: [1, 2], b: "ü &", c: true, d: null, e: undefined, f: 10n, g: {} }),
  querystring.stringify({ a: 1, b: 2 }, ";", ":"),
);
console.log(querystring.escape("a b&ü/"), querystring.unescape("a%20b%zz"), querystring.unescapeBuffer("a%20"));
try {
  querystring.escape("\ud800");
} catch (error) {
  console.log(error.name, error.code, error.message);
}
