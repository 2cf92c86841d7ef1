/**
 * Bindings of bytes and text: `buffer`, `string_decoder`, `encoding_binding`, `icu`, `url`.
 *
 * All of the work is native. Arrays that both sides write are made by the executable and put on the
 * binding when the process starts; the library reads them from there each time.
 */

import { late, lateAll, whenNative } from "../late.js";
import { primordials } from "../primordials.js";

const { ArrayBuffer, Uint32Array } = primordials;

const nativeUnsafe = late("buffer", "createUnsafeArrayBuffer");
let hasNativeUnsafe = false;
/** For the buffers that native functions make. */
let bufferPrototype;
whenNative((natives) => {
  natives.buffer?.setBufferPrototype?.(bufferPrototype);
  hasNativeUnsafe = typeof natives.buffer?.createUnsafeArrayBuffer === "function";
});

export const buffer = lateAll(
  "buffer",
  [
    "atob",
    "btoa",
    "byteLengthUtf8",
    "copy",
    "compare",
    "compareOffset",
    "fill",
    "indexOfBuffer",
    "indexOfNumber",
    "indexOfString",
    "copyArrayBuffer",
    "swap16",
    "swap32",
    "swap64",
    "isUtf8",
    "isAscii",
    "asciiSlice",
    "base64Slice",
    "base64urlSlice",
    "latin1Slice",
    "hexSlice",
    "ucs2Slice",
    "utf8Slice",
    "base64Write",
    "base64urlWrite",
    "hexWrite",
    "ucs2Write",
    "asciiWriteStatic",
    "latin1WriteStatic",
    "utf8WriteStatic",
  ],
  {
    __proto__: null,
    // The library makes its pool while it is loaded, when there is nothing native yet.
    createUnsafeArrayBuffer: (length) => (hasNativeUnsafe ? nativeUnsafe(length) : new ArrayBuffer(length)),
    getZeroFillToggle() {},
    kMaxLength: 2 ** 53 - 1,
    kStringMaxLength: 2 ** 29 - 24,
    setBufferPrototype(prototype) {
      bufferPrototype = prototype;
    },
    // A detach key protects the pool from being transferred; the glue of messages looks at the mark.
    setDetachKey() {},
  },
);

export const stringDecoder = lateAll("string_decoder", ["decode", "flush"], {
  __proto__: null,
  encodings: ["ascii", "utf8", "base64", "utf16le", "latin1", "hex", "buffer", "base64url"],
  kBufferedBytes: 5,
  kEncodingField: 6,
  kIncompleteCharactersEnd: 4,
  kIncompleteCharactersStart: 0,
  kMissingBytes: 4,
  kNumFields: 7,
  kSize: 7,
});

export const encoding = lateAll(
  "encoding_binding",
  ["encodeInto", "encodeUtf8String", "decodeUTF8", "toASCII", "toUnicode"],
  { __proto__: null, encodeIntoResults: new Uint32Array(2) },
);

export const icu = lateAll(
  "icu",
  ["icuErrName", "transcode", "getConverter", "decode", "hasConverter", "getStringWidth"],
  { __proto__: null },
);

export const url = lateAll(
  "url",
  ["domainToASCII", "domainToUnicode", "format", "getOrigin", "parse", "pathToFileURL", "update", "canParse"],
  { __proto__: null, urlComponents: new Uint32Array(9) },
);

whenNative((natives) => {
  // The library has taken this array out of the binding while it was loaded.
  natives.encoding_binding?.setEncodeIntoResults?.(encoding.encodeIntoResults);
  url.urlComponents = natives.url?.urlComponents ?? url.urlComponents;
});
