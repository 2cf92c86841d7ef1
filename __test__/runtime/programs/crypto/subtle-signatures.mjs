const { subtle } = globalThis.crypto;
const data = Buffer.from("signed");
for (const algorithm of [
  { name: "ECDSA", namedCurve: "P-256" },
  { name: "ECDSA", namedCurve: "P-384" },
  { name: "Ed25519" },
]) {
  const pair = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const how = algorithm.name === "ECDSA" ? { name: "ECDSA", hash: "SHA-256" } : algorithm;
  const signature = await subtle.sign(how, pair.privateKey, data);
  const jwk = await subtle.exportKey("jwk", pair.publicKey);
  const back = await subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
  const spki = await subtle.exportKey("spki", pair.publicKey);
  const fromSpki = await subtle.importKey("spki", spki, algorithm, true, ["verify"]);
  const pkcs8 = await subtle.exportKey("pkcs8", pair.privateKey);
  const signer = await subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
  console.log(
    algorithm,
    signature.byteLength,
    Object.keys(jwk).sort(),
    jwk.kty,
    jwk.crv,
    spki.byteLength,
    pkcs8.byteLength,
  );
  console.log(
    await subtle.verify(how, back, signature, data),
    await subtle.verify(how, fromSpki, await subtle.sign(how, signer, data), data),
    await subtle.verify(how, back, signature, Buffer.from("other")),
  );
}
