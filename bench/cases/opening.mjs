// Opening an existing small database, and the first answer from it.

export const names = ["open"];

const TIMES = 20;

export async function run(bench) {
  const sides = bench.stores().filter(({ id, isMemory }) => id !== "node" && !isMemory);
  const directories = new Map();
  for (const side of sides) {
    const directory = bench.directory(side);
    directories.set(side, directory);
    const store = await side.open({ directory, durability: "normal" });
    await store.mkdir("/workspace/src");
    for (let index = 0; index < 100; index++) await store.write(`/workspace/src/file-${index}.ts`, `// ${index}\n`);
    await store.close();
  }
  await bench.rounds(sides, async (side) => {
    for (let time = 0; time < TIMES; time++) {
      const options = { directory: directories.get(side), durability: "normal" };
      const start = performance.now();
      const store = await side.open(options);
      const opened = performance.now();
      await store.stat("/workspace/src/file-7.ts");
      const answered = performance.now();
      bench.record({ name: "open", unit: "µs" }, side, (opened - start) * 1000);
      bench.record({ name: "open and stat a file", unit: "µs" }, side, (answered - start) * 1000);
      await store.close();
    }
  });
}
