const error = new Error("message");
error.stack = "a stack of its own";
throw error;
