import os from "node:os";

console.log(
  os.EOL === "\n",
  os.devNull,
  typeof os.cpus().length,
  os.constants.signals.SIGKILL,
  os.constants.errno.ENOENT,
  os.endianness(),
  typeof os.totalmem(),
  os.type(),
  os.platform(),
  os.arch() === process.arch,
  Object.keys(os).sort().join(" "),
);
