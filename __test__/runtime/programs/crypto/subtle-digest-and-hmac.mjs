const { subtle } = globalThis.crypto;
const hex = (bytes) => Buffer.from(bytes).toString("hex");
for (const name of ["SHA-1", "SHA-256", "SHA-384", "SHA-512"])
  console.log(name, hex(await subtle.digest(name, new TextEncoder().encode("data"))));
const key = await subtle.importKey("raw", Buffer.from("secret"), { name: "HMAC", hash: "SHA-256" }, true, [
  "sign",
  "verify",
]);
const signature = await subtle.sign("HMAC", key, Buffer.from("message"));
console.log(
  key,
  hex(signature),
  await subtle.verify("HMAC", key, signature, Buffer.from("message")),
  await subtle.verify("HMAC", key, signature, Buffer.from("other")),
  await subtle.exportKey("jwk", key),
);
const generated = await subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["sign"]);
console.log(
  (await subtle.exportKey("raw", generated)).byteLength,
  generated.algorithm,
  generated.usages,
  generated.extractable,
  generated.type,
);
for (const call of [
  () => subtle.digest("MD5", new Uint8Array()),
  () => subtle.sign("HMAC", generated, "text"),
  () => subtle.verify("HMAC", generated, signature, Buffer.from("x")),
  () => subtle.importKey("raw", Buffer.from("k"), "AES-GCM", true, ["encrypt"]),
  () => subtle.importKey("raw", Buffer.from("k"), { name: "HMAC", hash: "SHA-1" }, true, ["encrypt"]),
  () => subtle.digest("SHA-256"),
]) {
  try {
    console.log(await call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
