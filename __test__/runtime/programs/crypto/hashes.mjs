import { createHash, createHmac, getHashes, hash } from "node:crypto";

for (const name of [
  "md5",
  "sha1",
  "sha224",
  "sha256",
  "sha384",
  "sha512",
  "sha512-256",
  "sha3-256",
  "sha3-512",
  "ripemd160",
  "RSA-SHA256",
  "SHA256",
  "blake2b512",
  "blake2s256",
]) {
  console.log(
    name,
    createHash(name)
      .update("héllo")
      .update(Buffer.from([0, 255]))
      .digest("hex"),
  );
}
for (const name of ["md5", "sha1", "sha256", "sha384", "sha512", "sha3-256"])
  console.log(
    name,
    createHmac(name, "key").update("data").digest("base64"),
    createHmac(name, Buffer.alloc(200, 1)).update("x").digest("base64url"),
  );
console.log(
  createHash("sha256").copy().digest("hex").slice(0, 8),
  hash("sha1", "text"),
  hash("sha256", Buffer.from("x"), "base64"),
  createHash("sha256").digest(),
);
const partial = createHash("sha256").update("a");
const forked = partial.copy();
console.log(
  partial.update("b").digest("hex") === createHash("sha256").update("ab").digest("hex"),
  forked.digest("hex") === createHash("sha256").update("a").digest("hex"),
);
const stream = createHash("md5");
stream.end("stream");
console.log(
  (await stream.toArray())[0].toString("hex"),
  ["md5", "sha1", "sha256", "sha512"].every((name) => getHashes().includes(name)),
);
for (const call of [
  () => createHash("nope"),
  () => createHash("md5").update(5),
  () => partial.update("late"),
  () => partial.digest(),
  () => createHmac("sha256"),
  () => createHmac("nope", "k"),
  () => createHash("sha256").update("x", "hex").digest("bad-encoding"),
  () => createHash(),
  () => hash("nope", "x"),
  () => createHash("md5", { outputLength: 5 }),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
