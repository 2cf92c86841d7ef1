// A lane: a directory of its own in which one operation follows the other, each chosen by the seed
// and what the ones before have left. Whoever knows the seed and how many were made knows the tree.
//
// A state is plain data. Contents are lists of [id, bytes]: the first bytes of what belongs to the id.

import { chance, hashOf, inPieces, uniqueBytes } from "./chance.mjs";

const FOLDERS = ["d0", "d1"];
const NAMES = ["f0", "f1", "f2", "d0/f0", "d0/f1", "d1/f0", "d1/f1"];
const LINKS = ["l0", "d0/l1"];
const STREAM_PIECE_BYTES = 150_000;

/** The state of a lane in which nothing was done yet. Its directory exists. */
export function newLane(base) {
  return { base, index: 0, contents: 0, folders: [], files: {}, inodes: {}, links: {} };
}

/** The next operation, and the state after it. */
export function step(seed, state) {
  const dice = chance(seed, state.base, state.index);
  const after = structuredClone(state);
  const changes = [];
  const count = dice.happens(0.15) ? 2 + dice.below(4) : 1;
  while (changes.length < count) changes.push(change(after, dice));
  after.index += 1;
  return { operation: { changes, isTransaction: count > 1 }, after };
}

/** Makes an operation on the workspace. */
export async function perform(workspace, { base }, { changes, isTransaction }) {
  if (!isTransaction) return make(workspace.fs, base, changes[0]);
  await workspace.transaction(async (fs) => {
    for (const one of changes) await make(fs, base, one);
  });
}

async function make(fs, base, [verb, ...args]) {
  const at = (name) => `${base}/${name}`;
  switch (verb) {
    case "write":
      return fs.writeFile(at(args[0]), uniqueBytes(...args[1]));
    case "stream":
      return fs.writeFile(at(args[0]), inPieces(uniqueBytes(...args[1]), STREAM_PIECE_BYTES));
    case "append":
      return fs.appendFile(at(args[0]), uniqueBytes(...args[1]));
    case "truncate":
      return fs.truncate(at(args[0]), args[1]);
    case "symlink":
      return fs.symlink(args[0], at(args[1]));
    case "rm":
      return fs.rm(at(args[0]), { recursive: true });
    case "mkdir":
      return fs.mkdir(at(args[0]));
    default:
      // rename, link, copyFile
      return fs[verb](at(args[0]), at(args[1]));
  }
}

/** Chooses a change that is possible, and makes it in `state`. */
function change(state, dice) {
  const free = (names) => names.filter((name) => !name.includes("/") || state.folders.includes(name.split("/", 1)[0]));
  const names = free(NAMES);
  const there = Object.keys(state.files);
  const name = dice.pick(names);
  const some = there.length > 0 ? dice.pick(there) : undefined;
  const content = (bytes) => [`${state.base} ${++state.contents}`, bytes];
  const put = (one) => {
    const id = state.files[name] ?? `i${++state.contents}`;
    state.files[name] = id;
    state.inodes[id] = one;
  };

  const folder = dice.pick(FOLDERS);
  const link = dice.pick(free(LINKS));
  const roll = dice.below(100);
  if (roll < 25) {
    const one = content(dice.below(dice.happens(0.6) ? 3_000 : 90_000));
    put([one]);
    return ["write", name, one];
  }
  if (roll < 35) {
    const one = content(550_000 + dice.below(900_000));
    put([one]);
    return ["stream", name, one];
  }
  if (roll < 50) {
    const one = content(1 + dice.below(dice.happens(0.8) ? 2_000 : 200_000));
    put([...(state.inodes[state.files[name]] ?? []), one]);
    return ["append", name, one];
  }
  if (roll < 55 && some) {
    const id = state.files[some];
    const length = dice.below(sizeOf(state.inodes[id]) + 1);
    state.inodes[id] = cut(state.inodes[id], length);
    return ["truncate", some, length];
  }
  if (roll < 65 && some && some !== name) {
    // Two names of one file: rename does nothing then.
    if (state.files[name] !== state.files[some]) {
      state.files[name] = state.files[some];
      delete state.files[some];
      forget(state);
    }
    return ["rename", some, name];
  }
  if (roll < 70 && some && some !== name) {
    put(state.inodes[state.files[some]]);
    return ["copyFile", some, name];
  }
  if (roll < 75 && some && !(name in state.files)) {
    state.files[name] = state.files[some];
    return ["link", some, name];
  }
  if (roll < 80 && !(link in state.links)) {
    state.links[link] = `to ${state.contents}`;
    return ["symlink", state.links[link], link];
  }
  if (roll < 85 && some) {
    remove(state, some);
    return ["rm", some];
  }
  if (state.folders.includes(folder)) {
    const other = FOLDERS.find((one) => one !== folder);
    if (roll < 95 && !state.folders.includes(other)) {
      move(state, folder, other);
      return ["rename", folder, other];
    }
    remove(state, folder);
    return ["rm", folder];
  }
  state.folders.push(folder);
  return ["mkdir", folder];
}

function remove(state, path) {
  const isGone = (name) => name === path || name.startsWith(`${path}/`);
  for (const name of Object.keys(state.files)) if (isGone(name)) delete state.files[name];
  for (const name of Object.keys(state.links)) if (isGone(name)) delete state.links[name];
  state.folders = state.folders.filter((name) => !isGone(name));
  forget(state);
}

function move(state, from, to) {
  const moved = (name) => (name.startsWith(`${from}/`) ? to + name.slice(from.length) : name);
  const all = (table) => Object.fromEntries(Object.entries(table).map(([name, value]) => [moved(name), value]));
  state.files = all(state.files);
  state.links = all(state.links);
  state.folders = state.folders.map((name) => (name === from ? to : name));
}

function forget(state) {
  const named = new Set(Object.values(state.files));
  for (const id of Object.keys(state.inodes)) if (!named.has(id)) delete state.inodes[id];
}

function sizeOf(parts) {
  return parts.reduce((sum, [, bytes]) => sum + bytes, 0);
}

function cut(parts, length) {
  const kept = [];
  let left = length;
  for (const [id, bytes] of parts) {
    if (left === 0) break;
    kept.push([id, Math.min(bytes, left)]);
    left -= kept.at(-1)[1];
  }
  return kept;
}

function contentOf(parts) {
  return Buffer.concat(parts.map(([id, bytes]) => uniqueBytes(id, bytes)));
}

const hashes = new Map();

function expectedHash(parts) {
  const key = JSON.stringify(parts);
  if (!hashes.has(key)) hashes.set(key, hashOf(contentOf(parts)));
  return hashes.get(key);
}

/** What there should be: path to a line of text. */
export function expectedTree(state) {
  const lines = {};
  const names = Object.values(state.files);
  for (const name of state.folders) lines[name] = "directory";
  for (const [name, target] of Object.entries(state.links)) lines[name] = `link to ${target}`;
  for (const [name, id] of Object.entries(state.files)) {
    const count = names.filter((other) => other === id).length;
    lines[name] = `file of ${count} names, ${sizeOf(state.inodes[id])} bytes, ${expectedHash(state.inodes[id])}`;
  }
  return sorted(lines);
}

/** What there is, in the same form. */
export async function actualTree(fs, { base }) {
  const lines = {};
  for (const { path, type } of await fs.find(base)) {
    const name = path.slice(base.length + 1);
    if (type === "dir") lines[name] = "directory";
    else if (type === "symlink") lines[name] = `link to ${await fs.readlink(path)}`;
    else {
      const { nlink, size } = await fs.lstat(path);
      const pieces = [];
      for await (const piece of await fs.readFile(path)) pieces.push(piece);
      lines[name] = `file of ${nlink} names, ${size} bytes, ${hashOf(Buffer.concat(pieces))}`;
    }
  }
  return sorted(lines);
}

function sorted(lines) {
  return Object.fromEntries(Object.entries(lines).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The contents of all files of a lane. */
export function contentsOf(state) {
  return Object.values(state.inodes).map(contentOf);
}
