import fs from "node:fs/promises";

await fs.writeFile("f", "x".repeat(1000));
for (const call of [(signal) => fs.readFile("f", { signal }), (signal) => fs.writeFile("g", "y", { signal })]) {
  try {
    console.log(await call(AbortSignal.abort()));
  } catch (error) {
    console.log(error.name, error.code, error.message, error.cause?.name);
  }
  const controller = new AbortController();
  const pending = call(controller.signal);
  controller.abort(new Error("enough"));
  try {
    console.log(await pending);
  } catch (error) {
    console.log(error.name, error.code, error.message, error.cause);
  }
}
