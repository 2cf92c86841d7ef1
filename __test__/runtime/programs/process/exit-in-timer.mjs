setTimeout(() => process.exit(), 1);
setInterval(() => {}, 1000);
process.exitCode = 7;
