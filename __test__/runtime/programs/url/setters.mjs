const url = new URL("http://user@host:8080/p/q?a=b#c");
url.protocol = "https";
url.username = "me&you";
url.password = "p:w";
url.host = "other:443";
url.pathname = "a b/c";
url.search = "k=v w&k=2";
url.hash = "ö";
console.log(url.href, url.port, url.searchParams.getAll("k"));
url.port = "70000";
url.hostname = "bad host";
url.protocol = "mailto";
console.log(url.href);
url.searchParams.append("z", "é&=");
url.searchParams.delete("k");
console.log(url.search, url.href);
url.href = "http://new/";
console.log(`${url}`, url.searchParams.size);
try {
  url.href = "no";
} catch (error) {
  console.log(error.name, error.code, error.message);
}
