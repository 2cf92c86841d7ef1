import { Console } from "node:console";
import { Writable } from "node:stream";

let text = "";
const stream = new Writable({
  write(chunk, _encoding, callback) {
    text += chunk;
    callback();
  },
});
const mine = new Console({ stdout: stream, stderr: stream, groupIndentation: 4, inspectOptions: { depth: 0 } });
mine.time("t");
mine.timeLog("t", "extra", { a: { b: 1 } });
mine.timeEnd("t");
mine.timeEnd("t");
mine.time();
mine.time();
mine.timeEnd();
mine.group("g");
mine.error({ a: { b: 1 } });
mine.groupEnd();
console.log(text.replaceAll(/: [\d.]+(ms|s)/g, ": N"));
try {
  new Console();
} catch (error) {
  console.log(error.name, error.code, error.message);
}
console.timeEnd("never");
