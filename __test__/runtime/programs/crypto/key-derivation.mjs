import crypto from "node:crypto";

console.log(
  crypto.pbkdf2Sync("password", "salt", 1000, 32, "sha256").toString("hex"),
  crypto.scryptSync("password", "salt", 32, { N: 1024 }).toString("hex"),
  Buffer.from(crypto.hkdfSync("sha512", "key", "salt", "info", 24)).toString("hex"),
);
await new Promise((resolve) =>
  crypto.pbkdf2("p", "s", 10, 16, "sha1", (error, key) => resolve(console.log(error, key.toString("hex")))),
);
await new Promise((resolve) =>
  crypto.scrypt("p", "s", 16, (error, key) => resolve(console.log(error, key.toString("hex")))),
);
await new Promise((resolve) =>
  crypto.hkdf("sha256", "k", "s", "i", 16, (error, key) =>
    resolve(console.log(error, Buffer.from(key).toString("hex"))),
  ),
);
for (const call of [
  () => crypto.pbkdf2Sync("p", "s", 1, 8, "nope"),
  () => crypto.pbkdf2Sync("p", "s", 0, 8, "sha1"),
  () => crypto.pbkdf2Sync("p", "s", 1, -8, "sha1"),
  () => crypto.scryptSync("p", "s", 8, { N: 3 }),
  () => crypto.hkdfSync("nope", "k", "s", "i", 8),
  () => crypto.pbkdf2("p", "s", 1, 8, "sha1"),
  () => crypto.scryptSync("p", "s", 8, { N: 2 ** 25 }),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
