process.exitCode = 3;
process.on("beforeExit", (code) => console.log("beforeExit", code));
process.on("exit", (code) => console.log("exit", code, process.exitCode));
console.log("run");
