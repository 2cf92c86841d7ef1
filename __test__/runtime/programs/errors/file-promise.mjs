import fs from "node:fs/promises";

await fs.rename("missing.txt", "to.txt");
