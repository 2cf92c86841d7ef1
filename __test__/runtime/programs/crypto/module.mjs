import crypto from "node:crypto";

console.log(
  Object.keys(crypto).sort().join(" "),
  typeof crypto.constants.RSA_PKCS1_PADDING,
  crypto.getCiphers().includes("aes-256-gcm"),
  crypto.getRandomValues.name,
  crypto.subtle === globalThis.crypto.subtle,
  globalThis.crypto,
  Object.prototype.toString.call(globalThis.crypto.subtle),
);
const key = crypto.createSecretKey(Buffer.from("k".repeat(16)));
console.log(
  key.type,
  key.symmetricKeySize,
  key.export().toString(),
  key.export({ format: "jwk" }),
  key.equals(crypto.createSecretKey(Buffer.from("k".repeat(16)))),
);
