import fs from "node:fs/promises";

const file = await fs.open("f", "w+");
console.log(file.constructor.name, typeof file.fd);
console.log(await file.write("hello "), await file.write(Buffer.from("world")), await file.write("J", 0));
console.log(await file.read(Buffer.alloc(5), 0, 5, 0));
console.log(await file.read({ buffer: Buffer.alloc(3), position: 6 }));
console.log((await file.read()).bytesRead, (await file.stat()).size);
console.log(
  await file.writev([Buffer.from("1"), Buffer.from("2")]),
  await file.readv([Buffer.alloc(2), Buffer.alloc(4)], 0),
);
console.log(await file.appendFile("!"), await file.truncate(7), await file.sync(), await file.datasync());
console.log(await file.chmod(0o640), await file.utimes(3, 4), (await file.stat()).mtimeMs);
console.log(await file.readFile("utf8"));
await file.writeFile("line 1\nline 2\r\nline 3");
await file.close();
console.log(file.fd);
const again = await fs.open("f");
for await (const line of again.readLines()) console.log(JSON.stringify(line));
try {
  await again.stat();
} catch (error) {
  console.log(error.code, error.message);
}
{
  await using scoped = await fs.open("f");
  console.log((await scoped.readFile()).length);
}
const closing = await fs.open("f");
closing.on("close", () => console.log("closed"));
await Promise.all([closing.close(), closing.close()]);
try {
  await closing.read();
} catch (error) {
  console.log(error.code, error.syscall, error.message);
}
