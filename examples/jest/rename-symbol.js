// A tool that an agent may call: renames an identifier in all JavaScript files of its workspace.

/** Returns the files that were changed. Either all of them are changed or none is. */
export async function renameSymbol(workspace, oldName, newName) {
  for (const name of [oldName, newName]) {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new TypeError(`not an identifier: ${name}`);
  }
  return await workspace.transaction(async (fs) => {
    const matches = await fs.grep(`\\b${oldName}\\b`, "/workspace", { regex: true, include: "**/*.js" });
    const paths = [...new Set(matches.map(({ path }) => path))];
    for (const path of paths) {
      const source = await fs.readFile(path, "utf8");
      await fs.writeFile(path, source.replaceAll(new RegExp(`\\b${oldName}\\b`, "g"), newName));
    }
    return paths;
  });
}
