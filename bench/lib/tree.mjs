// A tree of text that looks like source code, the same at every run.

const WORDS =
  "account active anchor argument array balance batch binding branch bridge buffer bundle cache cancel chain channel chunk clause client clock closure cluster code collect column commit config cursor daemon data decode default delta depth device digest document driver element encode engine entry error event export factory fallback feature fetch field file filter flag format frame function gateway graph group handle handler hash header heap index inode input insert instance interval iterator journal kernel label layer ledger length limit link list listener loader local lock logger manifest mapper marker matrix member memory merge message method metric module monitor mutex name native network node number object offset option order output package packet page parser patch path payload pipeline plugin pointer policy pool prefix process promise property protocol proxy query queue range reader record reducer region registry release render report request resolve resource result retry route router sample schedule schema scope script search segment select sequence server service session shard signal size slice socket source stack state status store stream string struct symbol table target task template thread token trace transform tree trigger tuple type union update upload user value vector verify version view visitor watch weight window worker wrapper writer zone".split(
    " ",
  );

/** In about one file of a hundred, three times. */
export const LITERAL = "resolveSnapshotOwner";

/** Lines that begin a function with a name of certain words, some hundred of them per 10 MB. */
export const REGEX = "async function \\w+(Ledger|Quota)\\w*\\(";

/** In no file. */
export const ABSENT = "thisNameIsNowhere";

const FILES_PER_DIRECTORY = 100;
const LINES = 250;

/** `count` files of about 10 KB, as [path, text]; three in four are `.ts`. */
export function* sourceTree(root, count) {
  const random = generator(20_240_229);
  for (let index = 0; index < count; index++) {
    const directory = Math.floor(index / FILES_PER_DIRECTORY);
    const extension = index % 4 === 3 ? "md" : "ts";
    const path = `${root}/packages/part-${directory % 10}/src/area-${directory}/file-${index}.${extension}`;
    yield [path, text(random, index)];
  }
}

function text(random, index) {
  const word = () => WORDS[Math.floor(random() * WORDS.length)];
  const title = () => word().replace(/^./, (letter) => letter.toUpperCase());
  const lines = [`// File ${index}: ${word()} of the ${word()}.`, ""];
  while (lines.length < LINES) {
    const kind = random();
    if (kind < 0.05) lines.push(`export async function ${word()}${title()}${title()}(${word()}, options = {}) {`);
    else if (kind < 0.1) lines.push("}", "");
    else if (kind < 0.2) lines.push(`  // The ${word()} keeps its ${word()} until the ${word()} is gone.`);
    else if (kind < 0.5) lines.push(`  const ${word()}${title()} = await ${word()}.${word()}(${word()}, ${index});`);
    else if (kind < 0.8) lines.push(`  if (${word()}.${word()} !== undefined) return ${word()}.${word()}();`);
    else lines.push(`    throw new ${title()}Error("the ${word()} has no ${word()}", { cause: ${word()} });`);
  }
  if (index % 97 === 5) for (const at of [20, 90, 200]) lines[at] = `  ${LITERAL}(${word()}, ${at});`;
  return `${lines.join("\n")}\n`;
}

/** Numbers in [0, 1) from a seed: mulberry32, by Ettinger. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
