import fs from "node:fs/promises";

const out = await fs.open("f", "w");
const writable = out.createWriteStream();
writable.write("one,");
await new Promise((resolve) => writable.end("two", resolve));
const file = await fs.open("f");
const pieces = [];
for await (const piece of file.createReadStream({ encoding: "utf8", start: 1, end: 4 })) pieces.push(piece);
console.log(pieces);
const web = await fs.open("f");
const chunks = [];
for await (const chunk of web.readableWebStream()) chunks.push(Buffer.from(chunk).toString());
console.log(chunks.join(""));
await web.close();
