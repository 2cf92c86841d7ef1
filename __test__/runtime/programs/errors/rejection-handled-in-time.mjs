const promise = Promise.reject(new Error("in time"));
await null;
promise.catch((error) => console.log("caught", error.message));
await new Promise((resolve) => setTimeout(resolve, 1));
console.log("goes on");
