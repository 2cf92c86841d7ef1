// The sides of the comparison. A side is a module with
//
//   name, version       for the head of the table
//   open({ directory, durability, tree }) → store
//
// and a store has those of these methods that the side can do; a case that needs another one leaves the
// side out. Paths begin with `/`.
//
//   mkdir(path)  write(path, text)  stat(path)  read(path) → text  rm(path)
//   readdir(path) → how many  rename(from, to)
//   fill(files)                     files: iterable of [path, text]; parents too, in as few steps as may be
//   writeStream(path, source)       source: async iterable of bytes
//   readStream(path) → async iterable of bytes  readRange(path, offset, length) → bytes
//   find(directory, glob) → how many  grep(pattern, directory, { isRegex }) → how many lines
//   close()

const NAMES = ["carrel", "node", "sqlite", "agentfs", "memfs", "ripgrep"];

/** The sides that are there, carrel first. `why` tells of each other one why it is not. */
export async function loadSides() {
  const sides = [];
  const why = new Map();
  for (const name of NAMES) {
    try {
      sides.push(await loadSide(name));
    } catch (error) {
      if (name === "carrel") throw error;
      const isMissing = error.code === "ERR_MODULE_NOT_FOUND";
      why.set(name, isMissing ? "it could not be installed" : error.message.split("\n")[0]);
    }
  }
  return { sides, why };
}

/** One side, by the name of its file. */
export async function loadSide(id) {
  return { id, ...(await import(`./${id}.mjs`)) };
}
