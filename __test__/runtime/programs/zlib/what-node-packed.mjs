import zlib from "node:zlib";

const packed = {
  gunzipSync: "H4sIAAAAAAAAAytITM5OTVFIzSlOLc9ILUrVUSgYFaGBCADV3AJIaAEAAA==",
  unzipSync: "H4sIAAAAAAAAAytITM5OTVFIzSlOLc9ILUrVUSgYFaGBCADV3AJIaAEAAA==",
  inflateSync: "eNorSEzOTk1RSM0pTi3PSC1K1VEoGBWhgQgAQBeD4Q==",
  inflateRawSync: "K0hMzk5NUUjNKU4tz0gtStVRKBgVoYEIAA==",
  brotliDecompressSync: "G2cB+AXkhter3/uIleIQh6AwQgDEmBch9PHJogI=",
};
for (const [name, text] of Object.entries(packed)) {
  const bytes = Buffer.from(text, "base64");
  console.log(name, zlib[name](bytes).toString());
  for (let length = 0; length < bytes.length; length += 3) {
    try {
      console.log(length, zlib[name](bytes.subarray(0, length)).length);
    } catch (error) {
      console.log(length, error.code, error.errno, error.message);
    }
  }
}
