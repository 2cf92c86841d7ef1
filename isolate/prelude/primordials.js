/**
 * Node's primordials: every builtin of JavaScript as it was before any other code ran.
 *
 * The files of this folder use them like Node's library does, so that code which replaces
 * `Array.prototype.push` or the like changes nothing in the prelude.
 */

import { library } from "carrel:library";

export const primordials = {};

/** Values of properties that only the prelude knows. */
export const privateSymbols = { __proto__: null };

/** Names of the symbols that Node's C++ shares with its library as private ones. */
const PRIVATE_SYMBOLS = [
  "arrow_message_private_symbol",
  "contextify_context_private_symbol",
  "decorated_private_symbol",
  "empty_context_frame_sentinel_symbol",
  "transfer_mode_private_symbol",
  "host_defined_option_symbol",
  "js_transferable_wrapper_private_symbol",
  "entry_point_module_private_symbol",
  "entry_point_promise_private_symbol",
  "module_source_private_symbol",
  "module_export_names_private_symbol",
  "module_circular_visited_private_symbol",
  "module_export_private_symbol",
  "module_first_parent_private_symbol",
  "module_last_parent_private_symbol",
  "napi_type_tag",
  "napi_wrapper",
  "untransferable_object_private_symbol",
  "exit_info_private_symbol",
  "promise_trace_id",
  "source_map_data_private_symbol",
];

/** Symbols that Node's C++ shares with its library. */
export const sharedSymbols = { __proto__: null };

const SHARED_SYMBOLS = [
  "fs_use_promises_symbol",
  "async_id_symbol",
  "constructor_key_symbol",
  "handle_onclose",
  "no_message_symbol",
  "messaging_deserialize_symbol",
  "imported_cjs_symbol",
  "messaging_transfer_symbol",
  "messaging_clone_symbol",
  "messaging_transfer_list_symbol",
  "oninit",
  "owner_symbol",
  "onpskexchange",
  "resource_symbol",
  "trigger_async_id_symbol",
  "builtin_source_text_module_hdo",
  "source_text_module_default_hdo",
  "vm_context_no_contextify",
  "vm_dynamic_import_default_internal",
  "vm_dynamic_import_main_context_default",
  "vm_dynamic_import_missing_flag",
  "vm_dynamic_import_no_callback",
];

// Whoever makes the snapshot can give as many of V8's private symbols: those are seen by no reflection
// and pass no proxy. With ordinary ones everything works, too.
const { __carrel_private_symbols: given } = globalThis;
delete globalThis.__carrel_private_symbols;
for (const [index, name] of PRIVATE_SYMBOLS.entries()) privateSymbols[name] = given?.[index] ?? Symbol(name);
for (const name of SHARED_SYMBOLS) sharedSymbols[name] = Symbol(name);

library["internal/per_context/primordials"]({}, primordials, privateSymbols, sharedSymbols);

/** `value` with all objects inside without a prototype, for tables that come from JSON. */
export function table(value) {
  if (typeof value !== "object" || value === null || primordials.ArrayIsArray(value)) return value;
  const result = { __proto__: null };
  for (const key of primordials.ObjectKeys(value)) result[key] = table(value[key]);
  return result;
}
