/**
 * Bindings of what runs later: timers, immediates, ticks, microtasks, promise rejections, contexts
 * of asynchronous work.
 *
 * In Node libuv and the environment stand behind them. Here it is the loop of `../loop.js`, which
 * calls what the library registers and reads the counters that it keeps in the arrays.
 */

import { late } from "../late.js";
import { primordials, table } from "../primordials.js";

const { ErrorPrototypeToString, Float64Array, Int32Array, MathMax, String, Uint8Array, Uint32Array } = primordials;

/** What the library registered, and what the run driver registers for it. */
export const callbacks = {
  __proto__: null,
  /** `(error, isFromPromise)`: nobody caught `error`. */
  onUncaught: undefined,
  prepareStackTrace: undefined,
  processImmediate: undefined,
  processTicks: undefined,
  processTimers: undefined,
  promiseReject: undefined,
};

const monotonic = late("core", "monotonic");
const wake = late("core", "wake");
const nativeEnqueueMicrotask = late("core", "enqueueMicrotask");
const runMicrotasks = late("core", "runMicrotasks");

/** Milliseconds of the clock that timers go by, as a whole number. */
export function loopNow() {
  return primordials.MathTrunc(monotonic());
}

/** Asks for the timers to be processed in `delay` milliseconds. */
export function scheduleTimer(delay) {
  wake(loopNow() + MathMax(1, delay));
}

/** No timer is left. */
export function unscheduleTimer() {
  wake(-1);
}

export const timers = {
  __proto__: null,
  getLibuvNow: loopNow,
  /** How many immediates there are, how many of them are referenced, whether some are left from a round. */
  immediateInfo: new Uint32Array(3),
  scheduleTimer,
  setupTimers(processImmediate, processTimers) {
    callbacks.processImmediate = processImmediate;
    callbacks.processTimers = processTimers;
  },
  /** How many timers there are that keep the run going. */
  timeoutInfo: new Int32Array(1),
  toggleImmediateRef() {},
  toggleTimerRef() {},
};

export const taskQueue = {
  __proto__: null,
  enqueueMicrotask(callback) {
    // V8 drops what a microtask throws.
    nativeEnqueueMicrotask(() => {
      try {
        callback();
      } catch (error) {
        errors.triggerUncaughtException(error, false);
      }
    });
  },
  promiseRejectEvents: table({
    kPromiseHandlerAddedAfterReject: 1,
    kPromiseRejectAfterResolved: 2,
    kPromiseRejectWithNoHandler: 0,
    kPromiseResolveAfterResolved: 3,
  }),
  runMicrotasks,
  setPromiseRejectCallback(callback) {
    callbacks.promiseReject = callback;
  },
  setTickCallback(callback) {
    callbacks.processTicks = callback;
  },
  /** Whether a tick is scheduled, and whether a rejection waits to be told. */
  tickInfo: new Uint8Array(2),
};

const PROVIDERS =
  "NONE DIRHANDLE DNSCHANNEL ELDHISTOGRAM FILEHANDLE FILEHANDLECLOSEREQ BLOBREADER FSEVENTWRAP FSREQCALLBACK " +
  "FSREQPROMISE GETADDRINFOREQWRAP GETNAMEINFOREQWRAP HEAPSNAPSHOT HTTP2SESSION HTTP2STREAM HTTP2PING HTTP2SETTINGS " +
  "HTTPINCOMINGMESSAGE HTTPCLIENTREQUEST LOCKS JSSTREAM JSUDPWRAP MESSAGEPORT PIPECONNECTWRAP PIPESERVERWRAP PIPEWRAP " +
  "PROCESSWRAP PROMISE QUERYWRAP QUIC_ENDPOINT QUIC_LOGSTREAM QUIC_SESSION QUIC_STREAM QUIC_UDP SHUTDOWNWRAP SIGNALWRAP " +
  "STATWATCHER STREAMPIPE TCPCONNECTWRAP TCPSERVERWRAP TCPWRAP TTYWRAP UDPSENDWRAP UDPWRAP SIGINTWATCHDOG WORKER " +
  "WORKERCPUPROFILE WORKERCPUUSAGE WORKERHEAPPROFILE WORKERHEAPSNAPSHOT WORKERHEAPSTATISTICS WRITEWRAP ZLIB " +
  "CHECKPRIMEREQUEST PBKDF2REQUEST KEYPAIRGENREQUEST KEYGENREQUEST KEYEXPORTREQUEST ARGON2REQUEST CIPHERREQUEST " +
  "DERIVEBITSREQUEST HASHREQUEST RANDOMBYTESREQUEST RANDOMPRIMEREQUEST SCRYPTREQUEST SIGNREQUEST TLSWRAP VERIFYREQUEST";

const Providers = { __proto__: null };
for (const [index, name] of PROVIDERS.split(" ").entries()) Providers[name] = index;

const K_STACK_LENGTH = 7;
const K_EXECUTION_ASYNC_ID = 0;
const K_TRIGGER_ASYNC_ID = 1;

export const asyncWrap = {
  __proto__: null,
  Providers,
  async_hook_fields: new Uint32Array(9),
  async_id_fields: new Float64Array(4),
  async_ids_stack: new Float64Array(32),
  clearAsyncIdStack() {
    asyncWrap.async_hook_fields[K_STACK_LENGTH] = 0;
    asyncWrap.async_id_fields[K_EXECUTION_ASYNC_ID] = 0;
    asyncWrap.async_id_fields[K_TRIGGER_ASYNC_ID] = 0;
    asyncWrap.execution_async_resources.length = 0;
  },
  constants: table({
    kAfter: 2,
    kAsyncIdCounter: 2,
    kBefore: 1,
    kCheck: 6,
    kDefaultTriggerAsyncId: 3,
    kDestroy: 3,
    kExecutionAsyncId: 0,
    kInit: 0,
    kPromiseResolve: 4,
    kStackLength: K_STACK_LENGTH,
    kTotals: 5,
    kTriggerAsyncId: 1,
    kUsesExecutionAsyncResource: 8,
  }),
  executionAsyncResource: (index) => asyncWrap.execution_async_resources[index],
  execution_async_resources: [],
  getPromiseHooks: () => [undefined, undefined, undefined, undefined],
  popAsyncContext() {
    const fields = asyncWrap.async_hook_fields;
    const ids = asyncWrap.async_id_fields;
    const depth = fields[K_STACK_LENGTH];
    if (depth === 0) return false;
    ids[K_EXECUTION_ASYNC_ID] = asyncWrap.async_ids_stack[2 * (depth - 1)];
    ids[K_TRIGGER_ASYNC_ID] = asyncWrap.async_ids_stack[2 * (depth - 1) + 1];
    asyncWrap.execution_async_resources.length = depth - 1;
    fields[K_STACK_LENGTH] = depth - 1;
    return depth > 1;
  },
  // The library keeps the stack itself until it is full.
  pushAsyncContext(asyncId, triggerAsyncId, resource) {
    const fields = asyncWrap.async_hook_fields;
    const ids = asyncWrap.async_id_fields;
    const depth = fields[K_STACK_LENGTH];
    if (depth * 2 >= asyncWrap.async_ids_stack.length) {
      const larger = new Float64Array(asyncWrap.async_ids_stack.length * 3);
      primordials.TypedArrayPrototypeSet(larger, asyncWrap.async_ids_stack);
      asyncWrap.async_ids_stack = larger;
    }
    asyncWrap.async_ids_stack[2 * depth] = ids[K_EXECUTION_ASYNC_ID];
    asyncWrap.async_ids_stack[2 * depth + 1] = ids[K_TRIGGER_ASYNC_ID];
    fields[K_STACK_LENGTH] = depth + 1;
    ids[K_EXECUTION_ASYNC_ID] = asyncId;
    ids[K_TRIGGER_ASYNC_ID] = triggerAsyncId;
    if (resource !== undefined) asyncWrap.execution_async_resources[depth] = resource;
  },
  queueDestroyAsyncId() {},
  registerDestroyHook() {},
  setCallbackTrampoline() {},
  setPromiseHooks() {},
  setupHooks() {},
};
// Number 1 is the execution of the module itself.
asyncWrap.async_id_fields[asyncWrap.constants.kAsyncIdCounter] = 1;
asyncWrap.async_id_fields[asyncWrap.constants.kDefaultTriggerAsyncId] = -1;
asyncWrap.async_hook_fields[asyncWrap.constants.kCheck] = 1;

export const asyncContextFrame = {
  __proto__: null,
  getContinuationPreservedEmbedderData: late("core", "getContinuationData"),
  setContinuationPreservedEmbedderData: late("core", "setContinuationData"),
};

const getConstructorName = late("util", "getConstructorName");
const isNativeError = late("types", "isNativeError");

export const errors = {
  __proto__: null,
  exitCodes: table({
    kAbort: 134,
    kBootstrapFailure: 10,
    kExceptionInFatalExceptionHandler: 7,
    kGenericUserError: 1,
    kInternalJSEvaluationFailure: 4,
    kInternalJSParseError: 3,
    kInvalidCommandLineArgument: 9,
    kInvalidCommandLineArgument2: 12,
    kInvalidFatalExceptionMonkeyPatching: 6,
    kNoFailure: 0,
    kStartupSnapshotFailure: 14,
    kUnsettledTopLevelAwait: 13,
    kV8FatalError: 5,
  }),
  getErrorSourcePositions: () => undefined,
  noSideEffectsToString(value) {
    if (typeof value === "symbol") return primordials.SymbolPrototypeToString(value);
    if (typeof value === "function") return primordials.FunctionPrototypeToString(value);
    if (typeof value !== "object" || value === null) return String(value);
    try {
      return isNativeError(value) ? ErrorPrototypeToString(value) : `#<${getConstructorName(value)}>`;
    } catch {
      return "#<Object>";
    }
  },
  setEnhanceStackForFatalException() {},
  setGetSourceMapErrorSource() {},
  setMaybeCacheGeneratedSourceMap() {},
  setPrepareStackTraceCallback(callback) {
    callbacks.prepareStackTrace = callback;
  },
  setSourceMapsEnabled() {},
  triggerUncaughtException(error, isFromPromise) {
    if (callbacks.onUncaught === undefined) throw error;
    callbacks.onUncaught(error, isFromPromise);
  },
};

export const traceEvents = {
  __proto__: null,
  CategorySet: class CategorySet {
    disable() {}
    enable() {}
  },
  getCategoryEnabledBuffer: () => new Uint8Array(1),
  getEnabledCategories: () => undefined,
  hasAgent: () => false,
  isTraceCategoryEnabled: () => false,
  setTraceCategoryStateUpdateHandler() {},
  trace() {},
};

/** Bindings that only say "no": what they are for does not exist in an isolate. */
export const inert = {
  __proto__: null,
  contextify: {
    __proto__: null,
    constants: table({ measureMemory: {} }),
    startSigintWatchdog() {},
    stopSigintWatchdog: () => false,
    watchdogHasPendingSigint: () => false,
  },
  diagnostics_channel: {
    __proto__: null,
    linkNativeChannel() {},
    notifyChannelActive() {},
    notifyChannelInactive() {},
    subscribers: new Uint32Array(1024),
  },
  inspector: {
    __proto__: null,
    consoleCall() {},
    isEnabled: () => false,
    setConsoleExtensionInstaller() {},
  },
  mksnapshot: {
    __proto__: null,
    anonymousMainPath: "__node_anonymous_main",
    isBuildingSnapshotBuffer: new Uint8Array(1),
    setDeserializeCallback() {},
    setDeserializeMainFunction() {},
    setSerializeCallback() {},
  },
  module_wrap: { __proto__: null },
  modules: { __proto__: null },
  report: { __proto__: null, shouldReportOnUncaughtException: () => false },
  stream_wrap: {
    __proto__: null,
    ShutdownWrap: class ShutdownWrap {},
    WriteWrap: class WriteWrap {},
    kArrayBufferOffset: 1,
    kBytesWritten: 2,
    kLastWriteErr: 4,
    kLastWriteWasAsync: 3,
    kReadBytesOrError: 0,
    streamBaseState: new Int32Array(5),
  },
  worker: {
    __proto__: null,
    getEnvMessagePort() {},
    isInternalThread: false,
    isMainThread: true,
    ownsProcessState: true,
    threadId: 0,
    threadName: "",
  },
};
