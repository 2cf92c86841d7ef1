const { port1, port2 } = new MessageChannel();
const next = (port) => new Promise((resolve) => port.addEventListener("message", resolve, { once: true }));
port1.start();
port2.start();
port2.on("close", () => console.log("two closed"));
port1.addEventListener("close", () => console.log("one closed"));
port1.postMessage({ map: new Map([[1, 2]]) });
const event = await next(port2);
console.log(event.data, event.type, event.target === port2, event.ports.length, event.constructor.name);
const bytes = new Uint8Array([1, 2, 3]);
port2.postMessage(bytes, [bytes.buffer]);
port2.postMessage("second");
console.log(bytes.length, (await next(port1)).data, (await next(port1)).data);
port2.onmessage = ({ data }) => console.log("handler", data);
for (let index = 0; index < 3; index++) port1.postMessage(index);
port1.postMessage("over");
while ((await next(port2)).data !== "over");
const inner = new MessageChannel();
port1.postMessage({ port: inner.port1 }, [inner.port1]);
const { data } = await next(port2);
inner.port2.postMessage("through");
data.port.start();
console.log((await next(data.port)).data);
inner.port2.close();
for (const call of [
  () => port1.postMessage(() => {}),
  () => new MessagePort(),
  () => port1.postMessage(1, [port1]),
  () => port1.postMessage(),
]) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log(port1.constructor.name, new MessageEvent("x", { data: 5 }).data);
port1.close();
