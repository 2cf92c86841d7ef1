import fs from "node:fs";
import readline from "node:readline";

fs.writeFileSync("f", "one\ntwo\r\nthree ü\n\nlast");
const lines = [];
for await (const line of readline.createInterface({ input: fs.createReadStream("f"), crlfDelay: Infinity }))
  lines.push(line);
console.log(lines);
const rl = readline.createInterface({ input: fs.createReadStream("f", { highWaterMark: 3 }) });
rl.on("line", (line) => console.log(JSON.stringify(line)));
await new Promise((resolve) => rl.on("close", resolve));
