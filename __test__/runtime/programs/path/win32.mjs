import { win32 } from "node:path";

console.log(win32.join("C:\\a", "..", "b"), win32.normalize("c:/x/../y"), win32.resolve("C:\\x", "..\\y", "z"));
console.log(win32.parse("C:\\dir\\f.txt"), win32.relative("C:\\a\\b", "C:\\a\\c"), win32.basename("C:\\a\\b.c", ".c"));
console.log(
  win32.isAbsolute("C:/"),
  win32.isAbsolute("\\\\srv\\share"),
  win32.dirname("\\\\srv\\share\\x"),
  win32.toNamespacedPath("C:\\x"),
);
