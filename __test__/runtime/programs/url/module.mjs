import url, { domainToASCII, domainToUnicode, fileURLToPath, pathToFileURL, urlToHttpOptions } from "node:url";

console.log(
  domainToASCII("español.com"),
  domainToASCII("中文.com"),
  domainToASCII("xn--iñvalid.com"),
  domainToUnicode("xn--espaol-zwa.com"),
);
console.log(
  fileURLToPath("file:///a/b%20c"),
  fileURLToPath(new URL("file:///ü")),
  pathToFileURL("/a b/#?%ü\n").href,
  pathToFileURL("x/y").href,
);
console.log(urlToHttpOptions(new URL("http://a:b@c:8/d?e#f")));
console.log(
  url.format(new URL("http://a:b@测试.c/d?e#f"), { auth: false, unicode: true, fragment: false, search: false }),
);
for (const call of [
  () => fileURLToPath("http://x"),
  () => fileURLToPath("file://h/x"),
  () => fileURLToPath("file:///a%2fb"),
  () => fileURLToPath(5),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
