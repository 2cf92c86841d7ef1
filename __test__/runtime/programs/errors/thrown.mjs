console.log("before");
throw new Error("plain message");
