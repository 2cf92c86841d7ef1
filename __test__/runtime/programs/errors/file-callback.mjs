import fs from "node:fs";

fs.readFile("missing.txt", (error) => {
  throw error;
});
