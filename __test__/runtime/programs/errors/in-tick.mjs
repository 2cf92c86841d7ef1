process.nextTick(() => {
  throw new Error("in tick");
});
