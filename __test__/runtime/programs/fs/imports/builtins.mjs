const names = [
  "assert",
  "assert/strict",
  "async_hooks",
  "buffer",
  "console",
  "crypto",
  "diagnostics_channel",
  "events",
  "fs",
  "fs/promises",
  "os",
  "path",
  "path/posix",
  "path/win32",
  "perf_hooks",
  "punycode",
  "querystring",
  "stream",
  "stream/consumers",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "timers",
  "timers/promises",
  "url",
  "util",
  "util/types",
  "zlib",
];
for (const name of names) {
  const bare = await import(name);
  const full = await import(`node:${name}`);
  console.log(
    name,
    bare === full,
    typeof full.default,
    Object.keys(full)
      .filter((key) => key !== "default" && !["createTask", "module.exports"].includes(key))
      .sort()
      .join(" "),
  );
}
