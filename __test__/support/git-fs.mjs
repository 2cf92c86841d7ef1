// The file system that isomorphic-git asks for, over the `fs` of a workspace: `node:fs/promises` in
// the parts that it uses.

/** What `stat` of Node gives, as far as git's index keeps it. */
function nodeStat({ isFile, isDirectory, isSymbolicLink, mode, size, inode, mtime, ctime }) {
  const type = isDirectory ? 0o040_000 : isSymbolicLink ? 0o120_000 : 0o100_000;
  return {
    isFile: () => isFile,
    isDirectory: () => isDirectory,
    isSymbolicLink: () => isSymbolicLink,
    mode: type | mode,
    size,
    ino: inode,
    mtimeMs: mtime,
    ctimeMs: ctime,
    dev: 1,
    uid: 1,
    gid: 1,
  };
}

/** The `fs` to pass to isomorphic-git. */
export function gitFs(fs) {
  return {
    promises: {
      async readFile(path, options) {
        const encoding = typeof options === "string" ? options : options?.encoding;
        if (encoding) return fs.readFile(path, encoding);
        return new Uint8Array(await new Response(await fs.readFile(path)).arrayBuffer());
      },
      writeFile: (path, content, options) => fs.writeFile(path, content, options?.mode && { mode: options.mode }),
      unlink: (path) => fs.rm(path),
      readdir: async (path) => (await fs.readdir(path)).map(({ name }) => name),
      mkdir: async (path) => {
        await fs.mkdir(path);
      },
      rmdir: (path) => fs.rm(path),
      stat: async (path) => nodeStat(await fs.stat(path)),
      lstat: async (path) => nodeStat(await fs.lstat(path)),
      readlink: (path) => fs.readlink(path),
      symlink: (target, path) => fs.symlink(target, path),
      chmod: (path, mode) => fs.chmod(path, mode),
    },
  };
}
