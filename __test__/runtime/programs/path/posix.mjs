import path from "node:path";

for (const call of [
  () => path.join("/a", "..", "b", "./c", ""),
  () => path.resolve("x", "../y"),
  () => path.resolve("/x", "y", "/z"),
  () => path.normalize("//a///b/../c/."),
  () => path.relative("/a/b/c", "/a/d"),
  () => path.relative("a", "a/b"),
  () => [path.basename("/a/b.txt"), path.basename("/a/b.txt", ".txt"), path.basename("/a/")],
  () => [path.dirname("/a/b"), path.dirname("a"), path.dirname("/")],
  () => [path.extname("a.b.c"), path.extname(".x"), path.extname("a.")],
  () => path.parse("/home/x.tar.gz"),
  () => path.format({ dir: "/d", name: "n", ext: "e" }),
  () => [path.isAbsolute("/a"), path.isAbsolute("a")],
  () => [path.sep, path.delimiter, path.toNamespacedPath("/x"), path === path.posix],
  () => [path.matchesGlob("/a/b.js", "/a/*.js"), path.matchesGlob("/a/b.ts", "/a/*.js")],
  () => path.join(1),
  () => path.basename("a", 5),
  () => path.parse(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
