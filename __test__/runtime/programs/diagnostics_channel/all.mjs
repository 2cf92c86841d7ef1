import diagnostics from "node:diagnostics_channel";

const channel = diagnostics.channel("mine");
const seen = (message, name) => console.log(name, message);
console.log(channel.hasSubscribers, diagnostics.hasSubscribers("mine"));
diagnostics.subscribe("mine", seen);
channel.publish({ a: 1 });
console.log(
  channel.hasSubscribers,
  channel,
  diagnostics.unsubscribe("mine", seen),
  diagnostics.unsubscribe("mine", seen),
);
const tracing = diagnostics.tracingChannel("op");
tracing.subscribe({
  start: (m) => console.log("start", m),
  end: (m) => console.log("end", m),
  error: (m) => console.log("error", m.error.message),
  asyncStart: () => console.log("asyncStart"),
  asyncEnd: () => console.log("asyncEnd"),
});
console.log(tracing.traceSync((x) => x * 2, { ctx: 1 }, null, 4));
console.log(await tracing.tracePromise(async (x) => x + 1, {}, null, 1));
try {
  tracing.traceSync(() => {
    throw new Error("inside");
  });
} catch (error) {
  console.log(error.message);
}
