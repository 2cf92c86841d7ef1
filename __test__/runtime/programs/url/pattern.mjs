const pattern = new URLPattern({ pathname: "/books/:id(\\d+)/*" });
console.log(pattern.test("http://x/books/12/a"), pattern.test("http://x/books/ab/a"));
const match = pattern.exec("http://x/books/12/a/b");
console.log(
  match.pathname.groups.id,
  match.pathname.groups[0],
  match.pathname.input,
  pattern.pathname,
  pattern.hostname,
);
