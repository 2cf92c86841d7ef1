import util from "node:util";

const form = new FormData();
form.append("a", "1");
form.append("a", 2);
form.set("b", new File(["x"], "a.txt", { type: "text/x", lastModified: 1 }), "b.txt");
form.append("c", new File(["y"], "c.bin", { lastModified: 2 }));
console.log(
  [...form.keys()],
  form.get("a"),
  form.getAll("a"),
  form.has("z"),
  form.get("b").name,
  await form.get("b").text(),
);
form.delete("a");
console.log(util.inspect(form).replace(/lastModified: \d+/g, "lastModified"));
const response = new Response(form);
console.log(
  response.headers.get("content-type").replace(/boundary=.*/, "boundary"),
  (await response.text()).replaceAll(/-{4,}\S+/g, "--boundary"),
);
const parsed = await new Response("a=1&b=%C3%BC", {
  headers: { "content-type": "application/x-www-form-urlencoded" },
}).formData();
console.log([...parsed]);
const multipart =
  '--X\r\nContent-Disposition: form-data; name="f"; filename="n.txt"\r\nContent-Type: text/plain\r\n\r\nfile text\r\n--X\r\nContent-Disposition: form-data; name="v"\r\n\r\nvalue\r\n--X--\r\n';
const back = await new Response(multipart, {
  headers: { "content-type": "multipart/form-data; boundary=X" },
}).formData();
console.log(back.get("v"), back.get("f").name, back.get("f").type, await back.get("f").text());
for (const call of [() => form.append("x"), () => new FormData("x"), () => form.append("x", "y", "z")]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
await new Response("no").formData().catch((error) => console.log(error.name, error.message));
