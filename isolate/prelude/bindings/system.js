/**
 * Bindings that tell what the process is: constants, error numbers, options, the machine, the user.
 *
 * Nothing here asks the real system. An isolate sees a Linux machine with one processor, a user whose
 * number is 0, and none of the switches of Node's command line.
 */

import { late } from "../late.js";
import { primordials, table } from "../primordials.js";
import constantsTable from "./constants.json";
import uvErrors from "./uv-errors.json";

const { ObjectFreeze, SafeMap, Uint32Array } = primordials;

export const constants = table(constantsTable);
ObjectFreeze(constants.os.signals);

const errorNames = new SafeMap();
for (const [number, name, message] of uvErrors) errorNames.set(number, [name, message]);

/** Name and message of libuv's error number, or undefined. */
export function errorOfNumber(number) {
  return errorNames.get(number);
}

export const uv = {
  __proto__: null,
  errname: (number) => errorNames.get(number)?.[0] ?? `Unknown system error ${number}`,
  getErrorMap: () => errorNames,
  getErrorMessage: (number) => errorNames.get(number)?.[1] ?? `Unknown system error ${number}`,
};
for (const [number, name] of uvErrors) uv[`UV_${name}`] = number;

export const config = {
  __proto__: null,
  bits: 64,
  fipsMode: false,
  getDefaultLocale: () => "en-US",
  hasInspector: false,
  hasIntl: true,
  hasNodeOptions: false,
  hasOpenSSL: true,
  hasTracing: false,
  isDebugBuild: false,
  noBrowserGlobals: false,
  openSSLIsBoringSSL: false,
};

/** The process object, for its variables; the realm sets it. */
export const environment = { __proto__: null, process: undefined };

export const credentials = {
  __proto__: null,
  getTempDir: () => "/tmp",
  getegid: () => 0,
  geteuid: () => 0,
  getgid: () => 0,
  getgroups: () => [0],
  getuid: () => 0,
  implementsPosixCredentials: true,
  safeGetenv: (name) => environment.process?.env[name],
};

const monotonic = late("core", "monotonic");
const MEMORY_BYTES = 2 ** 31;

export const os = {
  __proto__: null,
  getAvailableParallelism: () => 1,
  // Seven values for each processor.
  getCPUs: () => ["virtual", 0, 0, 0, 0, 0, 0],
  getFreeMem: () => MEMORY_BYTES,
  getHomeDirectory: () => environment.process?.env.HOME ?? "/",
  getHostname: () => "localhost",
  getInterfaceAddresses: () => [],
  getLoadAvg(values) {
    values[0] = 0;
    values[1] = 0;
    values[2] = 0;
  },
  getOSInformation: () => ["Linux", "#1", "6.0.0", "x86_64"],
  getPriority: () => 0,
  getTotalMem: () => MEMORY_BYTES,
  getUptime: () => monotonic() / 1000,
  getUserInfo(options) {
    const isBuffer = options?.encoding === "buffer";
    const text = (value) => (isBuffer ? primordials.globalThis.Buffer.from(value) : value);
    return {
      __proto__: null,
      gid: 0,
      homedir: text("/"),
      shell: null,
      uid: 0,
      username: text("root"),
    };
  },
  isBigEndian: false,
  setPriority(_pid, _priority, context) {
    context.errno = uv.UV_EPERM;
    context.code = "EPERM";
    context.message = errorNames.get(uv.UV_EPERM)[1];
    context.syscall = "uv_os_setpriority";
    return uv.UV_EPERM;
  },
};

const hrtimeBuffer = new Uint32Array(3);
const hrtimeBigBuffer = new primordials.BigUint64Array(hrtimeBuffer.buffer, 0, 1);

export const processMethods = {
  __proto__: null,
  _getActiveHandles: () => [],
  _getActiveRequests: () => [],
  availableMemory: () => MEMORY_BYTES,
  constrainedMemory: () => MEMORY_BYTES,
  cpuUsage(values) {
    values[0] = monotonic() * 1000;
    values[1] = 0;
  },
  getActiveResourcesInfo: () => [],
  hrtime() {
    const now = monotonic();
    const seconds = primordials.MathFloor(now / 1000);
    hrtimeBuffer[0] = seconds / 0x1_0000_0000;
    hrtimeBuffer[1] = seconds;
    hrtimeBuffer[2] = primordials.MathFloor((now - seconds * 1000) * 1e6);
  },
  hrtimeBigInt() {
    hrtimeBigBuffer[0] = primordials.BigInt(primordials.MathFloor(monotonic() * 1e6));
  },
  hrtimeBuffer,
  memoryUsage(values) {
    primordials.TypedArrayPrototypeFill(values, 0);
  },
  resourceUsage(values) {
    primordials.TypedArrayPrototypeFill(values, 0);
  },
  rss: () => 0,
  setEmitWarningSync() {},
  threadCpuUsage(values) {
    values[0] = monotonic() * 1000;
    values[1] = 0;
  },
  uptime: () => monotonic() / 1000,
};

/** Switches of Node's command line that are on here; all others are off. */
const OPTIONS = table({
  "--async-context-frame": true,
  "--deprecation": true,
  "--disable-warning": [],
  "--experimental-global-navigator": true,
  "--icu-data-dir": "",
  "--max-http-header-size": 16384,
  "--network-family-autoselection": true,
  "--network-family-autoselection-attempt-timeout": 250,
  "--stack-trace-limit": 10,
  "--unhandled-rejections": "throw",
  "--warnings": true,
});

/** The value of a switch of Node's command line. */
export function optionValue(name) {
  return OPTIONS[name];
}

export const permission = { __proto__: null, drop() {}, has: () => true };

export const builtins = { __proto__: null, hasCachedBuiltins: () => true, natives: { __proto__: null } };
