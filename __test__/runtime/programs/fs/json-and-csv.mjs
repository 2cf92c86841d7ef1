import fs from "node:fs";

fs.writeFileSync("data.csv", "name,age\nann,31\nbob,29\n");
const [header, ...rows] = fs
  .readFileSync("data.csv", "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split(","));
const people = rows.map((row) =>
  Object.fromEntries(row.map((value, index) => [header[index], Number.isNaN(Number(value)) ? value : Number(value)])),
);
fs.writeFileSync("data.json", `${JSON.stringify(people, null, 2)}\n`);
console.log(JSON.parse(fs.readFileSync("data.json")), fs.statSync("data.json").size);
export default { people, average: people.reduce((sum, { age }) => sum + age, 0) / people.length };
