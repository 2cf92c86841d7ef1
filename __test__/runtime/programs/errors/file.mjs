import fs from "node:fs";

fs.readFileSync("missing.txt");
