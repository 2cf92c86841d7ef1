// Whether an operation costs the same however much there is.

export const names = ["scale"];

const SIZES = [1_000, 100_000];
const LARGE = 1_000_000;

/** Sides that take hours, or gigabytes, to be filled. */
const NOT_A_MILLION = ["agentfs", "memfs", "node"];

const FILES_PER_DIRECTORY = 1000;
const STATS = 5000;
const CREATES = 1000;

export async function run(bench) {
  const sizes = bench.isQuick ? SIZES.slice(0, 1) : bench.isLarge ? [...SIZES, LARGE] : SIZES;
  for (const size of sizes) {
    const stores = new Map();
    for (const side of bench.stores({ except: size === LARGE ? NOT_A_MILLION : [] })) {
      const store = await side.open({ directory: bench.directory(side), durability: "normal" });
      for (let group = 0; group * FILES_PER_DIRECTORY < size; group++) await store.mkdir(directoryOf(group));
      await store.fill(files(size));
      stores.set(side, store);
    }
    let created = 0;
    await bench.rounds([...stores.keys()], async (side) => {
      const store = stores.get(side);
      const label = size.toLocaleString("en");
      const anywhere = (count) => Array.from({ length: count }, () => pathOf(Math.floor(Math.random() * size)));
      const old = anywhere(STATS);
      const fresh = anywhere(CREATES).map((path) => `${path}.${created++}`);
      await bench.time({ name: `scale: stat among ${label}` }, side, STATS, async () => {
        for (const path of old) await store.stat(path);
      });
      await bench.time({ name: `scale: create among ${label}` }, side, CREATES, async () => {
        for (const path of fresh) await store.write(path, contentOf(created));
      });
    });
    for (const store of stores.values()) await store.close();
    for (const side of stores.keys()) bench.directory(side);
  }
  bench.note("scale: files anywhere in directories of 1,000.");
}

const directoryOf = (group) => `/workspace/groups/group-${group}`;
const pathOf = (index) => `${directoryOf(Math.floor(index / FILES_PER_DIRECTORY))}/file-${index}.ts`;
const contentOf = (index) => `// ${index} ${Math.random()}\n`.padEnd(1024, "text ");

function* files(count) {
  for (let index = 0; index < count; index++) yield [pathOf(index), contentOf(index)];
}
