import { Duplex, PassThrough, Transform } from "node:stream";

const upper = new Transform({
  transform(chunk, _encoding, callback) {
    this.push(String(chunk).toUpperCase());
    callback(null, "|");
  },
  flush(callback) {
    callback(null, "flushed");
  },
});
upper.write("a");
upper.write("b");
upper.end("c");
console.log((await upper.toArray()).join(""));
const pass = new PassThrough();
pass.end("through");
for await (const chunk of pass) console.log(String(chunk));
const duplex = Duplex.from(async function* (source) {
  for await (const chunk of source) yield `<${chunk}>`;
});
duplex.end("in");
console.log((await duplex.toArray()).map(String));
const own = new Duplex({
  read() {
    this.push("read side");
    this.push(null);
  },
  write(chunk, _encoding, callback) {
    console.log("write side", String(chunk));
    callback();
  },
  allowHalfOpen: false,
});
own.write("x");
console.log(String(await own.toArray()));
const bad = new Transform({
  transform(chunk, encoding, callback) {
    callback(new Error("bad chunk"));
  },
});
bad.on("error", (error) => console.log(error.message));
bad.write("x");
console.log(Duplex.from(["a"]) instanceof Duplex, await Duplex.from(Promise.resolve("p")).toArray());
