import url from "node:url";

console.log(url.parse("http://user:pass@host.com:80/p/a/t/h?query=string#hash"));
console.log(
  url.parse("/a?b=c", true).query,
  url.resolve("/one/two/three", "four"),
  url.resolve("http://e.com/one", "/two"),
);
console.log(url.format({ protocol: "http", host: "h", pathname: "/p", query: { a: 1, b: [2, 3] } }));
