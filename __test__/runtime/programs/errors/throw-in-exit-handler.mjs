process.on("exit", () => {
  throw new Error("in exit handler");
});
console.log("fine");
