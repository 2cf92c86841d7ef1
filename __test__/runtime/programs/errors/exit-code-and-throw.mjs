process.exitCode = 8;
throw new Error("has an exit code");
