const urls = [
  "http://user:pa%20ss@EXAMPLE.com:80/a/../b?x=1&y=2#frag",
  "https://ü.example/ä?ö#ü",
  "file:///a/b%20c",
  "data:text/plain,hi",
  "http://[::1]:3000/",
  "http://0x7f.1/",
  "mailto:a@b.c",
  "http://ex ample/",
  "//x",
  "http://a:99999/",
  "ws://h:80/p",
  "javascript:alert(1)",
  "http://a/%zz?%zz",
];
for (const text of urls) {
  try {
    const url = new URL(text);
    console.log(url);
    console.log(url.href, url.origin, url.host, JSON.stringify(url));
  } catch (error) {
    console.log(error.name, error.code, error.message, error.input, error.base);
  }
}
console.log(
  new URL("../x?y#z", "http://h/a/b/c").href,
  URL.canParse("x"),
  URL.canParse("x", "http://y"),
  URL.parse("nope"),
  URL.parse("/a", "http://b").href,
);
