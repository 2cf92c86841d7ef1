import zlib from "node:zlib";
const text = "packed elsewhere, ".repeat(20);
const packed = {
  gunzipSync: "H4sIAAAAAAAAAytITM5OTVFIzUlNLUhNUshIzUlNLdZRKBhVMKpgVMGoglEFowpGFYwqGFUwqmBUwaiCUQUjWwEAC7tWhWgBAAA=",
};
for (const [name, data] of Object.entries(packed)) {
  try {
    console.log(name, zlib[name](Buffer.from(data, "base64")).toString().slice(0, 40));
  } catch (error) {
    console.log(name, error.code, error.message);
  }
}
console.log(zlib.inflateRawSync(Buffer.from("S0xKTgEA", "base64")).toString(), zlib.brotliDecompressSync(Buffer.from("CwKAYWJjZGUD", "base64")).toString(), text.length);
