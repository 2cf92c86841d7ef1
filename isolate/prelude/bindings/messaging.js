/**
 * `internalBinding('messaging')`: structured clones and the two ends of a message channel.
 *
 * A message is cloned when it is posted and delivered as a task of a later turn, in the order of
 * posting. Both ends are always in this isolate.
 */

import { library } from "carrel:library";
import { late, whenNative } from "../late.js";
import { later } from "../loop.js";
import { primordials, privateSymbols, sharedSymbols } from "../primordials.js";
import { constants } from "./util.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeShift,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectSetPrototypeOf,
  SafeWeakMap,
  TypeError,
} = primordials;

const { transfer_mode_private_symbol, untransferable_object_private_symbol } = privateSymbols;
const {
  handle_onclose,
  messaging_clone_symbol,
  messaging_deserialize_symbol,
  messaging_transfer_list_symbol,
  messaging_transfer_symbol,
  no_message_symbol,
  oninit,
} = sharedSymbols;

const perContext = {};
library["internal/per_context/domexception"](perContext, primordials, privateSymbols, sharedSymbols);
library["internal/per_context/messageport"](perContext, primordials, privateSymbols, sharedSymbols);
const { DOMException, emitMessage } = perContext;

const nativeClone = late("messaging", "structuredClone");

let createDeserialized;

// How V8's serializer deals with objects of the library, and with ports.
whenNative((natives) => {
  natives.messaging?.setHooks?.({
    __proto__: null,
    DOMException,
    clone: messaging_clone_symbol,
    create: (deserializeInfo) => createDeserialized(deserializeInfo),
    deserialize: messaging_deserialize_symbol,
    transfer: messaging_transfer_symbol,
    transferList: messaging_transfer_list_symbol,
    transferMode: transfer_mode_private_symbol,
    untransferable: untransferable_object_private_symbol,
  });
});

/** What a port is: its other end, what waits for it, whether it delivers, whether it is closed. */
const ports = new SafeWeakMap();

/** The new ports in the places of those that are transferred by the message that is being posted. */
let moved;

function refuse(message) {
  throw new DOMException(message, "DataCloneError");
}

/** Errors that Node's C++ throws have a code. */
function codedTypeError(code, message) {
  const error = new TypeError(message);
  error.code = code;
  return error;
}

/** What Node's ports inherit from its C++. */
function HandleWrap() {}

HandleWrap.prototype.close = function close() {
  const state = ports.get(this);
  if (state === undefined || state.isDetached) return;
  state.isDetached = true;
  const other = state.other;
  later(() => closed(this));
  if (other !== undefined && !ports.get(other).isDetached) {
    // What was posted before comes first.
    later(() => {
      const otherState = ports.get(other);
      if (otherState.isDetached) return;
      otherState.isDetached = true;
      closed(other);
    });
  }
};
HandleWrap.prototype.ref = function ref() {
  const state = ports.get(this);
  if (state !== undefined) state.isReferenced = true;
};
HandleWrap.prototype.unref = function unref() {
  const state = ports.get(this);
  if (state !== undefined) state.isReferenced = false;
};
HandleWrap.prototype.hasRef = function hasRef() {
  const state = ports.get(this);
  // `inspect` learns by this that it has a port's likeness, and not a port, in its hands.
  if (state === undefined) throw new TypeError("Illegal invocation");
  return state.isDetached ? undefined : state.isReferenced;
};

function closed(port) {
  port[handle_onclose]?.();
}

function MessagePort() {
  throw codedTypeError("ERR_CONSTRUCT_CALL_INVALID", "Constructor cannot be called");
}

ObjectSetPrototypeOf(MessagePort.prototype, HandleWrap.prototype);

function createPort() {
  const port = ObjectCreate(MessagePort.prototype);
  ports.set(port, {
    __proto__: null,
    isDetached: false,
    isReferenced: false,
    isStarted: false,
    other: undefined,
    queue: [],
  });
  port[transfer_mode_private_symbol] = constants.kTransferable;
  port[oninit]?.();
  return port;
}

/** A new port in the place of `port`, which is detached. */
function movePort(port) {
  const state = ports.get(port);
  const successor = createPort();
  const successorState = ports.get(successor);
  successorState.other = state.other;
  successorState.queue = state.queue;
  if (state.other !== undefined) ports.get(state.other).other = successor;
  state.other = undefined;
  state.queue = [];
  state.isDetached = true;
  return successor;
}

ObjectDefineProperty(MessagePort.prototype, messaging_transfer_symbol, {
  __proto__: null,
  configurable: true,
  enumerable: false,
  value() {
    const successor = movePort(this);
    if (moved !== undefined) ArrayPrototypePush(moved, successor);
    return { __proto__: null, object: successor };
  },
  writable: true,
});

/** Delivers one message of `port` as a task. */
function deliver(port) {
  const state = ports.get(port);
  if (state.isDetached || !state.isStarted || state.queue.length === 0) return;
  const { message, moved: arrived } = ArrayPrototypeShift(state.queue);
  primordials.FunctionPrototypeCall(emitMessage, port, message, arrived, "message");
}

ObjectDefineProperty(MessagePort.prototype, "postMessage", {
  __proto__: null,
  configurable: true,
  enumerable: true,
  value: function postMessage(...args) {
    const { 0: message, 1: options } = args;
    if (args.length === 0) {
      throw codedTypeError("ERR_MISSING_ARGS", "Not enough arguments to MessagePort.postMessage");
    }
    let transferList = [];
    if (options !== null && options !== undefined) {
      if (typeof options !== "object") {
        throw codedTypeError("ERR_INVALID_ARG_TYPE", "Optional transferList argument must be an iterable");
      }
      const list =
        ArrayIsArray(options) || typeof options[primordials.SymbolIterator] === "function" ? options : options.transfer;
      if (list !== undefined) {
        if (typeof list?.[primordials.SymbolIterator] !== "function") {
          throw codedTypeError("ERR_INVALID_ARG_TYPE", "Optional options.transfer argument must be an iterable");
        }
        transferList = primordials.ArrayFrom(list);
      }
    }
    const state = ports.get(this);
    if (state === undefined) throw codedTypeError("ERR_INVALID_THIS", 'Value of "this" must be of type MessagePort');
    for (let index = 0; index < transferList.length; index++) {
      if (transferList[index] === this) refuse("Transfer list contains source port");
      if (ports.get(transferList[index])?.isDetached) refuse("MessagePort in transfer list is already detached");
    }
    const outer = moved;
    moved = [];
    let copy;
    let arrived;
    try {
      copy = nativeClone(message, { __proto__: null, transfer: transferList });
    } finally {
      arrived = moved;
      moved = outer;
    }
    const { other } = state;
    if (state.isDetached || other === undefined) return;
    const otherState = ports.get(other);
    ArrayPrototypePush(otherState.queue, { __proto__: null, message: copy, moved: arrived });
    if (otherState.isStarted) later(() => deliver(other));
  },
  writable: true,
});

ObjectDefineProperty(MessagePort.prototype, "start", {
  __proto__: null,
  configurable: true,
  enumerable: true,
  value: function start() {
    const state = ports.get(this);
    if (state === undefined || state.isStarted) return;
    state.isStarted = true;
    for (let index = 0; index < state.queue.length; index++) later(() => deliver(this));
  },
  writable: true,
});

function MessageChannel() {
  if (new.target === undefined) {
    throw codedTypeError(
      "ERR_CONSTRUCT_CALL_REQUIRED",
      "Class constructor MessageChannel cannot be invoked without `new`",
    );
  }
  this.port1 = createPort();
  this.port2 = createPort();
  ports.get(this.port1).other = this.port2;
  ports.get(this.port2).other = this.port1;
}

export const messaging = {
  __proto__: null,
  DOMException,
  MessageChannel,
  MessagePort,
  broadcastChannel() {},
  drainMessagePort() {},
  exposeLazyDOMExceptionProperty(target) {
    ObjectDefineProperty(target, "DOMException", {
      __proto__: null,
      configurable: true,
      enumerable: false,
      value: DOMException,
      writable: true,
    });
  },
  moveMessagePortToContext: (port) => port,
  receiveMessageOnPort(port) {
    const state = ports.get(port);
    if (state === undefined) {
      throw codedTypeError("ERR_INVALID_ARG_TYPE", 'The "port" argument must be a MessagePort instance');
    }
    return state.queue.length === 0 ? no_message_symbol : ArrayPrototypeShift(state.queue).message;
  },
  setDeserializerCreateObjectFunction(create) {
    createDeserialized = create;
  },
  stopMessagePort(port) {
    const state = ports.get(port);
    if (state !== undefined) state.isStarted = false;
  },
  structuredClone: nativeClone,
};
