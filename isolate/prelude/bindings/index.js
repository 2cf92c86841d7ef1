/**
 * What `internalBinding(name)` gives, by name.
 */

import { primordials, sharedSymbols } from "../primordials.js";
import { wasmWebApi } from "../wasm.js";
import { blob } from "./blob.js";
import { crypto } from "./crypto.js";
import { fs, fsDir, fsEvent } from "./fs.js";
import { asyncContextFrame, asyncWrap, errors, inert, taskQueue, timers, traceEvents } from "./loop.js";
import { messaging } from "./messaging.js";
import { performance } from "./performance.js";
import { builtins, config, constants, credentials, os, permission, processMethods, uv } from "./system.js";
import { buffer, encoding, icu, stringDecoder, url } from "./text.js";
import { urlPattern } from "./url-pattern.js";
import { types, util } from "./util.js";
import { zlib } from "./zlib.js";

export const bindings = {
  __proto__: null,
  ...inert,
  async_context_frame: asyncContextFrame,
  async_wrap: asyncWrap,
  blob,
  buffer,
  builtins,
  config,
  constants,
  credentials,
  // Made when they are first asked for, which is in a run.
  get crypto() {
    return crypto();
  },
  encoding_binding: encoding,
  errors,
  fs,
  fs_dir: fsDir,
  fs_event_wrap: fsEvent,
  icu,
  messaging,
  os,
  performance,
  permission,
  process_methods: processMethods,
  string_decoder: stringDecoder,
  symbols: sharedSymbols,
  task_queue: taskQueue,
  timers,
  trace_events: traceEvents,
  types,
  url,
  url_pattern: urlPattern,
  util,
  uv,
  wasm_web_api: wasmWebApi,
  get zlib() {
    return zlib();
  },
};
primordials.ObjectFreeze(bindings);
