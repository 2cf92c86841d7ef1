await null;
queueMicrotask(() => console.log("not shown"));
process.exit(0);
