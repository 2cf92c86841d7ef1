const blob = new Blob(["ab", new Uint8Array([99]), new Blob(["d"]), new ArrayBuffer(1)], { type: "Text/Plain" });
console.log(
  blob,
  blob.size,
  blob.type,
  await blob.text(),
  await blob.arrayBuffer(),
  await blob.bytes(),
  await blob.slice(1, 3, "x/y").text(),
  await blob.slice(-2).bytes(),
);
for await (const chunk of blob.stream()) console.log(chunk);
const file = new File(["content"], "n.txt", { type: "text/plain", lastModified: 5 });
console.log(
  file,
  file.name,
  file.lastModified,
  file.size,
  file instanceof Blob,
  await file.text(),
  Object.prototype.toString.call(file),
);
console.log(
  await new Blob(["a\r\nb\nc"], { endings: "native" }).text(),
  structuredClone(blob).size,
  await structuredClone(new Blob(["cl"])).text(),
);
for (const call of [
  () => new Blob("text"),
  () => new Blob([], { endings: "x" }),
  () => new File(),
  () => new File([], "x", 5),
  () => new Blob(5),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
