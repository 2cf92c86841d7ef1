/**
 * `internalBinding('url_pattern')`: the class `URLPattern`, of the package urlpattern-polyfill, with
 * the properties enumerable as the standard says.
 */

import { URLPattern } from "urlpattern-polyfill/urlpattern";
import { primordials } from "../primordials.js";

const { ObjectDefineProperty, ObjectGetOwnPropertyDescriptor, ReflectOwnKeys } = primordials;

// A remnant of an older draft.
delete URLPattern.compareComponent;

for (const key of ReflectOwnKeys(URLPattern.prototype)) {
  if (typeof key !== "string" || key === "constructor") continue;
  const descriptor = ObjectGetOwnPropertyDescriptor(URLPattern.prototype, key);
  ObjectDefineProperty(URLPattern.prototype, key, { ...descriptor, enumerable: true });
}

export const urlPattern = { __proto__: null, URLPattern };
