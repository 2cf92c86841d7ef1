import fs from "node:fs";

fs.writeFileSync("f", "0123456789".repeat(10_000));
const stream = fs.createReadStream("f");
const events = [];
for (const name of ["open", "ready", "end", "close"]) stream.on(name, () => events.push(name));
let size = 0;
const sizes = [];
stream.on("data", (piece) => {
  size += piece.length;
  sizes.push(piece.length);
});
await new Promise((resolve) => stream.on("close", resolve));
console.log(size, sizes, events, stream.bytesRead, stream.path, stream.closed, stream.destroyed);
const part = fs.createReadStream("f", { start: 5, end: 24, highWaterMark: 8, encoding: "utf8" });
console.log(await part.toArray());
const paused = fs.createReadStream("f", { highWaterMark: 4 });
await new Promise((resolve) => paused.once("readable", resolve));
console.log(paused.read(2).toString(), paused.read(1).toString(), paused.readableLength);
paused.destroy();
await new Promise((resolve) => paused.on("close", resolve));
fs.createReadStream("none").on("error", (error) => console.log(error.code, error.message));
try {
  fs.createReadStream("f", { start: 10, end: 5 });
} catch (error) {
  console.log(error.code, error.message);
}
