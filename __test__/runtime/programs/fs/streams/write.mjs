import fs from "node:fs";

const stream = fs.createWriteStream("f");
const events = [];
for (const name of ["open", "ready", "drain", "finish", "close"]) stream.on(name, () => events.push(name));
console.log(stream.write("a"), stream.write("b".repeat(70_000)), stream.writableNeedDrain);
stream.end("c", () => console.log("ended"));
await new Promise((resolve) => stream.on("close", resolve));
console.log(events, stream.bytesWritten, stream.path, fs.statSync("f").size);
const appending = fs.createWriteStream("f", { flags: "a" });
appending.end("tail");
await new Promise((resolve) => appending.on("finish", resolve));
console.log(fs.readFileSync("f", "utf8").slice(-6));
const inside = fs.createWriteStream("f", { flags: "r+", start: 2, encoding: "hex" });
inside.end("4142");
await new Promise((resolve) => inside.on("finish", resolve));
console.log(fs.readFileSync("f", "utf8").slice(0, 6));
fs.createWriteStream("none/x").on("error", (error) => console.log(error.code, error.message));
fs.createWriteStream("f", { flags: "wx" }).on("error", (error) => console.log(error.code, error.message));
