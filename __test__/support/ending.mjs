// What is to be done when a test is over, the last thing first: a folder is removed after the
// processes that write to it have ended.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const endings = new WeakMap();

/** Does `work` when the test `t` is over, also if it failed. */
export function atEnd(t, work) {
  if (!endings.has(t)) {
    endings.set(t, []);
    t.after(async () => {
      for (const one of endings.get(t).reverse()) await one();
    });
  }
  endings.get(t).push(work);
}

/** A new folder. */
export function folderFor(t) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "carrel-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
