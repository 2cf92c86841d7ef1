import { createHash } from "node:crypto";
import legacy from "node:url";

let state = 11;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const pick = (list) => list[next(list.length)];
const PIECES = [
  "a",
  "b.c",
  "..",
  ".",
  "/",
  "//",
  "\\",
  "?",
  "#",
  "@",
  ":",
  "%",
  "%2e",
  "%zz",
  "é",
  "ß",
  "☃",
  " ",
  "\t",
  "[",
  "]",
  "::1",
  "127.1",
  "0x10",
  "256",
  "|",
  "{",
  "^",
  "'",
  '"',
  "<",
  "~",
  "=",
  "&",
  ";",
  "\ud800",
  "\u0000",
  "xn--nxa",
  "C|",
];
const SCHEMES = [
  "http:",
  "https:",
  "file:",
  "ws:",
  "data:",
  "mailto:",
  "non-special:",
  "",
  "HTTP:",
  "blob:",
  "javascript:",
];
const results = [];
const describe = (url) => [
  url.href,
  url.origin,
  url.protocol,
  url.username,
  url.password,
  url.host,
  url.port,
  url.pathname,
  url.search,
  url.hash,
  url.searchParams.toString(),
];
for (let round = 0; round < 3000; round++) {
  const text =
    pick(SCHEMES) +
    pick(["", "/", "//", "///", "//h", "//u:p@h:8"]) +
    Array.from({ length: next(7) }, () => pick(PIECES)).join("");
  const base = pick([undefined, "http://base/x/y?q#f", "file:///C:/a/b", "data:x", "non-special://h/p/q"]);
  const url = URL.parse(text, base);
  if (url === null) {
    results.push([text, base, null]);
    continue;
  }
  const before = describe(url);
  const part = pick(["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]);
  url[part] = Array.from({ length: next(4) }, () => pick(PIECES)).join("");
  url.searchParams.append(pick(PIECES), pick(PIECES));
  let path;
  try {
    path = legacy.fileURLToPath(url);
  } catch (error) {
    path = error.code;
  }
  results.push([text, base, before, part, describe(url), path, legacy.format(url, { unicode: true })]);
}
for (let from = 0; from < results.length; from += 300) {
  const part = results.slice(from, from + 300);
  console.log(createHash("sha1").update(JSON.stringify(part)).digest("hex"), part.slice(0, 3));
}
