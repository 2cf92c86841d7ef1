import events, { addAbortListener, EventEmitterAsyncResource, getMaxListeners, setMaxListeners } from "node:events";

const target = new EventTarget();
setMaxListeners(5, target);
console.log(
  getMaxListeners(target),
  events === events.EventEmitter,
  events.listenerCount(new events(), "x"),
  Object.keys(events).sort().join(" "),
);
const controller = new AbortController();
const disposable = addAbortListener(controller.signal, (event) => console.log("abort", event.type));
controller.abort();
console.log(typeof disposable[Symbol.dispose]);
const resource = new EventEmitterAsyncResource({ name: "Q" });
resource.on("x", () => console.log("x"));
resource.emit("x");
class Mine extends events {
  constructor() {
    super();
    this.own = 1;
  }
}
console.log(new Mine(), Object.keys(new Mine()));
