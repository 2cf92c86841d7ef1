for await (const piece of process.stdin) console.log("not shown", piece);
console.log("end");
