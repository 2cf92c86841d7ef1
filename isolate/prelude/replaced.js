/**
 * Files of Node's library that are too much for an isolate, as little as the rest of it needs.
 *
 * Each is `(realm) => exports`, called when the file is first required.
 */

import { optionValue } from "./bindings/system.js";
import { getErrorSourceExpression } from "./error-source.js";
import { dispatcher } from "./fetch.js";
import { rimraf, rimrafPromises } from "./fs-overrides.js";
import { primordials, privateSymbols } from "./primordials.js";

export const replaced = {
  __proto__: null,
  "carrel/dispatcher": () => dispatcher,
  http: () => ({ IncomingMessage: class IncomingMessage {}, STATUS_CODES: { __proto__: null } }),
  "internal/bootstrap/realm": (realm) => ({
    BuiltinModule: {
      __proto__: null,
      canBeRequiredByUsers: realm.isPublic,
      canBeRequiredWithoutScheme: realm.isPublic,
      exists: realm.exists,
      getSchemeOnlyModuleNames: () => [],
      isBuiltin: realm.isPublic,
      normalizeRequirableId: (id) => realm.publicId(id),
    },
    internalBinding: realm.internalBinding,
    require: realm.require,
  }),
  "internal/errors/error_source": () => ({ getErrorSourceExpression }),
  "internal/fs/rimraf": () => ({ rimraf, rimrafPromises }),
  "internal/modules/helpers": () => ({ getBuiltinModule: () => undefined }),
  "internal/options": () => ({
    getAllowUnauthorized: () => false,
    getEmbedderOptions: () => ({ __proto__: null }),
    getOptionValue: optionValue,
    refreshOptions() {},
  }),
  "internal/process/execution": (realm) => ({
    tryGetCwd: () => realm.process.cwd(),
  }),
  "internal/source_map/source_map_cache": () => ({
    findSourceMap: () => undefined,
    getSourceLine: () => undefined,
    getSourceMapsSupport: () => ({ __proto__: null, enabled: false, generatedCode: false, nodeModules: false }),
  }),
  net: () => ({ isIP: () => 0 }),
  // There are no signals.
  "internal/util/trace_sigint": () => ({ setTraceSigInt() {} }),
  "internal/worker": () => ({
    isInternalThread: false,
    isMainThread: true,
    ownsProcessState: true,
    threadId: 0,
  }),
  // The library wants another context's regular expressions, which leave no trace in `RegExp.$1`.
  vm: () => ({ runInNewContext: () => ({ __proto__: null, RegExp: primordials.RegExp }) }),
  worker_threads: () => ({
    markAsUncloneable(object) {
      object[privateSymbols.transfer_mode_private_symbol] = 0;
    },
  }),
};
