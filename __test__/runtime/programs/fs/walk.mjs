import fs from "node:fs/promises";
import path from "node:path";

await fs.mkdir("src/a/b", { recursive: true });
for (const [name, text] of Object.entries({
  "src/one.js": "let a;\n",
  "src/a/two.js": "let b;\nlet c;\n",
  "src/a/b/three.txt": "text",
  "src/.hidden": "",
}))
  await fs.writeFile(name, text);
async function* walk(folder) {
  for (const entry of (await fs.readdir(folder, { withFileTypes: true })).sort((a, b) =>
    a.name.localeCompare(b.name),
  )) {
    const full = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else yield full;
  }
}
export default async () => {
  const sizes = {};
  for await (const file of walk("src")) sizes[file] = (await fs.readFile(file, "utf8")).split("\n").length;
  const lines = Object.entries(sizes).filter(([name]) => path.extname(name) === ".js");
  console.table(lines.map(([name, count]) => ({ name, count })));
  return { sizes, total: lines.reduce((sum, [, count]) => sum + count, 0) };
};
