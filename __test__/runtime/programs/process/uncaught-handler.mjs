process.on("uncaughtExceptionMonitor", (error, origin) => console.log("monitor", error.message, origin));
process.on("uncaughtException", (error, origin) => console.log("handler", error.message, origin));
process.on("unhandledRejection", (reason, promise) => console.log("rejection", reason.message, promise));
setTimeout(() => {
  throw new Error("thrown");
}, 1);
setTimeout(() => {
  const promise = Promise.reject(new Error("rejected"));
  setTimeout(() => promise.catch(() => console.log("handled late")), 1);
}, 5);
process.on("rejectionHandled", () => console.log("rejectionHandled"));
