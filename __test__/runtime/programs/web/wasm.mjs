const bytes = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1,
  7, 0, 32, 0, 32, 1, 106, 11,
]);
const { instance, module } = await WebAssembly.instantiate(bytes);
console.log(
  instance.exports.add(2, 3),
  WebAssembly.validate(bytes),
  WebAssembly.Module.exports(module),
  new WebAssembly.Memory({ initial: 1 }).buffer.byteLength,
);
console.log(
  (
    await WebAssembly.instantiateStreaming(new Response(bytes, { headers: { "content-type": "application/wasm" } }))
  ).instance.exports.add(1, 1),
);
for (const call of [
  () => new WebAssembly.Module(new Uint8Array([1])),
  () => WebAssembly.instantiate("x"),
  () => WebAssembly.compileStreaming(new Response(bytes)),
]) {
  try {
    console.log(await call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
