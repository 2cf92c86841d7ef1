setTimeout(() => console.log("not shown"), 1000);
Promise.reject(new Error("nobody catches"));
