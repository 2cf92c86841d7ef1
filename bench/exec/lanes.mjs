// Work that is done so many at a time.

/** Calls `work` `count` times, `together` of them at a time. */
export async function inLanes(count, together, work) {
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      begun++;
      await work();
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, count) }, lane));
}
