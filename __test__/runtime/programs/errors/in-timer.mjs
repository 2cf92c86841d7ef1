process.on("exit", (code) => console.log("exit", code));
setTimeout(() => {
  throw new SyntaxError("in timer");
}, 1);
setTimeout(() => console.log("not shown"), 1000);
