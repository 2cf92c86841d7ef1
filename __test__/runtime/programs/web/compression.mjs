const squeeze = async (format, text) => {
  const packed = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream(format))).arrayBuffer();
  const back = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(format))).text();
  return [format, packed.byteLength < text.length / 10, back === text];
};
for (const format of ["gzip", "deflate", "deflate-raw"])
  console.log(await squeeze(format, "compress me ".repeat(1000)));
for (const call of [() => new CompressionStream("zip"), () => new DecompressionStream()]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
try {
  await new Response(new Blob(["not gzip"]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
} catch (error) {
  console.log(error.name, error.code, error.message);
}
