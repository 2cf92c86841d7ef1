import crypto from "node:crypto";

const data = Buffer.from("to sign");
for (const [type, options] of [
  ["rsa", { modulusLength: 2048 }],
  ["ec", { namedCurve: "P-256" }],
  ["ec", { namedCurve: "secp384r1" }],
  ["ed25519", {}],
  ["x25519", {}],
]) {
  const { publicKey, privateKey } = crypto.generateKeyPairSync(type, options);
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const back = crypto.createPublicKey(pem);
  const again = crypto.createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" }));
  console.log(
    type,
    publicKey.type,
    publicKey.asymmetricKeyType,
    publicKey.asymmetricKeyDetails,
    pem.split("\n")[0],
    back.equals(publicKey),
    Object.keys(publicKey.export({ format: "jwk" })).sort(),
  );
  if (type === "x25519") {
    const other = crypto.generateKeyPairSync("x25519");
    console.log(
      crypto
        .diffieHellman({ privateKey, publicKey: other.publicKey })
        .equals(crypto.diffieHellman({ privateKey: other.privateKey, publicKey })),
    );
    continue;
  }
  const algorithm = type === "ed25519" ? null : "sha256";
  const signature = crypto.sign(algorithm, data, again);
  console.log(
    crypto.verify(algorithm, data, back, signature),
    crypto.verify(algorithm, Buffer.from("other"), back, signature),
  );
}
const { publicKey, privateKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
console.log(
  crypto.privateDecrypt(privateKey, crypto.publicEncrypt(publicKey, Buffer.from("sealed"))).toString(),
  crypto.createVerify("sha512").update("a").verify(publicKey, crypto.createSign("sha512").update("a").sign(privateKey)),
);
const jwk = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
const key = crypto.createPrivateKey({ key: jwk, format: "jwk" });
console.log(
  crypto.sign(null, Buffer.from("x"), key).toString("base64"),
  key.export({ format: "jwk" }),
  key.export({ type: "pkcs8", format: "der" }).toString("hex"),
);
for (const call of [
  () => crypto.createPublicKey("not a key"),
  () => crypto.createPrivateKey(Buffer.from("x")),
  () => crypto.sign("sha256", data, "nope"),
  () => crypto.generateKeyPairSync("nope"),
  () => crypto.generateKeyPairSync("ec", { namedCurve: "nope" }),
  () => crypto.createSecretKey("text"),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
