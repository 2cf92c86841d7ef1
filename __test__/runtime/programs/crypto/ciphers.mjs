import crypto from "node:crypto";

for (const [name, keyLength, ivLength] of [
  ["aes-128-cbc", 16, 16],
  ["aes-256-cbc", 32, 16],
  ["aes-256-ctr", 32, 16],
  ["aes-192-ecb", 24, 0],
]) {
  const cipher = crypto.createCipheriv(name, Buffer.alloc(keyLength, 1), ivLength ? Buffer.alloc(ivLength, 2) : null);
  const sealed = cipher.update("some text to hide", "utf8", "hex") + cipher.final("hex");
  const decipher = crypto.createDecipheriv(
    name,
    Buffer.alloc(keyLength, 1),
    ivLength ? Buffer.alloc(ivLength, 2) : null,
  );
  console.log(name, sealed, decipher.update(sealed, "hex", "utf8") + decipher.final("utf8"));
}
for (const name of ["aes-128-gcm", "aes-256-gcm"]) {
  const key = Buffer.alloc(Number(name.slice(4, 7)) / 8, 3);
  const cipher = crypto.createCipheriv(name, key, Buffer.alloc(12, 4));
  cipher.setAAD(Buffer.from("aad"));
  const sealed = Buffer.concat([cipher.update("secret"), cipher.final()]);
  const tag = cipher.getAuthTag();
  const decipher = crypto.createDecipheriv(name, key, Buffer.alloc(12, 4));
  decipher.setAAD(Buffer.from("aad")).setAuthTag(tag);
  console.log(
    name,
    sealed.toString("hex"),
    tag.toString("hex"),
    Buffer.concat([decipher.update(sealed), decipher.final()]).toString(),
  );
  const wrong = crypto.createDecipheriv(name, key, Buffer.alloc(12, 4));
  wrong.setAuthTag(Buffer.alloc(16));
  wrong.update(sealed);
  try {
    wrong.final();
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
for (const call of [
  () => crypto.createCipheriv("nope", "k", "i"),
  () => crypto.createCipheriv("aes-128-cbc", "short", Buffer.alloc(16)),
  () => crypto.createCipheriv("aes-128-cbc", Buffer.alloc(16), Buffer.alloc(3)),
  () => {
    const d = crypto.createDecipheriv("aes-128-cbc", Buffer.alloc(16), Buffer.alloc(16));
    d.update("00".repeat(16), "hex");
    return d.final();
  },
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
