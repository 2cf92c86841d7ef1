/**
 * `internalBinding('util')` and `internalBinding('types')`: what V8 knows about a value.
 *
 * Looking into promises, proxies and iterators is native. What JavaScript can do is done here.
 */

import { late, lateAll, whenNative } from "../late.js";
import { primordials, privateSymbols } from "../primordials.js";

const {
  ArrayBuffer,
  ObjectDefineProperty,
  PromisePrototypeThen,
  StringPrototypeIsWellFormed,
  StringPrototypeToWellFormed,
  Uint32Array,
  globalThis,
} = primordials;

// V8 leaves it out of the context that a snapshot is made of.
let SharedArrayBuffer;
let sharedArrayBufferGrowable;
whenNative(() => {
  SharedArrayBuffer = globalThis.SharedArrayBuffer;
  sharedArrayBufferGrowable = primordials.ObjectGetOwnPropertyDescriptor(SharedArrayBuffer.prototype, "growable").get;
});

export const types = lateAll("types", [
  "isExternal",
  "isDate",
  "isArgumentsObject",
  "isBigIntObject",
  "isBooleanObject",
  "isNumberObject",
  "isStringObject",
  "isSymbolObject",
  "isBoxedPrimitive",
  "isNativeError",
  "isRegExp",
  "isAsyncFunction",
  "isGeneratorFunction",
  "isGeneratorObject",
  "isPromise",
  "isMap",
  "isSet",
  "isMapIterator",
  "isSetIterator",
  "isWeakMap",
  "isWeakSet",
  "isDataView",
  "isSharedArrayBuffer",
  "isProxy",
  "isModuleNamespaceObject",
  "isAnyArrayBuffer",
]);
// The library asks it of its own buffers while it is loaded.
types.isArrayBuffer = late("types", "isArrayBuffer", (value) => value instanceof ArrayBuffer);

export const constants = {
  __proto__: null,
  ALL_PROPERTIES: 0,
  ONLY_CONFIGURABLE: 4,
  ONLY_ENUMERABLE: 2,
  ONLY_WRITABLE: 1,
  SKIP_STRINGS: 8,
  SKIP_SYMBOLS: 16,
  kCloneable: 2,
  kDisallowCloneAndTransfer: 0,
  kExitCode: 1,
  kExiting: 0,
  kFulfilled: 1,
  kHasExitCode: 2,
  kPending: 0,
  kRejected: 2,
  kTransferable: 1,
};

/** What `defineLazyProperties` loads modules with; the realm sets it. */
export const lazyLoader = { __proto__: null, require: undefined };

/**
 * Properties that are the exports `keys` of module `id`, which is loaded when the first of them is
 * read. Node makes data properties; here they are accessors until they are read or written.
 */
function defineLazyProperties(target, id, keys, enumerable = true) {
  const descriptor = { __proto__: null, configurable: true, enumerable };
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    const define = (value) => {
      ObjectDefineProperty(target, key, { __proto__: null, configurable: true, enumerable, value, writable: true });
    };
    const accessor = {
      get [key]() {
        const value = lazyLoader.require(id)[key];
        define(value);
        return value;
      },
      set [key](value) {
        define(value);
      },
    };
    const { get, set } = primordials.ObjectGetOwnPropertyDescriptor(accessor, key);
    ObjectDefineProperty(target, key, { ...descriptor, get, set });
  }
}

export const util = lateAll(
  "util",
  [
    "getPromiseDetails",
    "getProxyDetails",
    "previewEntries",
    "getOwnNonIndexProperties",
    "getConstructorName",
    "getExternalValue",
    "getCallSites",
    "parseEnv",
    "arrayBufferViewHasBuffer",
  ],
  {
    __proto__: null,
    constants,
    constructSharedArrayBuffer: (length) => new SharedArrayBuffer(length),
    defineLazyProperties,
    getCallerLocation: () => undefined,
    // Node calls it with the buffer as `this`.
    getSharedArrayBufferGrowable() {
      return primordials.ReflectApply(sharedArrayBufferGrowable, this, []);
    },
    // Node's numbers: 4 is a pipe, 5 nothing that it knows.
    guessHandleType: (descriptor) => (descriptor >= 0 && descriptor <= 2 ? 4 : 5),
    isInsideNodeModules: () => false,
    markPromiseAsHandled(promise) {
      PromisePrototypeThen(promise, undefined, () => {});
    },
    privateSymbols,
    shouldAbortOnUncaughtToggle: new Uint32Array(1),
    sleep() {},
    toUSVString: (text) => (StringPrototypeIsWellFormed(text) ? text : StringPrototypeToWellFormed(text)),
  },
);

const TYPE_NAMES = [
  "isArrayBuffer",
  "isAnyArrayBuffer",
  "isAsyncFunction",
  "isDataView",
  "isDate",
  "isExternal",
  "isMap",
  "isMapIterator",
  "isNativeError",
  "isPromise",
  "isRegExp",
  "isSet",
  "isSetIterator",
];
for (let index = 0; index < TYPE_NAMES.length; index++) util[TYPE_NAMES[index]] = types[TYPE_NAMES[index]];
