let times = 0;
process.on("beforeExit", () => {
  if (++times < 3) setTimeout(() => console.log("again", times), 1);
});
process.on("exit", () => console.log("exit after", times));
