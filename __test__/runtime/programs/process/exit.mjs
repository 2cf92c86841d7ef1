process.on("exit", (code) => {
  console.log("exit", code);
  process.exitCode = 9;
});
setTimeout(() => console.log("not shown"), 1);
console.log("before");
process.exit(4);
console.log("not shown");
