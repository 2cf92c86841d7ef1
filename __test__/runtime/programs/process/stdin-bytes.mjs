// options: {"stdin": "héllo"}
const pieces = [];
for await (const piece of process.stdin) pieces.push(piece);
console.log(Buffer.concat(pieces), Buffer.isBuffer(pieces[0]));
