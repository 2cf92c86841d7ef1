import crypto from "node:crypto";

let state = 17;
const next = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};
const bytes = (length) => Buffer.from(Array.from({ length }, () => next(256)));
for (const name of ["md5", "sha1", "sha256", "sha384", "sha512", "sha3-256", "ripemd160", "blake2b512"]) {
  const all = crypto.createHash("sha1");
  for (let round = 0; round < 60; round++) {
    const hash = crypto.createHash(name);
    const mac = crypto.createHmac(name, bytes(next(300)));
    for (let part = next(4); part >= 0; part--) {
      const data = bytes(next(400));
      hash.update(data);
      mac.update(data);
    }
    all.update(hash.digest()).update(mac.digest());
  }
  console.log(
    name,
    all.digest("hex"),
    Buffer.from(crypto.hkdfSync(name, bytes(20), bytes(10), bytes(5), 50)).toString("hex"),
    crypto.pbkdf2Sync(bytes(12), bytes(8), 1 + next(50), 40, name).toString("hex"),
  );
}
for (const name of [
  "aes-128-cbc",
  "aes-192-cbc",
  "aes-256-cbc",
  "aes-128-ctr",
  "aes-256-ctr",
  "aes-128-ecb",
  "aes-256-gcm",
  "chacha20-poly1305",
]) {
  const { keyLength, ivLength = 0, mode } = crypto.getCipherInfo(name);
  const all = crypto.createHash("sha1");
  for (let round = 0; round < 40; round++) {
    const options = name.startsWith("chacha") ? { authTagLength: 16 } : undefined;
    const cipher = crypto.createCipheriv(name, bytes(keyLength), ivLength ? bytes(ivLength) : null, options);
    if (mode === "gcm") cipher.setAAD(bytes(next(30)));
    for (let part = next(4); part >= 0; part--) all.update(cipher.update(bytes(next(100))));
    all.update(cipher.final());
    if (mode === "gcm" || options) all.update(cipher.getAuthTag());
  }
  console.log(name, keyLength, ivLength, mode, all.digest("hex"));
}
