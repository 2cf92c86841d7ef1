import fs from "node:fs";

const stream = fs.createWriteStream("f");
for (let index = 0; index < 1000; index++) stream.write(`row ${index}\n`);
stream.end();
export default () =>
  new Promise((resolve) => stream.on("finish", () => resolve(fs.readFileSync("f", "utf8").split("\n").length)));
