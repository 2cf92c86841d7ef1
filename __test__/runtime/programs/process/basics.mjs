console.log(
  process.platform,
  process.arch.length > 2,
  process.version,
  process.versions.node,
  process.release.name,
  process.cwd(),
  process.title.length > 0,
  process.execArgv.length >= 0,
  process.argv.length,
  process.exitCode,
  process.uptime() > 0,
  process.umask().toString(8),
  typeof process.pid,
  process.stdout.isTTY,
  process.stdin.isTTY,
);
const [seconds, nanoseconds] = process.hrtime();
console.log(
  typeof seconds,
  typeof nanoseconds,
  process.hrtime([seconds, nanoseconds])[0],
  typeof process.hrtime.bigint(),
  Object.keys(process.memoryUsage()),
  typeof process.cpuUsage().user,
  Object.prototype.toString.call(process),
  process.constructor.name,
  process === globalThis.process,
);
process.emitWarning("careful", { code: "W1", type: "MyWarning", detail: "more" });
process.on("warning", (warning) => console.log(warning.name, warning.code, warning.message, warning.detail));
for (const call of [
  () => process.hrtime("x"),
  () => process.emitWarning(5),
  () => (process.exitCode = "abc"),
  () => (process.exitCode = 1.5),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
