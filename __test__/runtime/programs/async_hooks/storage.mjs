import { AsyncLocalStorage, AsyncResource, executionAsyncId } from "node:async_hooks";
import { EventEmitter } from "node:events";
import fs from "node:fs";

const storage = new AsyncLocalStorage();
const where = (name) => console.log(name, storage.getStore());
where("outside");
await storage.run("run", async () => {
  where("sync");
  await null;
  where("after await");
  await new Promise((resolve) => setTimeout(resolve, 1));
  where("after timer");
  await fs.promises.writeFile("f", "x");
  where("after file promise");
  await new Promise((resolve) => fs.readFile("f", () => (where("file callback"), resolve())));
  process.nextTick(where, "tick");
  queueMicrotask(() => where("microtask"));
  setImmediate(() => where("immediate"));
  storage.exit(() => where("exit"));
  storage.run({ nested: 1 }, () => where("nested"));
  where("back");
  await new Promise((resolve) => setImmediate(resolve));
});
where("outside again");
storage.enterWith("entered");
where("entered");
const bound = AsyncResource.bind(() => where("bound"));
const snapshot = AsyncLocalStorage.snapshot();
const emitter = new EventEmitter();
emitter.on("e", () => where("emitter"));
storage.run("other", () => {
  bound();
  snapshot(() => where("snapshot"));
  emitter.emit("e");
});
console.log(
  AsyncLocalStorage.bind(() => storage.getStore())(),
  new AsyncLocalStorage({ defaultValue: 5, name: "n" }).getStore(),
);
const resource = new AsyncResource("Mine");
console.log(
  resource.runInAsyncScope((a) => a + 1, null, 1),
  typeof executionAsyncId(),
  resource.constructor.name,
);
storage.disable();
where("disabled");
class Thenable {
  then(resolve) {
    where("then");
    resolve("thened");
  }
}
storage.run("thenable", async () => console.log(await new Thenable()));
