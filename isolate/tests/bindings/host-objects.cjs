/**
 * Clones of objects of the library: those that are made again from data, those that are transferred,
 * and those whose other side is made by their own method. Writes a line for each failed check.
 */

"use strict";

const { messaging } = natives;

function check(name, actual, expected) {
  if (!Object.is(actual, expected)) print(`${name}: ${String(actual)} instead of ${String(expected)}`);
}

function refusal(name, call, expected) {
  try {
    call();
    print(`${name}: not refused`);
  } catch (error) {
    check(name, `${error.domName ?? error.name}: ${error.message}`, expected);
  }
}

const mode = Symbol("mode");
const untransferable = Symbol("untransferable");
const [clone, transfer, transferList, deserialize] = ["clone", "transfer", "list", "deserialize"].map(Symbol);

class DOMException extends Error {
  constructor(message, name) {
    super(message);
    this.domName = name;
  }
}

class Point {
  constructor(x) {
    this[mode] = 2;
    this.x = x;
  }

  [clone]() {
    return { data: { next: this.next, x: this.x }, deserializeInfo: "Point" };
  }

  [deserialize]({ next, x }) {
    this.next = next;
    this.x = x;
  }
}

class Stream {
  constructor(port) {
    this[mode] = 1;
    this.port = port;
  }

  [transfer]() {
    return { data: this.port, deserializeInfo: "Stream" };
  }

  [transferList]() {
    return [this.port];
  }

  [deserialize](port) {
    this.port = port;
  }
}

class Port {
  constructor() {
    this[mode] = 1;
  }

  [transfer]() {
    const port = new Port();
    port.before = this;
    return { object: port };
  }
}

const classes = { Point, Stream };
const create = (deserializeInfo) => new classes[deserializeInfo]();
messaging.setHooks({
  DOMException,
  clone,
  create,
  deserialize,
  transfer,
  transferList,
  transferMode: mode,
  untransferable,
});

const cloneOf = (value, list = []) => messaging.structuredClone(value, { transfer: list });

const first = new Point(3);
first.next = new Point(4);
first.next.next = first;
const copy = cloneOf({ again: first, first, list: [first.next] });
check("class", copy.first instanceof Point && copy.first !== first, true);
check("data", copy.first.next.x, 4);
check("identity", copy.again, copy.first);
check("cycle", copy.first.next.next, copy.first);
check("inside a list", copy.list[0], copy.first.next);

const port = new Port();
const stream = new Stream(port);
const received = cloneOf(stream, [stream]);
check("transferred", received instanceof Stream && received !== stream, true);
check("what is transferred along", received.port.before, port);
check("inside a value", cloneOf({ port }, [port]).port.before, port);
check("not in the value", cloneOf(1, [port]), 1);

const TRANSFER_UNSUPPORTED = "DataCloneError: Cannot transfer object of unsupported type.";
const CLONE_UNSUPPORTED = "DataCloneError: Cannot clone object of unsupported type.";
const NOT_LISTED = "DataCloneError: Object that needs transfer was found in message but not listed in transferList";
refusal("not listed", () => cloneOf(port), NOT_LISTED);
refusal("twice", () => cloneOf(1, [port, port]), "DataCloneError: Transfer list contains duplicate host object");
const neither = { [mode]: 0 };
refusal("neither, cloned", () => cloneOf(neither), CLONE_UNSUPPORTED);
refusal("neither, transferred", () => cloneOf(1, [neither]), TRANSFER_UNSUPPORTED);
const pool = new ArrayBuffer(4);
pool[untransferable] = true;
refusal("untransferable", () => cloneOf(pool, [pool]), TRANSFER_UNSUPPORTED);
check("untransferable, cloned", cloneOf(pool).byteLength, 4);

const broken = new Point(1);
broken[clone] = () => {
  throw new Error("thrown by a method");
};
refusal("method that throws", () => cloneOf(broken), "Error: thrown by a method");
for (const method of [5, () => null, () => 1]) {
  broken[clone] = method;
  refusal("method that is none", () => cloneOf(broken), CLONE_UNSUPPORTED);
}
broken[clone] = () => ({ data: broken, deserializeInfo: "Point" });
check("data that is the object", cloneOf(broken) instanceof Point, true);

let deep = {};
for (let depth = 0; depth < 100_000; depth++) deep = { deep };
refusal("deep", () => cloneOf(deep), "RangeError: Maximum call stack size exceeded");

const written = messaging.serialize({ list: [1, new Map([[1, 2]])] });
check("serialized", messaging.deserialize(written).list[1].get(1), 2);
refusal("serialized object of the library", () => messaging.serialize(first), CLONE_UNSUPPORTED);
refusal(
  "no value",
  () => messaging.deserialize(new Uint8Array([255, 15, 92, 5])),
  "Error: Unable to deserialize cloned data.",
);
print("done");
