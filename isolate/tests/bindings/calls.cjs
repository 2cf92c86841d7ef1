/**
 * Calls of Node's internal bindings, each with its result on a line.
 *
 * Node runs it with `--expose-internals`, and the test runs it with the natives: the lines must be the
 * same. Arguments come from a seeded generator and stay within what Node's library passes: beyond
 * that, Node's own C++ ends the process.
 */

const inNode = typeof natives === "undefined";
const binding = inNode ? require("internal/test/binding").internalBinding : (name) => natives[name];
const write = inNode ? console.log : print;
const buffer = binding("buffer");
const url = binding("url");
const encoding = binding("encoding_binding");
const icu = binding("icu");
const decoder = binding("string_decoder");
const util = binding("util");
const types = binding("types");
const messaging = binding("messaging");

let state = 1;

/** The next number of the generator, from 0 up to 1. */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}

const below = (limit) => Math.floor(random() * limit);
const chance = (share) => random() < share;
const pick = (values) => values[below(values.length)];

/** A value as text without anything that differs between programs. */
function show(value) {
  if (typeof value === "string") {
    let text = "";
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      text += code >= 32 && code < 127 ? value[index] : `\\u${code.toString(16)}`;
    }
    return `"${text}"`;
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return String(value);
  if (typeof value === "function") return "function";
  if (value === null || typeof value !== "object") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(value)})`;
  if (value instanceof DataView) return `DataView(${value.byteLength})`;
  if (ArrayBuffer.isView(value)) return `${value[Symbol.toStringTag]}(${[...value]})`;
  if (value instanceof Map) return `Map(${[...value].map(show)})`;
  if (value instanceof Set) return `Set(${[...value].map(show)})`;
  if (value instanceof Date) return `Date(${+value})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}(${value.message},${show({ ...value })})`;
  if (Array.isArray(value)) return `[${value.map(show)}]`;
  return `{${Object.keys(value).map((key) => `${key}:${show(value[key])}`)}}`;
}

/** One line: what was called with what, and the outcome. */
function line(name, args, call) {
  let outcome;
  try {
    outcome = show(call(...args));
  } catch (error) {
    outcome = `throws ${error?.name} ${error?.code} ${error?.message} ${Object.keys(error ?? {})}`;
  }
  write(`${name} ${show(args)} => ${outcome}`);
}

const CHARACTERS = [..."abZ09+/-_= \n!\t%fF\0", "é", "ÿ", "Ā", "Ł", "€", "世", "😀", "\ud800", "\udc00"];
const BYTES = [0, 65, 127, 128, 191, 194, 226, 130, 172, 240, 159, 152, 128, 255, 237, 160, 216, 220, 239, 187];

function text(lengthMax, characters = CHARACTERS) {
  let result = "";
  for (let left = below(lengthMax + 1); left > 0; left--) result += pick(characters);
  return result;
}

/** Bytes on V8's heap if they are few, and outside of it at an odd address otherwise. */
function bytes(lengthMax, isOnHeap = chance(0.5)) {
  const length = below(lengthMax + 1);
  const result = isOnHeap ? new Uint8Array(length) : new Uint8Array(new ArrayBuffer(length + 80), 7, length);
  for (let index = 0; index < length; index++) result[index] = chance(0.6) ? pick(BYTES) : below(256);
  return result;
}

function slices() {
  const names = ["ascii", "base64", "base64url", "latin1", "hex", "ucs2", "utf8"];
  for (const name of names.map((name) => `${name}Slice`)) {
    for (let round = 0; round < 300; round++) {
      const source = bytes(chance(0.5) ? 70 : 300);
      const { length } = source;
      const odd = () => pick([-1, 0, 1, 3, 2.7, NaN, null, undefined, "x", Infinity, 1e12, length, length + 1]);
      const range = pick([[], [below(length + 1), below(length + 1)], [odd(), odd()]]);
      line(name, [source, ...range], buffer[name]);
    }
  }
}

function writes() {
  const digits = [..."0123456789abcdefABCDEF0123456789abcdef"];
  for (const name of ["base64Write", "base64urlWrite", "hexWrite", "ucs2Write"]) {
    for (let round = 0; round < 400; round++) {
      const target = new Uint8Array(new ArrayBuffer(200), 3, below(120));
      const { length } = target;
      const source =
        name === "hexWrite"
          ? text(90, chance(0.7) ? digits : [...digits, "g", "Ł", "\u0161"])
          : pick([text(60), text(90, [..."abcdefghijkXYZ0123456789+/"]) + pick(["", "=", "=="])]);
      const odd = [pick([-1, 0, 2.5, null, "1", length, length + 1]), pick([-1, 0, 2.5, null, "1", 1e9, undefined])];
      const range = pick([[], [below(length + 1), below(length + 3)], odd]);
      line(name, [target, source, ...range], (...args) => [buffer[name](...args), target]);
    }
  }
  for (const name of ["asciiWriteStatic", "latin1WriteStatic", "utf8WriteStatic"]) {
    for (let round = 0; round < 300; round++) {
      const target = pick([new Uint8Array(below(40)), new Uint8Array(new ArrayBuffer(200), 3, below(120))]);
      const offset = below(target.length + 1);
      const args = [target, text(60), offset, below(target.length - offset + 1)];
      line(name, args, () => [buffer[name](...args), target]);
    }
  }
  for (let round = 0; round < 300; round++) {
    line("text", [text(40)], (source) => [buffer.byteLengthUtf8(source), buffer.btoa(source), buffer.atob(source)]);
    line("atob", [text(40, [..."abcDEF012+/ \n"]) + pick(["", "=", "==", "==="])], buffer.atob);
  }
}

function comparing() {
  for (let round = 0; round < 300; round++) {
    const source = bytes(6);
    const target = chance(0.3) ? source.slice() : bytes(6);
    line("compare", [source, target], buffer.compare);
    const starts = [below(target.length + 2), below(source.length + 2)];
    const ends = [Math.max(starts[0], below(target.length + 1)), Math.max(starts[1], below(source.length + 1))];
    if (ends[0] > target.length || ends[1] > source.length) ends.length = 0;
    if (ends.length > 0) line("compareOffset", [source, target, ...starts, ...ends], buffer.compareOffset);
    line("isAscii", [source], buffer.isAscii);
    line("isUtf8", [source], buffer.isUtf8);
    const room = new Uint8Array(20);
    const [from, to] = [below(source.length + 1), below(20)];
    const args = [source, room, to, from, Math.min(source.length - from, 20 - to)];
    line("copy", args, () => [buffer.copy(...args), room]);
    const filled = Uint8Array.from({ length: 30 }, (_, index) => index);
    line("copy over itself", [from, to], () => [buffer.copy(filled, filled, from, to, 9), filled]);
    line("copyArrayBuffer", [from], () => [buffer.copyArrayBuffer(filled.buffer, 2, room.buffer, from, 5), filled]);
  }
  for (const name of ["swap16", "swap32", "swap64"]) {
    const units = Uint8Array.from({ length: 24 }, (_, index) => index);
    line(name, [], () => [buffer[name](units) && 0, units].slice(1));
  }
}

function filling() {
  const encodings = ["utf8", "hex", "latin1", "ascii", "ucs2", "base64", "UTF-8", undefined, "binary", "utf16le", "x"];
  for (let round = 0; round < 900; round++) {
    const target = new Uint8Array(below(12));
    const values = [text(4), bytes(4), below(600) - 100, true, null, 3.7, text(6, [..."0123456789abcdef"]), ""];
    const args = [target, pick(values), below(target.length + 2), below(target.length + 3), pick(encodings)];
    line("fill", args, () => [buffer.fill(...args), target]);
  }
}

function searching() {
  const [latin1, utf8, ucs2] = [4, 1, 3];
  for (let round = 0; round < 2000; round++) {
    const characters = ["a", "b", "é", "€"];
    const source = text(14, characters);
    let haystack = encoding.encodeUtf8String(source);
    if (chance(0.3)) {
      haystack = new Uint8Array(source.length * 2 + below(2));
      buffer.ucs2Write(haystack, source, 0, source.length * 2);
    }
    const { length } = haystack;
    const needle = pick([text(2, characters), source.slice(below(source.length + 1), below(source.length + 1))]);
    const offset = pick([0, below(30) - 15, length, -length, 2147483647, -2147483648]);
    const end = pick([length, length, below(length + 4), -below(length + 3), 0]);
    const how = [pick([utf8, utf8, ucs2, latin1]), chance(0.5), end];
    line("indexOfString", [haystack, needle, offset, ...how], buffer.indexOfString);
    const few = bytes(2);
    if (chance(0.5) && length > 0) few.fill(pick([...haystack]));
    line("indexOfBuffer", [haystack, few, offset, ...how], buffer.indexOfBuffer);
    line("indexOfNumber", [haystack, haystack[0] ?? 5, offset, how[1], end], buffer.indexOfNumber);
  }
}

function decodingInPieces() {
  for (let round = 0; round < 2500; round++) {
    const kept = new Uint8Array(7);
    kept[6] = pick([0, 1, 1, 1, 2, 3, 3, 4, 5, 7]);
    const pieces = Array.from({ length: 1 + below(5) }, () =>
      chance(0.5) ? bytes(5) : encoding.encodeUtf8String(text(4)).slice(below(3)),
    );
    line("decode", [kept[6], pieces], () => {
      const results = pieces.map((piece) => [decoder.decode(kept, piece), kept[4], kept[5]]);
      return [...results, kept[5] > 0 && decoder.flush(kept), kept[4], kept[5]];
    });
  }
}

function encodings() {
  for (let round = 0; round < 600; round++) {
    const target = new Uint8Array(below(30));
    line("encodeInto", [text(20)], (source) => {
      encoding.encodeInto(source, target);
      return [target, ...encoding.encodeIntoResults];
    });
    line("encodeUtf8String", [text(20)], encoding.encodeUtf8String);
    const source = bytes(chance(0.5) ? 12 : 100);
    const marked = chance(0.2) ? new Uint8Array([0xef, 0xbb, 0xbf, ...source]) : source;
    line("decodeUTF8", [marked, chance(0.5), chance(0.3)], encoding.decodeUTF8);
  }
  for (let round = 0; round < 1000; round++) {
    const [label, flags] = [pick(["utf-16le", "utf-16be"]), below(4) * 2];
    const converter = icu.getConverter(label, flags);
    const pieces = Array.from({ length: 1 + below(4) }, () => (chance(0.15) ? new Uint8Array([255, 254]) : bytes(6)));
    line("icu.decode", [label, flags, pieces], () =>
      pieces.map((piece, index) => icu.decode(converter, piece, index === pieces.length - 1 ? 1 : 0, label)),
    );
  }
  for (let round = 0; round < 800; round++) {
    const [from, to] = [0, 0].map(() => pick(["utf8", "ucs2", "latin1", "ascii", "utf16le", "binary", "hex"]));
    const source = chance(0.5) ? encoding.encodeUtf8String(`a${text(8)}`) : new Uint8Array([65, ...bytes(8)]);
    // From UTF-16 to what has single bytes, Node reads beyond its own buffer.
    line("transcode", [source, from, /ucs|utf16/.test(from) ? "utf8" : to], icu.transcode);
  }
  line("icuErrName", [], () => [0, 1, 10, 11, 12, 15, -7, 1e6].map(icu.icuErrName));
}

function widths() {
  for (let first = 0; first < 0x20000; first += 64) {
    // The middle of the ideographs is all the same.
    if (first > 0x3400 && first < 0x9f00) continue;
    line("getStringWidth", [first], () => {
      const characters = Array.from({ length: 64 }, (_, index) => String.fromCodePoint(first + index));
      return characters.map((character) => `${icu.getStringWidth(character)}${icu.getStringWidth(character, true)}`);
    });
  }
  const parts = ["a", "世", "😀", "\u200d", "👩", "🏽", "é", "\u0301", "\ud800", "❤", "\ufe0f"];
  for (let round = 0; round < 300; round++) {
    line("getStringWidth", [text(12, parts), chance(0.5), chance(0.5)], icu.getStringWidth);
  }
}

const SCHEMES = [
  "http:",
  "https:",
  "file:",
  "ws:",
  "wss:",
  "ftp:",
  "mailto:",
  "data:",
  "blob:http:",
  "foo:",
  "",
  "1a:",
];
const HOSTS = [
  ...[
    "a",
    "example.com",
    "ex%41mple.com",
    "[::1]",
    "[1:2::3]",
    "[::1.2.3.4]",
    "127.1",
    "0x7f.1",
    "1.2.3.4.5",
    "256.1.1.1",
  ],
  ...["ä.de", "xn--4ca.de", "xn--a", "a b", "a_b", "EXAMPLE", "faß.de", "日本語.jp", "", "a..b", "-a-", "%00", "a<b"],
  ...[
    "a^b",
    "[",
    "localhost",
    "\u00ad",
    "a\u200db",
    "１２７.1",
    "español.com",
    "xn--iñvalid.com",
    "☃.net",
    "a/b",
    "a@b",
  ],
];
const PORTS = ["", "", ":80", ":443", ":8080", ":65535", ":65536", ":", ":x", ":0"];
const CREDENTIALS = ["", "", "u@", "u:p@", ":p@", "@", "u:@", "ü:%@", "a:b:c@"];
const PATHS = [
  ...["", "/", "/a/b", "/a/../b", "/./", "/%2e%2e/x", "a", "\\a\\b", "/ä b", "/a//b", "/C:/x", "/C|/x", "..", "/[x]|^"],
  ...["/\0", "/a;b=c", "?", "/😀", "/\ud800x", " /x "],
];
const QUERIES = ["", "", "?", "?a=b", "?a b'\"<>", "?ä", "?\ud800", "?a#", "?%zz"];
const HASHES = ["", "", "#", "#x", "#ä `", "#a#b"];

function anyUrl() {
  if (chance(0.1)) return text(12, [..."a:/?#@[]\\. %2e\tä"]);
  const slashes = pick(["//", "//", "//", "/", "", "\\\\", "///"]);
  return [SCHEMES, [slashes], CREDENTIALS, HOSTS, PORTS, PATHS, QUERIES, HASHES].map(pick).join("");
}

function urls() {
  const parsed = (href) => [href, href ? [...url.urlComponents] : undefined];
  const valid = [];
  for (let round = 0; round < 6000; round++) {
    const args = [anyUrl(), chance(0.5) ? undefined : anyUrl()];
    line("parse", args, () => parsed(url.parse(...args, true)));
    line("canParse", args, () => (args[1] === undefined ? url.canParse(args[0]) : url.canParse(...args)));
    const href = url.parse(args[0], undefined, false);
    if (href && valid.length < 300) valid.push(href);
  }
  for (let round = 0; round < 4000; round++) {
    const values = [anyUrl(), pick(HOSTS) + pick(PORTS), pick(PATHS), pick(QUERIES), pick(HASHES), pick(SCHEMES)];
    const args = [pick(valid), below(10), pick([...values, String(below(70000)), "", "u p:ä"])];
    line("update", args, () => parsed(url.update(...args)));
  }
  for (const href of valid) {
    line("getOrigin", [href], url.getOrigin);
    line("format", [href, chance(0.5), chance(0.7), chance(0.5), chance(0.5)], url.format);
  }
  for (const host of HOSTS) {
    line("domains", [host], () => [url.domainToASCII(host), url.domainToUnicode(host)]);
    line("idna", [host], () => [encoding.toASCII(host), encoding.toUnicode(host)]);
  }
  for (let round = 0; round < 500; round++) {
    const path = `/${text(12, [..."a/%\\\n\r\t?#ä\"<>`{}|^~[]':;@&=+$,. \0\x7f", "😀", "\ud800"])}`;
    const args = [path, chance(0.3), pick([undefined, "host", "ä", "h st", "", "a/b"])];
    if (!args[1]) args.length = 2;
    line("pathToFileURL", args, () => parsed(url.pathToFileURL(...args)));
  }
}

function values() {
  const tokens = [..."AB=\n \"'`#x\t=", "export ", "\\n", "\r\n", "C=", "D=1\n"];
  for (let round = 0; round < 8000; round++) line("parseEnv", [text(24, tokens)], util.parseEnv);

  const [pending, fulfilled, rejected] = [new Promise(() => {}), Promise.resolve(4), Promise.reject(5)];
  rejected.catch(() => {});
  line("getPromiseDetails", [], () => [pending, fulfilled, rejected, {}].map((it) => util.getPromiseDetails(it)));
  const proxy = new Proxy({ a: 1 }, { x: 2 });
  const revocable = Proxy.revocable({}, {});
  revocable.revoke();
  for (const it of [proxy, revocable.proxy, {}]) {
    line("getProxyDetails", [], () => [util.getProxyDetails(it), util.getProxyDetails(it, true)]);
    line("getProxyDetails", [], () => util.getProxyDetails(it, false));
  }
  const key = {};
  const map = new Map([[1, 2]]);
  const set = new Set([1, 2]);
  const collections = [map, set, map.keys(), map.values(), map.entries(), set.values(), set.entries()];
  for (const it of [...collections, new WeakMap([[key, 1]]), new WeakSet([key]), [1], {}, 5, null]) {
    line("previewEntries", [], () => [util.previewEntries(it), util.previewEntries(it, true)]);
  }
  const described = Object.create(
    { inherited: 1 },
    {
      5: { enumerable: true, value: 1 },
      hidden: { value: 1 },
      [Symbol("s")]: { enumerable: true, value: 1 },
      shown: { enumerable: true, value: 1 },
    },
  );
  for (let filter = 0; filter < 32; filter++) {
    for (const it of [described, [1, 2], new Uint8Array(3)]) {
      line("getOwnNonIndexProperties", [filter], () => util.getOwnNonIndexProperties(it, filter));
    }
  }
  class Base {}
  const objects = [new Base(), {}, [], Object.create(null), new (class extends Base {})(), () => {}, map];
  line("getConstructorName", [], () => objects.map((it) => util.getConstructorName(it)));

  const functions = [() => {}, async () => {}, function* () {}, async function* () {}, class {}];
  const generator = (function* () {})();
  const boxed = [1, "", true, 1n, Symbol("s")].map(Object);
  const buffers = [new ArrayBuffer(1), new SharedArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Uint8Array(1)];
  const others = [1, "", null, undefined, Symbol("s"), 1n, {}, [], new Date(0), /x/, new Error(""), new WeakRef({})];
  const weak = [new WeakMap(), new WeakSet()];
  const made = [Object.create(Error.prototype), Object.create(Date.prototype), proxy, pending, generator];
  const all = [...functions, ...boxed, ...buffers, ...others, ...weak, ...made, ...collections];
  for (const name of Object.keys(types)
    .filter((name) => name.startsWith("is"))
    .sort()) {
    // Those that Node's library has in JavaScript are not Node's C++.
    if (name !== "isDataView" && name !== "isEventTarget")
      line(name, [], () => all.map((it) => +types[name](it)).join(""));
  }
}

function clones() {
  const clone = (value, transfer = []) => messaging.structuredClone(value, { transfer });
  const data = [
    ...[1, "x", 1n, null, undefined, true, NaN, -0, {}, { a: { b: [1, 3] } }, new Date(5), /x/gi, new Set(["a"])],
    ...[new Map([[1, { a: 1 }]]), new Uint8Array([1, 2]), new Float64Array([1.5]), new ArrayBuffer(3), [1, [2, [3]]]],
    ...[
      new Error("m"),
      Object.assign(new TypeError("x"), { code: "C" }),
      "\ud800",
      "世",
      Object.create({ inherited: 1 }),
    ],
    ...[Object("s"), Object(1n), Object(false), new DataView(new ArrayBuffer(2))],
  ];
  for (const value of data) line("structuredClone", [value], (it) => clone(it));
  const refused = [
    () => 1,
    Symbol("q"),
    new WeakMap(),
    new WeakRef({}),
    Promise.resolve(),
    { f() {} },
    new Proxy({}, {}),
  ];
  for (const value of refused) line("structuredClone", [], () => clone(value));
  const thrower = {
    get value() {
      throw new Error("thrown by a getter");
    },
  };
  line("structuredClone", [], () => clone(thrower));
  for (const entry of [1, "x", null, {}, [], new Uint8Array(3), new SharedArrayBuffer(2)]) {
    line("transfer", [entry], () => clone(1, [entry]));
  }
  line("transfer", [], () => {
    const data = new ArrayBuffer(3);
    const view = new Uint8Array(data).fill(7);
    const received = clone({ data, view }, [data]);
    return [received, data.byteLength, view.length, received.data === received.view.buffer];
  });
  line("transfer twice", [], () => {
    const data = new ArrayBuffer(3);
    return clone(data, [data, data]);
  });
  for (const list of [(data) => [data], () => []]) {
    line("detached", [], () => {
      const data = new ArrayBuffer(3);
      clone(data, [data]);
      return clone(data, list(data));
    });
  }
  line("detached by a getter", [], () => {
    const data = new ArrayBuffer(3);
    const value = {
      get first() {
        clone(data, [data]);
        return 1;
      },
      data,
    };
    return clone(value, [data]);
  });
  line("resizable", [], () => {
    const received = clone(new ArrayBuffer(3, { maxByteLength: 9 }));
    return [received.resizable, received.maxByteLength];
  });
  line("shared", [], () => {
    const data = new SharedArrayBuffer(2);
    const received = clone([data, data]);
    new Uint8Array(data)[1] = 5;
    return [new Uint8Array(received[0]), received[0] === received[1]];
  });
  line("WebAssembly's memory", [], () => {
    const { buffer } = new WebAssembly.Memory({ initial: 1 });
    return clone(buffer, [buffer]);
  });
  line("WebAssembly's module", [], () => {
    const empty = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    return clone(empty) instanceof WebAssembly.Module;
  });
}

if (!inNode) {
  class DOMException extends Error {
    constructor(message, name) {
      super(message);
      Object.defineProperty(this, "name", { value: name });
      Object.defineProperty(this, "code", { value: 25 });
    }
  }
  encoding.encodeIntoResults = new Uint32Array(2);
  encoding.setEncodeIntoResults(encoding.encodeIntoResults);
  messaging.setHooks({ DOMException, transferMode: Symbol("mode"), untransferable: Symbol("untransferable") });
}

const sections = [
  slices,
  writes,
  comparing,
  filling,
  searching,
  decodingInPieces,
  encodings,
  widths,
  urls,
  values,
  clones,
];
for (const section of sections) {
  write(`# ${section.name}`);
  // Each has its own numbers, so that a new one changes no other.
  state = section.name.length;
  section();
}
