const { subtle } = globalThis.crypto;
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const key = await subtle.importKey("raw", new Uint8Array(32).fill(1), "AES-GCM", true, ["encrypt", "decrypt"]);
const parameters = { name: "AES-GCM", iv: new Uint8Array(12), additionalData: new Uint8Array([1]) };
const sealed = await subtle.encrypt(parameters, key, Buffer.from("secret text"));
console.log(hex(sealed), Buffer.from(await subtle.decrypt(parameters, key, sealed)).toString());
await subtle
  .decrypt({ ...parameters, iv: new Uint8Array(12).fill(1) }, key, sealed)
  .catch((error) => console.log(error.name, error.message));
const password = await subtle.importKey("raw", Buffer.from("pw"), "PBKDF2", false, ["deriveBits", "deriveKey"]);
console.log(
  hex(
    await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: Buffer.from("s"), iterations: 10 }, password, 128),
  ),
);
const derived = await subtle.deriveKey(
  { name: "PBKDF2", hash: "SHA-512", salt: Buffer.from("s"), iterations: 10 },
  password,
  { name: "AES-GCM", length: 256 },
  true,
  ["encrypt"],
);
console.log(derived.algorithm, hex(await subtle.exportKey("raw", derived)));
const material = await subtle.importKey("raw", Buffer.from("ikm"), "HKDF", false, ["deriveBits"]);
console.log(
  hex(
    await subtle.deriveBits(
      { name: "HKDF", hash: "SHA-256", salt: Buffer.from("s"), info: Buffer.from("i") },
      material,
      256,
    ),
  ),
);
await subtle.exportKey("raw", password).catch((error) => console.log(error.name, error.message));
const aes = await subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt", "decrypt"]);
console.log((await subtle.exportKey("jwk", aes)).k.length, aes.usages);
