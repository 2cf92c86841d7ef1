process.on("exit", (code) => {
  console.log("exit", code);
  process.exitCode = 5;
});
throw new Error("then exit");
