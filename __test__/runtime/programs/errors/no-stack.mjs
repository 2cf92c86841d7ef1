const error = new Error("message");
error.stack = undefined;
throw error;
