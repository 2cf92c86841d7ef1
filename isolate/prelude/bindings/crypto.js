/**
 * `internalBinding('crypto')`: the classes and jobs that Node's library has under `node:crypto` and
 * WebCrypto, over the native functions on bytes.
 *
 * - Validation and nearly all texts are the library's. What it leaves to C++ (keys, lengths of tags,
 *   states of a cipher) is checked here or natively, with Node's codes.
 * - A job does its work at once. A program hears of an asynchronous one in a later turn of the loop.
 * - What a run does not have (X.509, PKCS #12, DSA, Diffie-Hellman over primes, post-quantum algorithms) is
 *   there and says so when it is used; algorithms of WebCrypto that are missing are unknown to it.
 */

import { late } from "../late.js";
import { primordials } from "../primordials.js";
import { require } from "../realm.js";
import { unavailable } from "./zlib.js";

const {
  ArrayBufferIsView,
  ArrayPrototypePush,
  Error,
  FunctionPrototypeCall,
  Promise,
  RangeError,
  ReflectApply,
  TypeError,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeSet,
  TypedArrayPrototypeSubarray,
  Uint8Array,
} = primordials;

const open = late("crypto", "open");
const random = late("core", "random");

/** The binding; made when the library first asks for it, which is in a run. */
export function crypto() {
  made ??= make();
  return made;
}
let made;

/** Numbers that the library and its callers exchange; the values are Node's. */
const constants = {
  __proto__: null,
  kCryptoJobAsync: 0,
  kCryptoJobSync: 1,
  kCryptoJobWebCrypto: 2,
  kKeyEncodingPKCS1: 0,
  kKeyEncodingPKCS8: 1,
  kKeyEncodingSEC1: 3,
  kKeyEncodingSPKI: 2,
  kKeyFormatDER: 0,
  kKeyFormatJWK: 2,
  kKeyFormatPEM: 1,
  kKeyFormatRawPrivate: 4,
  kKeyFormatRawPublic: 3,
  kKeyFormatRawSeed: 5,
  kKeyFormatStore: 6,
  kKeyTypePrivate: 2,
  kKeyTypePublic: 1,
  kKeyTypeSecret: 0,
  kKeyVariantAES_CBC_128: 3,
  kKeyVariantAES_CBC_192: 4,
  kKeyVariantAES_CBC_256: 5,
  kKeyVariantAES_CTR_128: 0,
  kKeyVariantAES_CTR_192: 1,
  kKeyVariantAES_CTR_256: 2,
  kKeyVariantAES_GCM_128: 6,
  kKeyVariantAES_GCM_192: 7,
  kKeyVariantAES_GCM_256: 8,
  kKeyVariantAES_KW_128: 9,
  kKeyVariantAES_KW_192: 10,
  kKeyVariantAES_KW_256: 11,
  kKeyVariantRSA_OAEP: 2,
  kKeyVariantRSA_PSS: 1,
  kKeyVariantRSA_SSA_PKCS1_v1_5: 0,
  kSigEncDER: 0,
  kSigEncP1363: 1,
  kSignJobModeSign: 0,
  kSignJobModeVerify: 1,
  kWebCryptoCipherDecrypt: 1,
  kWebCryptoCipherEncrypt: 0,
  kWebCryptoKeyFormatJWK: 3,
  kWebCryptoKeyFormatPKCS8: 1,
  kWebCryptoKeyFormatRaw: 0,
  kWebCryptoKeyFormatSPKI: 2,
  OPENSSL_EC_EXPLICIT_CURVE: 0,
  OPENSSL_EC_NAMED_CURVE: 1,
  POINT_COMPRESSED: 2,
  POINT_HYBRID: 6,
  RSA_PKCS1_OAEP_PADDING: 4,
  RSA_PKCS1_PSS_PADDING: 6,
  X509_CHECK_FLAG_ALWAYS_CHECK_SUBJECT: 1,
  X509_CHECK_FLAG_MULTI_LABEL_WILDCARDS: 8,
  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT: 32,
  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS: 4,
  X509_CHECK_FLAG_NO_WILDCARDS: 2,
  X509_CHECK_FLAG_SINGLE_LABEL_SUBDOMAINS: 16,
};

const {
  kCryptoJobSync,
  kCryptoJobWebCrypto,
  kKeyFormatDER,
  kKeyFormatJWK,
  kKeyFormatPEM,
  kKeyFormatRawPrivate,
  kKeyFormatRawPublic,
  kKeyFormatRawSeed,
  kKeyTypePrivate,
  kKeyTypePublic,
  kKeyTypeSecret,
  kSigEncP1363,
  kSignJobModeSign,
  kWebCryptoCipherEncrypt,
} = constants;

/** Names of the curves, for `getCurves()`. */
const CURVES = ["prime256v1", "secp256k1", "secp384r1", "secp521r1"];

function failure(Class, code, message) {
  const error = new Class(message);
  if (code !== undefined) error.code = code;
  return error;
}

/** An error that OpenSSL words. */
function opensslFailure(code, number, library, reason) {
  const error = new Error(`error:${number}:${library}::${reason}`);
  error.library = library;
  error.reason = reason;
  error.code = code;
  return error;
}

const invalidDigest = (name) => failure(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`);
const invalidState = () => failure(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state");
const operationFailed = (message) => failure(Error, "ERR_CRYPTO_OPERATION_FAILED", message);

function make() {
  const native = open();
  const { Buffer } = require("buffer");
  const { toString: bufferToString } = Buffer.prototype;
  const { FastBuffer } = require("internal/buffer");
  const { lazyDOMException } = require("internal/util");
  const { setImmediate } = require("timers");

  /** Bytes of what the library lets through: text with an encoding, a view, a buffer. */
  function bytesOf(data, encoding) {
    if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? "utf8" : encoding);
    return data === undefined || data === null || ArrayBufferIsView(data) ? data : new Uint8Array(data);
  }

  /** The same bytes as a `Buffer`. */
  const bufferOf = (bytes) =>
    new FastBuffer(TypedArrayPrototypeGetBuffer(bytes), 0, TypedArrayPrototypeGetByteLength(bytes));

  const textOrBuffer = (bytes, encoding) => {
    const buffer = bufferOf(bytes);
    return encoding && encoding !== "buffer" ? FunctionPrototypeCall(bufferToString, buffer, encoding) : buffer;
  };

  const base64url = (bytes) => FunctionPrototypeCall(bufferToString, bufferOf(bytes), "base64url");
  const fromBase64url = (text) => (typeof text === "string" ? Buffer.from(text, "base64url") : undefined);

  function concat(left, right) {
    const length = TypedArrayPrototypeGetByteLength(left);
    const whole = new Uint8Array(length + TypedArrayPrototypeGetByteLength(right));
    TypedArrayPrototypeSet(whole, left, 0);
    TypedArrayPrototypeSet(whole, right, length);
    return whole;
  }

  // Jobs

  /** Work that Node does on another thread. `work` throws what fails. */
  class Job {
    #mode;
    #work;

    _prepare(mode, work) {
      this.#mode = mode;
      this.#work = work;
    }

    run() {
      let error;
      let value;
      try {
        value = FunctionPrototypeCall(this.#work, undefined);
      } catch (caught) {
        error = caught;
      }
      if (this.#mode === kCryptoJobSync) return [error, value];
      if (this.#mode !== kCryptoJobWebCrypto) {
        setImmediate(() => this.ondone(error, value));
        return undefined;
      }
      const { resolveWebCryptoResult } = require("internal/crypto/util");
      return new Promise((resolve, reject) => {
        setImmediate(() => {
          if (error === undefined) {
            resolveWebCryptoResult(resolve, value);
            return;
          }
          const text = "The operation failed for an operation-specific reason";
          // Of what OpenSSL words, the cause has the text alone.
          const cause = error.library === undefined ? error : new Error(error.message);
          reject(lazyDOMException(text, { name: "OperationError", cause }));
        });
      });
    }
  }

  /** A class of jobs: `prepare(mode, …)` checks the arguments and gives the work. */
  function jobClass(name, prepare) {
    return {
      [name]: class extends Job {
        constructor(...args) {
          super();
          this._prepare(args[0], ReflectApply(prepare, undefined, args));
        }
      },
    }[name];
  }

  /** A class of jobs that a run does not have. */
  const missingJob = (name, what) =>
    jobClass(name, () => {
      throw unavailable(what);
    });

  const arrayBufferOf = (bytes) => TypedArrayPrototypeGetBuffer(bytes);

  const digestInfos = { __proto__: null };

  /** `[name, size, block]` of a digest; undefined if there is none of that name. */
  function digestInfo(name) {
    const known = digestInfos[name];
    if (known !== undefined) return known;
    const info = native.digestInfo(name);
    if (info !== undefined) digestInfos[name] = info;
    return info;
  }

  function digestNamed(name) {
    const info = digestInfo(name);
    if (info === undefined) throw invalidDigest(name);
    return info;
  }

  // Digests

  class Hash {
    #hash;
    #digest;
    #length;

    constructor(algorithm, length, _id, _cache, functionName, customization) {
      if (functionName !== undefined || customization !== undefined) throw unavailable("cSHAKE");
      if (typeof algorithm === "object") {
        this.#length = algorithm.#length;
        this.#hash = native.hashCopy(algorithm.#hash);
      } else {
        const info = digestInfo(algorithm);
        if (info === undefined) throw new Error("Digest method not supported");
        this.#length = info[1];
        this.#hash = native.hash(algorithm);
      }
      checkLength(this.#length, length);
    }

    update(data, encoding) {
      native.hashUpdate(this.#hash, bytesOf(data, encoding));
      return true;
    }

    digest(encoding) {
      this.#digest ??= native.hashFinish(this.#hash);
      return textOrBuffer(new Uint8Array(this.#digest), encoding);
    }
  }

  /** None of the digests here has a length of the caller's choice. */
  function checkLength(length, wanted) {
    if (wanted === undefined || wanted === length) return;
    const code = "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH";
    throw opensslFailure(code, "030000B2", "digital envelope routines", "not XOF or invalid length");
  }

  function oneShotDigest(
    algorithm,
    _id,
    _cache,
    input,
    outputEncoding,
    _encoding,
    length,
    functionName,
    customization,
  ) {
    if (functionName !== undefined || customization !== undefined) throw unavailable("cSHAKE");
    const info = digestInfo(algorithm);
    if (info === undefined) throw new Error(`Digest method ${algorithm} is not supported`);
    checkLength(info[1], length);
    return textOrBuffer(native.digest(algorithm, bytesOf(input, "utf8")), outputEncoding);
  }

  class Hmac {
    #hash;

    init(name, key) {
      digestNamed(name);
      this.#hash = native.hash(name, secretOf(key));
    }

    update(data, encoding) {
      native.hashUpdate(this.#hash, bytesOf(data, encoding));
      return true;
    }

    digest(encoding) {
      return textOrBuffer(native.hashFinish(this.#hash), encoding);
    }
  }

  const HashJob = jobClass("HashJob", (_mode, name, data, length) => {
    const info = digestNamed(name);
    if (length !== undefined) checkLength(info[1] * 8, length);
    const bytes = bytesOf(data);
    return () => arrayBufferOf(native.digest(name, bytes));
  });

  const HmacJob = jobClass("HmacJob", (_mode, signMode, name, key, data, signature) => {
    digestNamed(name);
    const hash = native.hash(name, secretOf(key));
    native.hashUpdate(hash, bytesOf(data));
    return () => {
      const mac = native.hashFinish(hash);
      return signMode === kSignJobModeSign ? arrayBufferOf(mac) : native.same(mac, bytesOf(signature));
    };
  });

  // Keys from passwords and other keys

  const PBKDF2Job = jobClass("PBKDF2Job", (_mode, password, salt, iterations, length, name) => {
    digestNamed(name);
    return () => arrayBufferOf(native.pbkdf2(name, secretOf(password), bytesOf(salt), iterations, length));
  });

  const HKDFJob = jobClass("HKDFJob", (_mode, name, key, salt, info, length) => {
    const digest = digestNamed(name);
    if (length > 255 * digest[1]) throw failure(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
    return () => arrayBufferOf(native.hkdf(name, secretOf(key), bytesOf(salt), bytesOf(info), length));
  });

  const ScryptJob = jobClass("ScryptJob", (_mode, password, salt, n, r, p, maxmem, length) => {
    native.scryptCheck(n, r, p, maxmem);
    return () => arrayBufferOf(native.scrypt(n, r, p, maxmem, bytesOf(password), bytesOf(salt), length));
  });

  // Random numbers

  const RandomBytesJob = jobClass("RandomBytesJob", (_mode, buffer, offset, size) => {
    const target = ArrayBufferIsView(buffer)
      ? new Uint8Array(buffer.buffer, buffer.byteOffset + offset, size)
      : new Uint8Array(buffer, offset, size);
    return () => {
      random(target);
    };
  });

  const RandomPrimeJob = jobClass("RandomPrimeJob", (_mode, size, safe, add, rem) => {
    if (add !== undefined || rem !== undefined) throw unavailable("A prime with a given remainder");
    return () => {
      const prime = native.prime(size, safe);
      if (prime === undefined) throw operationFailed("Prime generation failed");
      return arrayBufferOf(prime);
    };
  });

  const CheckPrimeJob = jobClass("CheckPrimeJob", (_mode, candidate) => () => native.isPrime(bytesOf(candidate)));

  // Keys

  /** Bytes of a secret key, or of what stands for one. */
  const secretOf = (key) => (key instanceof KeyObjectHandle ? key._secret() : bytesOf(key));

  /** The native key of a handle or of the arguments that stand for one; private if it has to be. */
  function keyFrom(data, format, type, passphrase, namedCurve, isPrivate) {
    if (data instanceof KeyObjectHandle) return data._key();
    const handle = new KeyObjectHandle();
    handle.init(isPrivate ? kKeyTypePrivate : kKeyTypePublic, data, format, type, passphrase, namedCurve);
    return handle._key();
  }

  class KeyObjectHandle {
    #type;
    #bytes;
    #key;

    static _of(type, keyOrBytes) {
      const handle = new KeyObjectHandle();
      handle.#type = type;
      if (type === kKeyTypeSecret) handle.#bytes = keyOrBytes;
      else handle.#key = keyOrBytes;
      return handle;
    }

    _secret() {
      return this.#bytes;
    }

    _key() {
      return this.#key;
    }

    init(type, data, format, encoding, passphrase, namedCurve) {
      this.#type = type;
      if (type === kKeyTypeSecret) {
        this.#bytes = format === kKeyFormatJWK ? secretFromJwk(data) : new Uint8Array(bytesOf(data));
        return;
      }
      const key =
        data instanceof KeyObjectHandle ? data.#key : importKey(type, data, format, encoding, passphrase, namedCurve);
      const isPrivate = native.keyInfo(key)[1];
      if (type === kKeyTypePrivate && !isPrivate) {
        throw opensslFailure("ERR_OSSL_UNSUPPORTED", "1E08010C", "DECODER routines", "unsupported");
      }
      this.#key = type === kKeyTypePublic && isPrivate ? native.keyPublic(key) : key;
    }

    getKeyType() {
      return this.#type;
    }

    getSymmetricKeySize() {
      return TypedArrayPrototypeGetByteLength(this.#bytes);
    }

    getAsymmetricKeyType() {
      return native.keyInfo(this.#key)[0];
    }

    checkEcKeyData() {
      // Whatever is no point of its curve has not come in.
      return native.keyInfo(this.#key)[0] === "ec";
    }

    export(format, type, cipher, passphrase) {
      if (this.#type === kKeyTypeSecret) return bufferOf(new Uint8Array(this.#bytes));
      return exportKey(this.#key, format, type, cipher, passphrase);
    }

    exportJwk(target) {
      if (this.#type === kKeyTypeSecret) {
        target.kty = "oct";
        target.k = base64url(new Uint8Array(this.#bytes));
        return target;
      }
      return exportJwk(this.#key, target);
    }

    rawPublicKey() {
      this.#needs25519();
      return bufferOf(native.keyNumbers(this.#key)[0]);
    }

    rawPrivateKey() {
      this.#needs25519();
      return bufferOf(native.keyNumbers(this.#key)[1]);
    }

    rawSeed() {
      throw incompatibleEncoding();
    }

    #needs25519() {
      const { 0: type } = native.keyInfo(this.#key);
      if (type !== "ed25519" && type !== "x25519") throw incompatibleEncoding();
    }

    exportECPublicRaw(form) {
      return bufferOf(pointOf(this.#key, form));
    }

    exportECPrivateRaw() {
      if (native.keyInfo(this.#key)[0] !== "ec") throw incompatibleEncoding();
      return bufferOf(native.keyNumbers(this.#key)[2]);
    }

    keyDetail(target) {
      const { 0: type, 2: curve } = native.keyInfo(this.#key);
      if (type === "ec") target.namedCurve = curve;
      if (type === "rsa") {
        const { 0: modulus, 1: exponent } = native.keyNumbers(this.#key);
        target.modulusLength = bitLength(modulus);
        target.publicExponent = arrayBufferOf(exponent);
      }
      return target;
    }

    equals(other) {
      if (this.#type !== other.#type) return false;
      if (this.#type === kKeyTypeSecret) return native.same(this.#bytes, other.#bytes);
      return native.keySame(this.#key, other.#key);
    }
  }

  const incompatibleEncoding = () =>
    failure(
      Error,
      "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS",
      "The selected key encoding is incompatible with the key type",
    );

  const invalidKeyData = () => failure(TypeError, "ERR_INVALID_ARG_VALUE", "Invalid key data");
  const invalidJwk = (what) => failure(TypeError, "ERR_CRYPTO_INVALID_JWK", what);

  function bitLength(number) {
    let bits = TypedArrayPrototypeGetByteLength(number) * 8;
    for (let mask = 0x80; mask > 0 && bits > 0 && (number[0] & mask) === 0; mask >>= 1) bits--;
    return bits;
  }

  function pointOf(key, form) {
    const { 0: type, 2: curve } = native.keyInfo(key);
    if (type !== "ec") throw incompatibleEncoding();
    const { 0: x, 1: y } = native.keyNumbers(key);
    const point = concat(concat(new Uint8Array([4]), x), y);
    return form === constants.POINT_COMPRESSED ? native.curvePoint(curve, point, true) : point;
  }

  function importKey(type, data, format, encoding, passphrase, namedCurve) {
    switch (format) {
      case kKeyFormatPEM:
        return native.keyFromPem(bytesOf(data), bytesOf(passphrase));
      case kKeyFormatDER:
        try {
          return native.keyFromDer(bytesOf(data), encoding, bytesOf(passphrase));
        } catch (error) {
          if (type === kKeyTypePrivate) throw error;
          throw new Error("Failed to read asymmetric key");
        }
      case kKeyFormatJWK:
        return keyFromJwk(data);
      case kKeyFormatRawPublic:
      case kKeyFormatRawPrivate:
      case kKeyFormatRawSeed:
        return keyFromRaw(format, bytesOf(data), encoding, namedCurve);
      default:
        throw unavailable("A key store");
    }
  }

  function keyFromRaw(format, bytes, type, namedCurve) {
    if (type !== "ec" && type !== "ed25519" && type !== "x25519") {
      throw failure(TypeError, "ERR_INVALID_ARG_VALUE", `Invalid asymmetricKeyType: ${type}`);
    }
    if (format === kKeyFormatRawSeed) throw incompatibleEncoding();
    const isPublic = format === kKeyFormatRawPublic;
    const key =
      type === "ec"
        ? native.keyFromParts(type, namedCurve, isPublic ? undefined : bytes, isPublic ? bytes : undefined)
        : native.keyFromParts(type, isPublic ? undefined : bytes, isPublic ? bytes : undefined);
    if (key === undefined) throw invalidKeyData();
    return key;
  }

  function secretFromJwk(jwk) {
    const bytes = fromBase64url(jwk.k);
    if (bytes === undefined) throw invalidJwk("Invalid JWK secret key format");
    return new Uint8Array(bytes);
  }

  function keyFromJwk(jwk) {
    const { kty } = jwk;
    if (kty === "EC") {
      const x = fromBase64url(jwk.x);
      const y = fromBase64url(jwk.y);
      if (typeof jwk.crv !== "string" || x === undefined || y === undefined) throw invalidJwk("Invalid JWK EC key");
      const point = concat(concat(new Uint8Array([4]), x), y);
      const key = native.keyFromParts("ec", jwk.crv, fromBase64url(jwk.d), point);
      if (key === undefined) throw invalidJwk("Invalid JWK EC key");
      return key;
    }
    if (kty === "OKP") {
      const publicBytes = fromBase64url(jwk.x);
      const isKnown = jwk.crv === "Ed25519" || jwk.crv === "X25519";
      const key =
        isKnown && publicBytes !== undefined
          ? native.keyFromParts(jwk.crv, fromBase64url(jwk.d), publicBytes)
          : undefined;
      if (key === undefined) throw invalidJwk("Invalid JWK OKP key");
      return key;
    }
    if (kty === "RSA") {
      const { n, e, d, p, q } = jwk;
      const key = native.keyFromParts(
        "rsa",
        fromBase64url(n),
        fromBase64url(e),
        fromBase64url(d),
        fromBase64url(p),
        fromBase64url(q),
      );
      if (key === undefined) throw invalidJwk("Invalid JWK RSA key");
      return key;
    }
    if (typeof kty !== "string") throw invalidJwk("Invalid JWK format");
    throw invalidJwk(`${kty} is not a supported JWK key type`);
  }

  function exportJwk(key, target) {
    const { 0: type, 1: isPrivate, 3: curve } = native.keyInfo(key);
    const numbers = native.keyNumbers(key);
    if (type === "rsa") {
      target.kty = "RSA";
      const names = ["n", "e", "d", "p", "q", "dp", "dq", "qi"];
      for (let index = 0; index < numbers.length; index++) target[names[index]] = base64url(numbers[index]);
      return target;
    }
    if (type === "ec") {
      target.kty = "EC";
      target.x = base64url(numbers[0]);
      target.y = base64url(numbers[1]);
      target.crv = curve;
      if (isPrivate) target.d = base64url(numbers[2]);
      return target;
    }
    target.kty = "OKP";
    target.crv = curve;
    target.x = base64url(numbers[0]);
    if (isPrivate) target.d = base64url(numbers[1]);
    return target;
  }

  function exportKey(key, format, type, cipher, passphrase) {
    if (format === kKeyFormatJWK) return exportJwk(key, {});
    const secret = cipher === undefined || cipher === null ? undefined : bytesOf(passphrase);
    if (format === kKeyFormatPEM) return native.keyToPem(key, type, cipher, secret);
    return bufferOf(native.keyToDer(key, type, cipher, secret));
  }

  /** Storage of `KeyObject`, without the methods that the library adds. */
  class NativeKeyObject {
    #handle;

    constructor(handle) {
      this.#handle = handle;
    }

    static _is = (key) => key !== null && typeof key === "object" && #handle in key;
    static _slots = (key) => [key.#handle.getKeyType(), key.#handle];
  }

  /** Storage of `CryptoKey`. */
  class NativeCryptoKey {
    #slots;

    constructor(handle, algorithm, usagesMask, extractable, secondaryHandle, seedData) {
      this.#slots = [handle?.getKeyType(), extractable, algorithm, usagesMask, handle, secondaryHandle, seedData];
    }

    static _is = (key) => key !== null && typeof key === "object" && #slots in key;
    static _slots = (key) => [...new primordials.SafeArrayIterator(key.#slots)];
  }

  // Storage alone: neither class is to be seen by a program.
  const isKeyObject = NativeKeyObject._is;
  const getKeyObjectSlots = NativeKeyObject._slots;
  const isCryptoKey = NativeCryptoKey._is;
  const getCryptoKeySlots = NativeCryptoKey._slots;
  delete NativeKeyObject._is;
  delete NativeKeyObject._slots;
  delete NativeCryptoKey._is;
  delete NativeCryptoKey._slots;

  const SecretKeyGenJob = jobClass("SecretKeyGenJob", (mode, bits, algorithm, usagesMask, extractable) => () => {
    // A length of WebCrypto that is no multiple of 8 keeps its last bits; Node's own drops them.
    const isWeb = mode === kCryptoJobWebCrypto;
    const bytes = new Uint8Array((isWeb ? bits + 7 : bits) >>> 3);
    random(bytes);
    if (isWeb && bits % 8 !== 0) bytes[bytes.length - 1] &= (0xff << (8 - (bits % 8))) & 0xff;
    const handle = KeyObjectHandle._of(kKeyTypeSecret, bytes);
    if (!isWeb) return handle;
    const { InternalCryptoKey } = require("internal/crypto/keys");
    return new InternalCryptoKey(handle, algorithm, usagesMask, extractable);
  });

  /** What a job that makes a key pair gives, in the form that `rest` asks for. */
  function pairOf(mode, key, rest) {
    const publicKey = native.keyPublic(key);
    if (mode === kCryptoJobWebCrypto) {
      const { 0: algorithm, 1: publicMask, 2: privateMask, 3: extractable } = rest;
      const { InternalCryptoKey } = require("internal/crypto/keys");
      const publicHandle = KeyObjectHandle._of(kKeyTypePublic, publicKey);
      const privateHandle = KeyObjectHandle._of(kKeyTypePrivate, key);
      return {
        publicKey: new InternalCryptoKey(publicHandle, algorithm, publicMask, true),
        privateKey: new InternalCryptoKey(privateHandle, algorithm, privateMask, extractable),
      };
    }
    const { 0: publicFormat, 1: publicType, 2: privateFormat, 3: privateType, 4: cipher, 5: passphrase } = rest;
    return [
      encodePart(kKeyTypePublic, publicKey, publicFormat, publicType),
      encodePart(kKeyTypePrivate, key, privateFormat, privateType, cipher, passphrase),
    ];
  }

  function encodePart(keyType, key, format, type, cipher, passphrase) {
    if (format === undefined) return KeyObjectHandle._of(keyType, key);
    if (format === kKeyFormatRawPublic || format === kKeyFormatRawPrivate) {
      const handle = KeyObjectHandle._of(keyType, key);
      const isEc = native.keyInfo(key)[0] === "ec";
      if (keyType === kKeyTypePublic) return isEc ? handle.exportECPublicRaw(type) : handle.rawPublicKey();
      return isEc ? handle.exportECPrivateRaw() : handle.rawPrivateKey();
    }
    if (format === kKeyFormatRawSeed) throw incompatibleEncoding();
    return exportKey(key, format, type, cipher, passphrase);
  }

  const EcKeyPairGenJob = jobClass("EcKeyPairGenJob", (mode, curve, parameters, ...rest) => {
    if (parameters === constants.OPENSSL_EC_EXPLICIT_CURVE) throw unavailable("A curve written as its parameters");
    if (!isCurve(curve)) throw failure(TypeError, "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
    return () => pairOf(mode, native.keyGenerate("ec", curve), rest);
  });

  const NamedKeyPairGenJob = jobClass("NamedKeyPairGenJob", (mode, name, ...rest) => {
    if (name !== "Ed25519" && name !== "X25519") throw unavailable(`The key type ${name}`);
    return () => pairOf(mode, native.keyGenerate(name), rest);
  });

  const RsaKeyPairGenJob = jobClass("RsaKeyPairGenJob", (mode, variant, bits, exponent, ...rest) => {
    if (variant === constants.kKeyVariantRSA_PSS) throw unavailable("The key type rsa-pss");
    return () => pairOf(mode, native.keyGenerate("rsa", bits, exponent), rest);
  });

  function isCurve(name) {
    for (let index = 0; index < CURVES.length; index++) if (CURVES[index] === name) return true;
    return name === "P-256" || name === "P-384" || name === "P-521";
  }

  // Signatures

  class SignBase {
    #name;
    #hash;

    init(name) {
      const info = digestInfo(name);
      if (info === undefined) throw failure(TypeError, "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest");
      this.#name = info[0];
      this.#hash = native.hash(name);
    }

    update(data, encoding) {
      if (this.#hash === undefined) throw invalidState();
      native.hashUpdate(this.#hash, bytesOf(data, encoding));
    }

    _finish() {
      if (this.#hash === undefined) throw invalidState();
      const digest = native.hashFinish(this.#hash);
      this.#hash = undefined;
      return { __proto__: null, digest, name: this.#name };
    }
  }

  class Sign extends SignBase {
    sign(data, format, type, passphrase, namedCurve, padding, saltLength, encoding) {
      const key = keyFrom(data, format, type, passphrase, namedCurve, true);
      const { digest, name } = this._finish();
      return bufferOf(native.sign(key, name, digest, true, encoding === kSigEncP1363, padding, saltLength));
    }
  }

  class Verify extends SignBase {
    verify(data, format, type, passphrase, namedCurve, signature, padding, saltLength, encoding) {
      const key = keyFrom(data, format, type, passphrase, namedCurve, false);
      const { digest, name } = this._finish();
      const isRaw = encoding === kSigEncP1363;
      return native.verify(key, name, digest, true, isRaw, padding, saltLength, bytesOf(signature));
    }
  }

  const SignJob = jobClass(
    "SignJob",
    (_mode, signMode, data, format, type, passphrase, namedCurve, message, ...rest) => {
      const { 0: name, 1: saltLength, 2: padding, 3: encoding, 4: context, 5: signature } = rest;
      const isSigning = signMode === kSignJobModeSign;
      const key = keyFrom(data, format, type, passphrase, namedCurve, isSigning);
      if (typeof name === "string") digestNamed(name);
      if (context !== undefined && TypedArrayPrototypeGetByteLength(new Uint8Array(bytesOf(context))) > 0) {
        throw unavailable("A signature with a context");
      }
      const bytes = bytesOf(message);
      const isRaw = encoding === kSigEncP1363;
      if (isSigning) return () => arrayBufferOf(native.sign(key, name, bytes, false, isRaw, padding, saltLength));
      return () => native.verify(key, name, bytes, false, isRaw, padding, saltLength, bytesOf(signature));
    },
  );

  // Ciphers

  const invalidTag = (length) =>
    failure(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${length}`);

  function isTagLength(mode, length) {
    if (mode !== "gcm") return length >= 1 && length <= 16;
    return length === 4 || length === 8 || (length >= 12 && length <= 16);
  }

  class CipherBase {
    #cipher;
    #mode;
    #encrypts;
    #hasTag;
    #tagLength;
    #tag;
    #hasText = false;
    #isFinal = false;

    constructor(encrypts, name, credential, iv, tagLength, ctsMode, xtsStandard) {
      const info = native.cipherInfo(name);
      if (info === undefined) throw failure(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
      if (ctsMode !== undefined || xtsStandard !== undefined) throw unavailable("Cipher text stealing");
      const { 1: mode, 4: ivLength, 6: hasTag } = info;
      if (iv === null && ivLength !== 0) {
        throw failure(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
      }
      if (hasTag && tagLength !== -1 && !isTagLength(mode, tagLength)) throw invalidTag(tagLength);
      this.#cipher = native.cipher(name, encrypts, secretOf(credential), bytesOf(iv), 128);
      this.#mode = mode;
      this.#encrypts = encrypts;
      this.#hasTag = hasTag;
      this.#tagLength = tagLength;
    }

    update(data, encoding) {
      if (this.#isFinal) throw invalidState();
      this.#hasText = true;
      return bufferOf(native.cipherUpdate(this.#cipher, bytesOf(data, encoding)));
    }

    final() {
      if (this.#isFinal) throw invalidState();
      this.#isFinal = true;
      if (this.#hasTag && !this.#encrypts && this.#tag === undefined) throw unauthentic();
      const { 0: rest, 1: tag } = native.cipherFinish(this.#cipher);
      if (this.#hasTag) {
        if (this.#encrypts) {
          const length = this.#tagLength === -1 ? 16 : this.#tagLength;
          this.#tag = new Uint8Array(TypedArrayPrototypeSubarray(tag, 0, length));
        } else if (!native.same(TypedArrayPrototypeSubarray(tag, 0, this.#tag.length), this.#tag)) {
          throw unauthentic();
        }
      }
      return bufferOf(rest);
    }

    setAutoPadding(isPadded) {
      if (this.#isFinal) return false;
      native.cipherPadding(this.#cipher, isPadded);
      return true;
    }

    getAuthTag() {
      if (!this.#isFinal || !this.#encrypts || this.#tag === undefined) return undefined;
      return bufferOf(new Uint8Array(this.#tag));
    }

    setAuthTag(tag) {
      if (this.#isFinal || !this.#hasTag || this.#encrypts || this.#tag !== undefined) return false;
      const bytes = new Uint8Array(bytesOf(tag));
      const isRight = this.#tagLength === -1 ? isTagLength(this.#mode, bytes.length) : bytes.length === this.#tagLength;
      if (!isRight) throw invalidTag(bytes.length);
      if (this.#mode === "gcm" && this.#tagLength === -1 && bytes.length !== 16) {
        const text =
          "Using AES-GCM authentication tags of less than 128 bits without specifying the authTagLength option when " +
          "initializing decryption is deprecated.";
        require("internal/process/warning").emitWarning(text, "DeprecationWarning", "DEP0182");
      }
      this.#tag = bytes;
      return true;
    }

    setAAD(data) {
      if (this.#isFinal || !this.#hasTag || this.#hasText) return false;
      native.cipherAdditional(this.#cipher, bytesOf(data));
      return true;
    }
  }

  const unauthentic = () => new Error("Unsupported state or unable to authenticate data");
  const cipherFailed = () => new Error("Cipher job failed");

  function getCipherInfo(target, nameOrNid, keyLength, ivLength) {
    const info = native.cipherInfo(nameOrNid);
    if (info === undefined) return undefined;
    const { 0: name, 1: mode, 2: nid, 3: block, 4: iv, 5: key } = info;
    if (keyLength !== undefined && keyLength !== key) return undefined;
    // GCM takes every length, and reports none when it is 0.
    if (ivLength !== undefined && mode !== "gcm" && ivLength !== iv) return undefined;
    target.mode = mode;
    target.name = name;
    target.nid = nid;
    if (mode !== "stream") target.blockSize = block;
    const length = ivLength ?? iv;
    if (length !== 0) target.ivLength = length;
    target.keyLength = key;
    return target;
  }

  /** One call of WebCrypto: all of the text, with the tag behind it. */
  function webCipher(name, isEncrypting, key, data, iv, tagLength, additional, counterBits = 128) {
    const cipher = native.cipher(name, isEncrypting, secretOf(key), bytesOf(iv), counterBits);
    if (additional !== undefined) native.cipherAdditional(cipher, bytesOf(additional));
    let text = new Uint8Array(bytesOf(data));
    let tag;
    if (!isEncrypting && tagLength > 0) {
      if (text.length < tagLength) throw cipherFailed();
      tag = TypedArrayPrototypeSubarray(text, text.length - tagLength);
      text = TypedArrayPrototypeSubarray(text, 0, text.length - tagLength);
    }
    const out = native.cipherUpdate(cipher, text);
    const { 0: rest, 1: made } = native.cipherFinish(cipher);
    if (tagLength === 0) return arrayBufferOf(rest.length === 0 ? out : concat(out, rest));
    const own = TypedArrayPrototypeSubarray(made, 0, tagLength);
    if (isEncrypting) return arrayBufferOf(concat(out, own));
    if (!native.same(own, tag)) throw cipherFailed();
    return arrayBufferOf(out);
  }

  const AES_MODES = ["ctr", "cbc", "gcm", "wrap"];

  const AESCipherJob = jobClass("AESCipherJob", (_mode, cipherMode, key, data, variant, iv, length, additional) => {
    const isEncrypting = cipherMode === kWebCryptoCipherEncrypt;
    const mode = AES_MODES[(variant / 3) | 0];
    const name = `aes-${128 + 64 * (variant % 3)}-${mode}`;
    if (mode === "gcm" && bytesOf(iv).byteLength === 0) {
      throw failure(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
    }
    return () => {
      switch (mode) {
        case "wrap": {
          const out = native.wrap(isEncrypting, secretOf(key), bytesOf(data));
          if (out === undefined) {
            const code = "ERR_OSSL_CIPHER_OPERATION_FAILED";
            throw opensslFailure(code, "1C800066", "Provider routines", "cipher operation failed");
          }
          return arrayBufferOf(out);
        }
        case "ctr":
          // The counter may not come back to a value it has had.
          if (bytesOf(data).byteLength / 16 > 2 ** length) throw cipherFailed();
          return webCipher(name, isEncrypting, key, data, iv, 0, undefined, length);
        case "cbc":
          return webCipher(name, isEncrypting, key, data, iv, 0);
        default:
          return webCipher(name, isEncrypting, key, data, iv, length, additional);
      }
    };
  });

  const ChaCha20Poly1305CipherJob = jobClass(
    "ChaCha20Poly1305CipherJob",
    (_mode, cipherMode, key, data, iv, additional) => () =>
      webCipher("chacha20-poly1305", cipherMode === kWebCryptoCipherEncrypt, key, data, iv, 16, additional),
  );

  const RSACipherJob = jobClass("RSACipherJob", (_mode, cipherMode, key, data, _variant, hash, label) => () => {
    const operation = cipherMode === kWebCryptoCipherEncrypt ? 0 : 1;
    const { RSA_PKCS1_OAEP_PADDING: padding } = constants;
    return arrayBufferOf(
      native.rsaCrypt(key._key(), operation, padding, hash, undefined, bytesOf(label), bytesOf(data)),
    );
  });

  function rsaFunction(operation, isPrivate) {
    return (data, format, type, passphrase, namedCurve, buffer, padding, oaepHash, oaepLabel, mgf1Hash) => {
      const isUnknown = (name) => name !== undefined && digestInfo(name) === undefined;
      if (isUnknown(oaepHash) || isUnknown(mgf1Hash)) {
        throw failure(Error, "ERR_OSSL_EVP_INVALID_DIGEST", "Invalid digest used");
      }
      const key = keyFrom(data, format, type, passphrase, namedCurve, isPrivate);
      return bufferOf(
        native.rsaCrypt(key, operation, padding, oaepHash, mgf1Hash, bytesOf(oaepLabel), bytesOf(buffer)),
      );
    };
  }

  // Key agreement

  const DHBitsJob = jobClass("DHBitsJob", (_mode, ...parts) => {
    const publicKey = keyFrom(parts[0], parts[1], parts[2], parts[3], parts[4], false);
    const privateKey = keyFrom(parts[5], parts[6], parts[7], parts[8], parts[9], true);
    return () => {
      const secret = native.agree(privateKey, publicKey);
      if (secret === undefined) {
        const code = "ERR_OSSL_FAILED_DURING_DERIVATION";
        throw opensslFailure(code, "1C8000A4", "Provider routines", "failed during derivation");
      }
      return arrayBufferOf(secret);
    };
  });

  class ECDH {
    #curve;
    #private;
    #public;

    constructor(curve) {
      if (!isCurve(curve)) throw failure(TypeError, "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
      this.#curve = curve;
    }

    generateKeys() {
      this.#private = native.curveGenerate(this.#curve);
      this.#public = native.curvePublic(this.#curve, this.#private);
    }

    computeSecret(other) {
      if (this.#private === undefined) return "no key";
      const secret = native.curveAgree(this.#curve, this.#private, bytesOf(other));
      // The library turns a text into the error about the other's key.
      return secret === undefined ? "not valid" : bufferOf(secret);
    }

    getPublicKey(form) {
      if (this.#public === undefined) throw operationFailed("Failed to get ECDH public key");
      return bufferOf(inForm(this.#curve, this.#public, form));
    }

    getPrivateKey() {
      if (this.#private === undefined) throw operationFailed("Failed to get ECDH private key");
      return bufferOf(new Uint8Array(this.#private));
    }

    setPrivateKey(key) {
      const bytes = new Uint8Array(bytesOf(key));
      const point = native.curvePublic(this.#curve, bytes);
      if (point === undefined) {
        const text = "Private key is not valid for specified curve.";
        throw failure(RangeError, "ERR_CRYPTO_INVALID_KEYTYPE", text);
      }
      this.#private = bytes;
      this.#public = point;
    }

    setPublicKey(key) {
      const point = native.curvePoint(this.#curve, bytesOf(key), false);
      if (point === undefined) throw operationFailed("Failed to convert Buffer to EC_POINT");
      this.#public = point;
    }
  }

  /** A point in one of OpenSSL's forms. */
  function inForm(curve, point, form) {
    const bytes = native.curvePoint(curve, point, form === constants.POINT_COMPRESSED);
    if (bytes === undefined) throw operationFailed("Failed to convert Buffer to EC_POINT");
    if (form === constants.POINT_HYBRID) bytes[0] = 6 | (bytes[bytes.length - 1] & 1);
    return bytes;
  }

  function ECDHConvertKey(key, curve, form) {
    if (!isCurve(curve)) throw failure(TypeError, "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
    return bufferOf(inForm(curve, bytesOf(key), form));
  }

  // The rest

  function timingSafeEqual(left, right) {
    const { isAnyArrayBuffer, isArrayBufferView } = require("internal/util/types");
    const wrong = (name) => {
      const text = `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`;
      return failure(TypeError, "ERR_INVALID_ARG_TYPE", text);
    };
    if (!isArrayBufferView(left) && !isAnyArrayBuffer(left)) throw wrong("buf1");
    if (!isArrayBufferView(right) && !isAnyArrayBuffer(right)) throw wrong("buf2");
    if (left.byteLength !== right.byteLength) {
      const text = "Input buffers must have the same byte length";
      throw failure(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", text);
    }
    return native.same(bytesOf(left), bytesOf(right));
  }

  const missing = (what) => () => {
    throw unavailable(what);
  };

  const missingClass = (what) =>
    class {
      constructor() {
        throw unavailable(what);
      }
    };

  return {
    __proto__: null,
    ...constants,
    AESCipherJob,
    ChaCha20Poly1305CipherJob,
    CheckPrimeJob,
    CipherBase,
    DHBitsJob,
    DhKeyPairGenJob: missingJob("DhKeyPairGenJob", "The key type dh"),
    DiffieHellman: missingClass("Diffie-Hellman over a prime"),
    DiffieHellmanGroup: missingClass("Diffie-Hellman over a prime"),
    DsaKeyPairGenJob: missingJob("DsaKeyPairGenJob", "The key type dsa"),
    ECDH,
    ECDHConvertKey,
    EcKeyPairGenJob,
    HKDFJob,
    Hash,
    HashJob,
    Hmac,
    HmacJob,
    KEMDecapsulateJob: missingJob("KEMDecapsulateJob", "Key encapsulation"),
    KEMEncapsulateJob: missingJob("KEMEncapsulateJob", "Key encapsulation"),
    KeyObjectHandle,
    Mac: missingClass("A message authentication code other than HMAC"),
    NamedKeyPairGenJob,
    PBKDF2Job,
    RSACipherJob,
    RandomBytesJob,
    RandomPrimeJob,
    RsaKeyPairGenJob,
    ScryptJob,
    SecretKeyGenJob,
    Sign,
    SignJob,
    Verify,
    certExportChallenge: missing("SPKAC"),
    certExportPublicKey: missing("SPKAC"),
    certVerifySpkac: missing("SPKAC"),
    createCryptoKeyClass: (define) => define(NativeCryptoKey),
    createNativeKeyObjectClass: (define) => define(NativeKeyObject),
    createX509CertificateClass: (define) => define(missingClass("X.509")),
    getCachedAliases: () => ({ __proto__: null }),
    getCachedMacAliases: () => ({ __proto__: null }),
    getCipherInfo,
    getCiphers: () => native.cipherNames(),
    getCryptoKeySlots,
    getCurves: () => {
      const names = [];
      for (let index = 0; index < CURVES.length; index++) ArrayPrototypePush(names, CURVES[index]);
      return names;
    },
    getFipsCrypto: () => 0,
    getFipsCryptoGeneration: () => 0,
    getHashes: () => native.digestNames(),
    getKeyObjectSlots,
    getMacs: () => [],
    getOpenSSLSecLevelCrypto: () => 1,
    getPqcKeyTypes: () => [],
    getSSLCiphers: () => [],
    isCryptoKey,
    isKeyObject,
    isX509Certificate: () => false,
    oneShotDigest,
    parsePKCS12: missing("PKCS #12"),
    parseX509: missing("X.509"),
    privateDecrypt: rsaFunction(1, true),
    privateEncrypt: rsaFunction(2, true),
    publicDecrypt: rsaFunction(3, false),
    publicEncrypt: rsaFunction(0, false),
    secureBuffer: (size) => new Uint8Array(size),
    secureHeapUsed: () => undefined,
    setFipsCrypto(wanted) {
      if (wanted) throw unavailable("FIPS mode");
    },
    testFipsCrypto: () => false,
    timingSafeEqual,
  };
}
