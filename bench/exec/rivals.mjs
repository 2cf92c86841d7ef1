// Where the packages are that runs are compared with: apart from those of the other benchmarks, which
// should not have to fetch a whole `workerd`.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The directory with their `package.json`. */
export const rivals = dirname(fileURLToPath(import.meta.url));
