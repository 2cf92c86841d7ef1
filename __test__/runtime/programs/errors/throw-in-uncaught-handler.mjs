process.on("uncaughtException", (error) => {
  console.log("handler", error.message);
  throw new Error("second");
});
throw new Error("first");
