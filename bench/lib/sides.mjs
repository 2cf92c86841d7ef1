// Loading what is compared, so far as it is there.

/** The sides that are there, carrel first. `why` tells of each other one why it is not. */
export async function gatherSides(names, load) {
  const sides = [];
  const why = new Map();
  for (const name of names) {
    try {
      sides.push(await load(name));
    } catch (error) {
      if (name === "carrel") throw error;
      const isMissing = error.code === "ERR_MODULE_NOT_FOUND";
      why.set(name, isMissing ? "it could not be installed" : error.message.split("\n")[0]);
    }
  }
  return { sides, why };
}
