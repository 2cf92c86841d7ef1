async function* pages() {
  for (let page = 0; page < 5; page++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    yield Array.from({ length: 3 }, (_, index) => page * 3 + index);
  }
}
export default async () => {
  let sum = 0;
  for await (const page of pages()) for (const value of page) sum += value;
  return { sum, output: console.log("summed", sum) ?? null };
};
