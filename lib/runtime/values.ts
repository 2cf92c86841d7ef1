// Structured values as bytes, and strict JSON: how values cross between an agent and its runs.
//
// - The same file is compiled into the package and bundled into the isolate, so it imports nothing and
//   needs no API of a host. What it uses of the language it takes when it is loaded: code that changes
//   prototypes later changes nothing here.
// - Nothing is recursive: a value may be nested as deeply as the limits allow.
// - A getter or a proxy of the value runs once for each property, and can do no more than throw.
// - Bytes may come from code that nobody trusts. Every length is compared with what is there, so that
//   decoding them ends, and takes memory only in proportion to them.
//
// A value is a byte for its kind and what belongs to it; containers have their items behind them. Each
// container gets the next number when it begins, by which later ones refer to it: cycles and shared
// references stay what they are.
//
// Not here: who calls what with values.

const { isArray } = Array;
const { apply } = Reflect;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, is, keys, setPrototypeOf } = Object;
const { fromCharCode } = String;
const { isFinite: isFiniteNumber } = Number;
const { stringify } = JSON;
const { max, min } = Math;
const { isView } = ArrayBuffer;
const BigIntOf = BigInt;
const DateOf = Date;
const MapOf = Map;
const RegExpOf = RegExp;
const SetOf = Set;
const StringOf = String;
const Bytes = Uint8Array;
const Buffer = ArrayBuffer;
const View = DataView;
const AnyError = Error;
const WrongType = TypeError;
const OutOfRange = RangeError;
const errorPrototype: object = Error.prototype;

/** A method as a function whose first argument is `this`. */
const uncurried: <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (self: This, ...args: Args) => Result = Function.prototype.bind.bind(Function.prototype.call) as never;

/** The getter of a property, as a function. */
function getter<Result>(prototype: object, name: string | symbol): (self: unknown) => Result {
  return uncurried(getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => Result);
}

const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const mapSize = getter<number>(Map.prototype, "size");
const mapGet = uncurried(Map.prototype.get);
const mapSet = uncurried(Map.prototype.set);
const mapDelete = uncurried(Map.prototype.delete);
const mapForEach = uncurried(Map.prototype.forEach);
const setSize = getter<number>(Set.prototype, "size");
const setAdd = uncurried(Set.prototype.add);
const setHas = uncurried(Set.prototype.has);
const setDelete = uncurried(Set.prototype.delete);
const setForEach = uncurried(Set.prototype.forEach);
const dateTime = uncurried(Date.prototype.getTime);
const regExpSource = getter<string>(RegExp.prototype, "source");
const regExpFlags = getter<string>(RegExp.prototype, "flags");
const bigIntText = uncurried(BigInt.prototype.toString);
const tagOf = uncurried(Object.prototype.toString);
const charCodeAt = uncurried(String.prototype.charCodeAt);
const slice = uncurried(String.prototype.slice);
const setBytes = uncurried(Uint8Array.prototype.set);
const bufferLength = getter<number>(ArrayBuffer.prototype, "byteLength");
const viewBuffer = getter<ArrayBufferLike>(DataView.prototype, "buffer");
const viewOffset = getter<number>(DataView.prototype, "byteOffset");
const viewLength = getter<number>(DataView.prototype, "byteLength");
const arrayBuffer = getter<ArrayBufferLike>(typedArrayPrototype, "buffer");
const arrayOffset = getter<number>(typedArrayPrototype, "byteOffset");
const arrayLength = getter<number>(typedArrayPrototype, "byteLength");
const arrayKind = getter<string | undefined>(typedArrayPrototype, Symbol.toStringTag);

/** First byte of every encoded value. */
const FORMAT = 1;

/** Bytes of one encoded value, unless the caller says otherwise. */
export const VALUE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Values in one value, each container and each of its items. An encoded one takes two bytes, the object
 * itself some sixty: without this a small message could ask for much memory.
 */
export const VALUES_MAX = 1_000_000;

const UNDEFINED = 0;
const NULL = 1;
const FALSE = 2;
const TRUE = 3;
/** An integer of 32 bits: sign in the lowest bit. */
const INTEGER = 4;
const DOUBLE = 5;
/** Digits in hexadecimal; the second of them is negative. */
const BIGINT = 6;
const NEGATIVE_BIGINT = 7;
/** A text whose UTF-16 units all fit a byte, and one whose do not. */
const TEXT8 = 8;
const TEXT16 = 9;
const ARRAY = 10;
const OBJECT = 11;
const MAP = 12;
const SET = 13;
const DATE = 14;
const REGEXP = 15;
const TYPED_ARRAY = 16;
const DATA_VIEW = 17;
const ARRAY_BUFFER = 18;
const ERROR = 19;
const REFERENCE = 20;
/** Behind the last field of an error. */
const END = 21;

type TypedArray = { new (buffer: ArrayBuffer): ArrayBufferView; BYTES_PER_ELEMENT: number };

/** The place in this list is part of the format. */
const TYPED_ARRAYS: readonly (readonly [string, TypedArray | undefined])[] = [
  ["Uint8Array", Uint8Array],
  ["Int8Array", Int8Array],
  ["Uint8ClampedArray", Uint8ClampedArray],
  ["Int16Array", Int16Array],
  ["Uint16Array", Uint16Array],
  ["Int32Array", Int32Array],
  ["Uint32Array", Uint32Array],
  ["Float32Array", Float32Array],
  ["Float64Array", Float64Array],
  ["BigInt64Array", BigInt64Array],
  ["BigUint64Array", BigUint64Array],
  ["Float16Array", (globalThis as { Float16Array?: TypedArray }).Float16Array],
];

/** The classes of errors that become what they were; all others become an `Error` with their name. */
const ERRORS: readonly (readonly [string, new (message: string) => Error])[] = [
  ["Error", Error],
  ["TypeError", TypeError],
  ["RangeError", RangeError],
  ["SyntaxError", SyntaxError],
  ["ReferenceError", ReferenceError],
  ["EvalError", EvalError],
  ["URIError", URIError],
];

const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

/** A list that ignores what is done to the prototype of arrays. */
function list<T>(): T[] {
  return setPrototypeOf([], null) as T[];
}

/** How a value is encoded. */
export interface EncodeOptions {
  /** What the value is called in errors. */
  place?: string;
  /** Most bytes of the result. */
  bytesMax?: number;
}

/** A container whose items are being written. */
interface Opened {
  kind: number;
  value: Record<string | number, unknown>;
  /** Names of the properties, or the items of a map or set. */
  items: readonly unknown[] | undefined;
  count: number;
  /** The next item. */
  next: number;
  /** Of an error: where the field that is being written begins, in bytes and in numbered containers. */
  fieldStart: number;
  fieldNumber: number;
}

/** What a value looks like to those who are told that it cannot cross. */
function naming(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  const name = className(value as object);
  return name === undefined ? "an object of a class" : `an instance of ${name}`;
}

/** The name of an object's class, without running any of its code. */
function className(value: object): string | undefined {
  try {
    const prototype = getPrototypeOf(value) as object | null;
    const owner = prototype && getOwnPropertyDescriptor(prototype, "constructor")?.value;
    const name = typeof owner === "function" ? getOwnPropertyDescriptor(owner, "name")?.value : undefined;
    return typeof name === "string" && name !== "" ? slice(name, 0, 100) : undefined;
  } catch {
    return undefined;
  }
}

function withCode<E extends Error>(error: E, code: string): E {
  defineProperty(error, "code", {
    __proto__: null,
    value: code,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
  return error;
}

const NAME = /^[A-Za-z_$][\w$]*$/;
const exec = uncurried(RegExp.prototype.exec);

/** One step of a place: `.name`, `["a name"]`, `[3]`. */
function step({ kind, items, next }: Opened): string {
  const at = next - 1;
  if (kind === ARRAY) return `[${at}]`;
  if (kind === MAP) return at % 2 === 0 ? `<key ${at / 2}>` : `<value ${(at - 1) / 2}>`;
  if (kind === SET) return `<item ${at}>`;
  const name = items?.[at] as string;
  if (name.length > 100) return `[${stringify(`${slice(name, 0, 100)}…`)}]`;
  return exec(NAME, name) !== null ? `.${name}` : `[${stringify(name)}]`;
}

/** Where the open containers lead. The middle of a deep one is left out. */
function placeOf(root: string, opened: readonly Opened[]): string {
  let place = root;
  for (let at = 0; at < opened.length; at += 1) {
    if (at === 12 && opened.length > 24) {
      place += `… (${opened.length - 24} more) …`;
      at = opened.length - 12;
    }
    place += step(opened[at] as Opened);
  }
  return place;
}

function tooLarge(place: string, what: string): Error {
  return withCode(new OutOfRange(`ELIMIT: ${place} has more than ${what}`), "ELIMIT");
}

/** What has been written so far. */
class Writer {
  bytes = new Bytes(256);
  length = 0;
  readonly #capacityMax: number;
  readonly #tooLarge: () => Error;
  #capacity = 256;

  constructor(capacityMax: number, tooLarge: () => Error) {
    this.#capacityMax = capacityMax;
    this.#tooLarge = tooLarge;
  }

  /** Makes room for more bytes. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#capacity) return;
    if (needed > this.#capacityMax) throw this.#tooLarge();
    this.#capacity = max(needed, min(this.#capacity * 2, this.#capacityMax));
    const grown = new Bytes(this.#capacity);
    setBytes(grown, new Bytes(arrayBuffer(this.bytes) as ArrayBuffer, 0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** A number without sign, seven bits in a byte, lowest first. */
  count(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.length++] = (rest % 128) + 128;
      rest = (rest - (rest % 128)) / 128;
    }
    this.bytes[this.length++] = rest;
  }

  double(value: number): void {
    this.reserve(8);
    double[0] = value;
    for (let at = 0; at < 8; at += 1) this.bytes[this.length++] = doubleBytes[at] as number;
  }

  text(value: string): void {
    const units = value.length;
    let isWide = false;
    for (let at = 0; at < units && !isWide; at += 1) isWide = charCodeAt(value, at) > 255;
    this.byte(isWide ? TEXT16 : TEXT8);
    this.count(units);
    this.reserve(isWide ? units * 2 : units);
    const { bytes } = this;
    let end = this.length;
    for (let at = 0; at < units; at += 1) {
      const unit = charCodeAt(value, at);
      bytes[end++] = unit & 255;
      if (isWide) bytes[end++] = unit >> 8;
    }
    this.length = end;
  }

  raw(buffer: ArrayBufferLike, offset: number, length: number): void {
    this.count(length);
    this.reserve(length);
    setBytes(this.bytes, new Bytes(buffer as ArrayBuffer, offset, length), this.length);
    this.length += length;
  }

  done(): Uint8Array {
    const whole = new Bytes(this.length);
    setBytes(whole, new Bytes(arrayBuffer(this.bytes) as ArrayBuffer, 0, this.length));
    return whole;
  }
}

/**
 * A value as bytes.
 *
 * `undefined`, `null`, booleans, numbers, `bigint`, strings, arrays (holes become `undefined`), plain
 * objects, `Map`, `Set`, `Date`, `RegExp`, `ArrayBuffer` and its views, and errors, in any combination.
 * Of a view only the bytes that it shows go along, and a `Buffer` becomes a `Uint8Array`. Of an error go
 * along its name, message, `cause`, `errors`, and what it has as own fields, as far as that can cross;
 * never its stack.
 *
 * Throws an error with `code: "ERR_DATA_CLONE"` that names the place of what cannot cross, one with
 * `"ELIMIT"` for too much, and whatever a getter of the value throws.
 */
export function encode(
  value: unknown,
  { place = "value", bytesMax = VALUE_BYTES_MAX }: EncodeOptions = {},
): Uint8Array {
  const writer = new Writer(bytesMax, () => tooLarge(place, `the ${bytesMax} bytes that may be passed at once`));
  const opened = list<Opened>();
  /** Containers that were begun, by number, and their numbers. */
  const begun = list<object>();
  const numbers = new MapOf<object, number>();
  let values = 0;

  const refuse = (what: string): Error =>
    withCode(new WrongType(`${placeOf(place, opened)} is ${what}, which cannot be passed on`), "ERR_DATA_CLONE");

  const open = (kind: number, of: object, items: readonly unknown[] | undefined, count: number): void => {
    values += count;
    if (values > VALUES_MAX) throw tooLarge(place, `the ${VALUES_MAX} values that may be passed at once`);
    opened[opened.length] = {
      kind,
      value: of as Record<string | number, unknown>,
      items,
      count,
      next: 0,
      fieldStart: 0,
      fieldNumber: 0,
    };
  };

  const begin = (of: object): void => {
    mapSet(numbers, of, begun.length);
    begun[begun.length] = of;
  };

  const writeContainer = (of: object) => {
    if (isArray(of)) {
      begin(of);
      const { length } = of;
      writer.byte(ARRAY);
      writer.count(length);
      return open(ARRAY, of, undefined, length);
    }
    const prototype = getPrototypeOf(of) as object | null;
    if (prototype === null || getPrototypeOf(prototype) === null) {
      begin(of);
      const names = keys(of);
      writer.byte(OBJECT);
      writer.count(names.length);
      return open(OBJECT, of, names, names.length);
    }
    writeExotic(of);
  };

  const writeExotic = (of: object) => {
    if (isView(of)) return writeView(of);
    const map = attempt(() => mapSize(of));
    if (map !== undefined) {
      begin(of);
      const items = list<unknown>();
      mapForEach(of as Map<unknown, unknown>, (item, key) => {
        items[items.length] = key;
        items[items.length] = item;
      });
      writer.byte(MAP);
      writer.count(items.length / 2);
      return open(MAP, of, items, items.length);
    }
    if (attempt(() => setSize(of)) !== undefined) {
      begin(of);
      const items = list<unknown>();
      setForEach(of as Set<unknown>, (item) => {
        items[items.length] = item;
      });
      writer.byte(SET);
      writer.count(items.length);
      return open(SET, of, items, items.length);
    }
    const time = attempt(() => dateTime(of as Date));
    if (time !== undefined) {
      begin(of);
      writer.byte(DATE);
      return writer.double(time);
    }
    if (attempt(() => bufferLength(of)) !== undefined) {
      begin(of);
      writer.byte(ARRAY_BUFFER);
      return writer.raw(of as ArrayBuffer, 0, bufferLength(of));
    }
    if (isError(of)) return writeError(of);
    const source = isRegExp(of) ? attempt(() => regExpSource(of)) : undefined;
    if (source !== undefined) {
      begin(of);
      writer.byte(REGEXP);
      writer.text(source);
      return writer.text(StringOf(regExpFlags(of)));
    }
    throw refuse(naming(of));
  };

  const writeView = (of: ArrayBufferView) => {
    const name = arrayKind(of);
    begin(of);
    if (name === undefined) {
      writer.byte(DATA_VIEW);
      return writer.raw(viewBuffer(of), viewOffset(of), viewLength(of));
    }
    let kind = 0;
    while (kind < TYPED_ARRAYS.length && (TYPED_ARRAYS[kind] as readonly [string, unknown])[0] !== name) kind += 1;
    if (kind === TYPED_ARRAYS.length) throw refuse(naming(of));
    writer.byte(TYPED_ARRAY);
    writer.byte(kind);
    writer.raw(arrayBuffer(of), arrayOffset(of), arrayLength(of));
  };

  const writeError = (of: object): void => {
    begin(of);
    writer.byte(ERROR);
    writer.text(textField(of, "name", "Error"));
    writer.text(textField(of, "message", ""));
    const names = errorFields(of);
    open(ERROR, of, names, names.length);
  };

  const write = (item: unknown) => {
    switch (typeof item) {
      case "undefined":
        return writer.byte(UNDEFINED);
      case "boolean":
        return writer.byte(item ? TRUE : FALSE);
      case "string":
        return writer.text(item);
      case "number":
        if ((item | 0) === item && !is(item, -0)) {
          writer.byte(INTEGER);
          return writer.count(item < 0 ? -item * 2 - 1 : item * 2);
        }
        writer.byte(DOUBLE);
        return writer.double(item);
      case "bigint": {
        const digits = bigIntText(item, 16);
        writer.byte(item < 0n ? NEGATIVE_BIGINT : BIGINT);
        return writer.text(item < 0n ? slice(digits, 1) : digits);
      }
      case "object": {
        if (item === null) return writer.byte(NULL);
        const number = mapGet(numbers, item);
        if (number === undefined) return writeContainer(item);
        writer.byte(REFERENCE);
        return writer.count(number);
      }
      default:
        throw refuse(naming(item));
    }
  };

  /** Forgets the field of an error that is being written, if there is one. */
  const dropField = (): boolean => {
    let at = opened.length - 1;
    while (at >= 0 && (opened[at] as Opened).kind !== ERROR) at -= 1;
    if (at < 0) return false;
    const { fieldStart, fieldNumber } = opened[at] as Opened;
    opened.length = at + 1;
    writer.length = fieldStart;
    for (let number = fieldNumber; number < begun.length; number += 1) mapDelete(numbers, begun[number] as object);
    begun.length = fieldNumber;
    return true;
  };

  const writeNext = (container: Opened) => {
    const { kind, items, next } = container;
    container.next += 1;
    if (kind === ARRAY) return write(container.value[next]);
    const item = (items as unknown[])[next];
    if (kind === MAP || kind === SET) return write(item);
    if (kind === ERROR) {
      container.fieldStart = writer.length;
      container.fieldNumber = begun.length;
    }
    writer.text(item as string);
    write(container.value[item as string]);
  };

  writer.byte(FORMAT);
  write(value);
  while (opened.length > 0) {
    const container = opened[opened.length - 1] as Opened;
    if (container.next === container.count) {
      if (container.kind === ERROR) writer.byte(END);
      opened.length -= 1;
      continue;
    }
    try {
      writeNext(container);
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === "ELIMIT" || !dropField()) throw error;
    }
  }
  return writer.done();
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Also errors of other realms. */
function isError(value: object): boolean {
  let prototype = getPrototypeOf(value) as object | null;
  for (let depth = 0; prototype !== null && depth < 100; depth += 1) {
    if (prototype === errorPrototype) return true;
    prototype = getPrototypeOf(prototype) as object | null;
  }
  return tagOf(value) === "[object Error]" || tagOf(value) === "[object DOMException]";
}

function isRegExp(value: object): boolean {
  // The getter of `source` also answers for the prototype itself.
  return value !== RegExpOf.prototype && attempt(() => regExpSource(value)) !== undefined;
}

function textField(of: object, name: string, otherwise: string): string {
  const text = attempt(() => {
    const field = (of as Record<string, unknown>)[name];
    return field === undefined || field === null ? undefined : StringOf(field);
  });
  return text ?? otherwise;
}

/** Fields that many errors have without showing them. */
const HIDDEN_FIELDS = ["cause", "errors", "code", "path", "data"];

/** The names of what an error has besides name and message. */
function errorFields(of: object): string[] {
  const names = list<string>();
  const shown = keys(of);
  for (let at = 0; at < shown.length; at += 1) {
    const name = shown[at] as string;
    if (name !== "stack" && name !== "message" && name !== "name") names[names.length] = name;
  }
  for (let at = 0; at < HIDDEN_FIELDS.length; at += 1) {
    const name = HIDDEN_FIELDS[at] as string;
    const field = getOwnPropertyDescriptor(of, name);
    if (field && !field.enumerable) names[names.length] = name;
  }
  return names;
}

function malformed(): Error {
  return withCode(new AnyError("EPROTO: these bytes are no value"), "EPROTO");
}

/** Bytes that are being read. */
class Reader {
  readonly #buffer: ArrayBuffer;
  readonly #start: number;
  readonly #bytes: Uint8Array;
  readonly #length: number;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = arrayBuffer(bytes) as ArrayBuffer;
    this.#start = arrayOffset(bytes);
    this.#length = arrayLength(bytes);
    this.#bytes = new Bytes(this.#buffer, this.#start, this.#length);
  }

  get left(): number {
    return this.#length - this.#at;
  }

  byte(): number {
    if (this.#at >= this.#length) throw malformed();
    return this.#bytes[this.#at++] as number;
  }

  /** As `Writer.count` wrote it; at most 2⁵³. */
  count(): number {
    let value = 0;
    let factor = 1;
    for (let digit = 0; digit < 7; digit += 1) {
      const byte = this.byte();
      value += (byte % 128) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw malformed();
  }

  /** A number of things of which each takes at least so many bytes. */
  counted(bytesEach: number): number {
    const count = this.count();
    if (count * bytesEach > this.left) throw malformed();
    return count;
  }

  double(): number {
    if (this.left < 8) throw malformed();
    for (let at = 0; at < 8; at += 1) doubleBytes[at] = this.byte();
    return double[0] as number;
  }

  text(): string {
    const kind = this.byte();
    if (kind !== TEXT8 && kind !== TEXT16) throw malformed();
    return this.textOf(kind);
  }

  textOf(kind: number): string {
    const width = kind === TEXT16 ? 2 : 1;
    const units = this.counted(width);
    let text = "";
    for (let done = 0; done < units; ) {
      const length = min(units - done, 4096);
      const part = list<number>();
      for (let at = 0; at < length; at += 1) {
        const low = this.#bytes[this.#at++] as number;
        part[at] = width === 1 ? low : low + (this.#bytes[this.#at++] as number) * 256;
      }
      text += apply(fromCharCode, undefined, part);
      done += length;
    }
    return text;
  }

  /** Bytes as a buffer of their own. */
  raw(): ArrayBuffer {
    const length = this.counted(1);
    const buffer = new Buffer(length);
    setBytes(new Bytes(buffer), new Bytes(this.#buffer, this.#start + this.#at, length));
    this.#at += length;
    return buffer;
  }
}

/** A container whose items are still to be read. */
interface Filling {
  kind: number;
  target: unknown;
  left: number;
  /** Name of a property, or key of a map, whose value comes next. */
  key: unknown;
  hasKey: boolean;
}

/** How many values there may still be; decoding takes them away. */
export interface ValueBudget {
  left: number;
}

/**
 * The value that was encoded. Throws an error with `code: "EPROTO"` for bytes that `encode` did not make, and
 * one with `"ELIMIT"` for more values than the budget has.
 */
export function decode(bytes: Uint8Array, budget: ValueBudget = { left: VALUES_MAX }): unknown {
  const reader = new Reader(bytes);
  if (reader.byte() !== FORMAT) throw malformed();
  const filling = list<Filling>();
  const begun = list<object>();

  const take = (count: number): void => {
    if (count > budget.left) throw tooLarge("a value", `the ${VALUES_MAX} values that may be passed at once`);
    budget.left -= count;
  };

  const begin = <T extends object>(of: T): T => {
    begun[begun.length] = of;
    return of;
  };

  const fill = (kind: number, target: object, count: number): object => {
    take(kind === MAP ? count * 2 : count);
    filling[filling.length] = { kind, target, left: count, key: undefined, hasKey: false };
    return begin(target);
  };

  const readTypedArray = (): object => {
    const Kind = TYPED_ARRAYS[reader.byte()]?.[1];
    const buffer = reader.raw();
    if (Kind === undefined || bufferLength(buffer) % Kind.BYTES_PER_ELEMENT !== 0) throw malformed();
    return begin(new Kind(buffer));
  };

  const readRegExp = (): object => {
    const source = reader.text();
    const flags = reader.text();
    const made = attempt(() => new RegExpOf(source, flags));
    if (made === undefined) throw malformed();
    return begin(made);
  };

  const readBigInt = (isNegative: boolean): bigint => {
    const digits = reader.text();
    const made = attempt(() => BigIntOf(`0x${digits}`));
    if (made === undefined) throw malformed();
    return isNegative ? -made : made;
  };

  const readReference = (): object => {
    const of = begun[reader.count()];
    if (of === undefined) throw malformed();
    return of;
  };

  const readError = (): object => fill(ERROR, emptyError(reader.text(), reader.text()), 0);

  const read = (): unknown => {
    const kind = reader.byte();
    switch (kind) {
      case UNDEFINED:
        return undefined;
      case NULL:
        return null;
      case FALSE:
        return false;
      case TRUE:
        return true;
      case INTEGER: {
        const coded = reader.count();
        return coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
      }
      case DOUBLE:
        return reader.double();
      case BIGINT:
      case NEGATIVE_BIGINT:
        return readBigInt(kind === NEGATIVE_BIGINT);
      case TEXT8:
      case TEXT16:
        return reader.textOf(kind);
      case ARRAY:
        return fill(kind, [], reader.counted(1));
      case OBJECT:
        return fill(kind, {}, reader.counted(3));
      case MAP:
        return fill(kind, new MapOf(), reader.counted(2));
      case SET:
        return fill(kind, new SetOf(), reader.counted(1));
      case DATE:
        return begin(new DateOf(reader.double()));
      case REGEXP:
        return readRegExp();
      case TYPED_ARRAY:
        return readTypedArray();
      case DATA_VIEW:
        return begin(new View(reader.raw()));
      case ARRAY_BUFFER:
        return begin(reader.raw());
      case ERROR:
        return readError();
      case REFERENCE:
        return readReference();
      default:
        throw malformed();
    }
  };

  /** Reads the next item of a container; false if that was the last. */
  const readInto = (container: Filling): boolean => {
    const { kind, target } = container;
    if (kind === ERROR) {
      const tag = reader.byte();
      if (tag === END) return false;
      if (tag !== TEXT8 && tag !== TEXT16) throw malformed();
      take(1);
      setErrorField(target as object, reader.textOf(tag), read());
      return true;
    }
    if (container.left === 0) return false;
    if (kind === MAP && !container.hasKey) {
      container.hasKey = true;
      container.key = read();
      return true;
    }
    container.left -= 1;
    if (kind === ARRAY) {
      const array = target as unknown[];
      array[array.length] = read();
    } else if (kind === OBJECT) {
      setField(target as object, reader.text(), read());
    } else if (kind === SET) {
      setAdd(target as Set<unknown>, read());
    } else {
      container.hasKey = false;
      mapSet(target as Map<unknown, unknown>, container.key, read());
    }
    return true;
  };

  const root = read();
  while (filling.length > 0) {
    const depth = filling.length - 1;
    if (!readInto(filling[depth] as Filling)) removeAt(filling, depth);
  }
  if (reader.left > 0) throw malformed();
  return root;
}

/** A container is done only when those inside it are: so it is the last. */
function removeAt(filling: Filling[], depth: number): void {
  filling.length = depth;
}

function emptyError(name: string, message: string): Error {
  for (let at = 0; at < ERRORS.length; at += 1) {
    const known = ERRORS[at] as (typeof ERRORS)[number];
    if (known[0] === name) return new known[1](message);
  }
  const error = new AnyError(message);
  defineProperty(error, "name", hidden(name));
  return error;
}

function hidden(value: unknown): PropertyDescriptor {
  return { __proto__: null, value, writable: true, enumerable: false, configurable: true } as PropertyDescriptor;
}

function setErrorField(error: object, name: string, value: unknown): void {
  if (name === "stack" || name === "message" || name === "name") throw malformed();
  if (name === "cause" || name === "errors") defineProperty(error, name, hidden(value));
  else setField(error, name, value);
}

/** Sets an own property, whatever objects have by that name already. */
function setField(target: object, name: string, value: unknown): void {
  if (name in target) {
    const descriptor = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
    defineProperty(target, name, descriptor as PropertyDescriptor);
  } else {
    (target as Record<string, unknown>)[name] = value;
  }
}

/** Characters of an error's message that go along when the whole is too much. */
const MESSAGE_UNITS_MAX = 16 * 1024;

/** What was thrown, as bytes. Never throws: of what cannot cross, the message does. */
export function encodeError(thrown: unknown, options: EncodeOptions = {}): Uint8Array {
  const error = attempt(() => (typeof thrown === "object" && thrown !== null && isError(thrown) ? thrown : undefined));
  const whole = attempt(() => encode(error ?? plainError(thrown), options));
  if (whole !== undefined) return whole;
  const made = emptyError(
    slice(error ? textField(error, "name", "Error") : "Error", 0, 100),
    slice(error ? textField(error, "message", "") : plainError(thrown).message, 0, MESSAGE_UNITS_MAX),
  );
  const code = error && attempt(() => (error as { code?: unknown }).code);
  if (typeof code === "string" && code.length < 100) withCode(made, code);
  return encode(made);
}

/** An error that says what was thrown instead of one. */
function plainError(thrown: unknown): Error {
  if (typeof thrown === "object" && thrown !== null) {
    const message = attempt(() => (thrown as { message?: unknown }).message);
    const error = new AnyError(
      typeof message === "string" ? message : (attempt(() => StringOf(thrown)) ?? naming(thrown)),
    );
    const fields = ["code", "path", "data"] as const;
    for (let at = 0; at < fields.length; at += 1) {
      const name = fields[at] as string;
      const value = attempt(() => (thrown as Record<string, unknown>)[name]);
      if (value !== undefined) setField(error, name, value);
    }
    return error;
  }
  return new AnyError(attempt(() => StringOf(thrown)) ?? "unknown error");
}

/** What was thrown, from the bytes of `encodeError`; or the error that the core has, from its name, code and message. */
export function decodeError(answer: Uint8Array | readonly unknown[]): Error {
  if (isArray(answer)) {
    const error = emptyError(StringOf(answer[0]), StringOf(answer[2]));
    return typeof answer[1] === "string" ? withCode(error, answer[1]) : error;
  }
  const decoded = decode(answer as Uint8Array);
  if (typeof decoded === "object" && decoded !== null && isError(decoded)) return decoded as Error;
  throw malformed();
}

/** How JSON is made. */
export interface JsonOptions {
  /** Most characters of the result. */
  unitsMax?: number;
  /** Name of that limit. */
  limit?: string;
}

/** A container whose items are being written as JSON. */
interface OpenedJson extends Opened {
  hasItems: boolean;
}

/**
 * A value as JSON text that means exactly the value: for the input and the result of runs.
 *
 * Fields that are `undefined` are left out, and no value at all is `null`. Everything else that JSON does
 * not have is refused with a `TypeError` that names the place: `undefined` in arrays, `NaN`, `Infinity`,
 * `bigint`, functions, symbols, objects of a class, cycles. `toJSON` is not called.
 */
export function toJsonText(
  value: unknown,
  place: string,
  { unitsMax = VALUE_BYTES_MAX, limit }: JsonOptions = {},
): string {
  const opened = list<OpenedJson>();
  const above = new SetOf<object>();
  let text = "";

  const refuse = (what: string): Error =>
    withCode(new WrongType(`${placeOf(place, opened)} is ${what}, which is no JSON`), "ERR_DATA_CLONE");

  const open = (of: object): void => {
    if (setHas(above, of)) throw refuse("a reference to what contains it");
    const isList = isArray(of);
    if (!isList) {
      const prototype = getPrototypeOf(of) as object | null;
      if (prototype !== null && getPrototypeOf(prototype) !== null) throw refuse(naming(of));
    }
    const names = isList ? undefined : keys(of);
    const count = isList ? of.length : (names as string[]).length;
    setAdd(above, of);
    text += isList ? "[" : "{";
    opened[opened.length] = {
      kind: isList ? ARRAY : OBJECT,
      value: of as Record<string, unknown>,
      items: names,
      count,
      next: 0,
      fieldStart: 0,
      fieldNumber: 0,
      hasItems: false,
    };
  };

  const write = (item: unknown) => {
    switch (typeof item) {
      case "boolean":
        text += item ? "true" : "false";
        return;
      case "string":
        text += stringify(item);
        return;
      case "number":
        if (!isFiniteNumber(item)) throw refuse(StringOf(item));
        // JSON has a zero with a sign, though `JSON.stringify` does not write it.
        text += is(item, -0) ? "-0" : StringOf(item);
        return;
      case "object":
        if (item !== null) return open(item);
        text += "null";
        return;
      case "undefined":
        throw refuse("undefined");
      case "bigint":
        throw refuse("a bigint");
      default:
        throw refuse(naming(item));
    }
  };

  const writeNext = (container: OpenedJson) => {
    const { kind, items, next } = container;
    container.next += 1;
    const name = kind === OBJECT ? ((items as string[])[next] as string) : undefined;
    const item = container.value[name ?? next];
    if (name !== undefined && item === undefined) return;
    if (container.hasItems) text += ",";
    container.hasItems = true;
    if (name !== undefined) text += `${stringify(name)}:`;
    write(item);
  };

  if (value === undefined) return "null";
  write(value);
  while (opened.length > 0) {
    const container = opened[opened.length - 1] as OpenedJson;
    if (container.next === container.count) {
      text += container.kind === ARRAY ? "]" : "}";
      setDelete(above, container.value);
      opened.length -= 1;
    } else {
      writeNext(container);
    }
    if (text.length > unitsMax) {
      throw tooLarge(place, limit === undefined ? `${unitsMax} characters` : `the ${unitsMax} characters of ${limit}`);
    }
  }
  return text;
}
