// Which hosts runs may reach: the `allow` list of a backend's network.
//
// An entry is a host, `*.host` for everything below it, `*` for every public address, an address, or a
// network such as `10.0.0.0/8`; behind any of them may be `:port`, or `:*`. Without one the ports are 80
// and 443.
//
// - Names are compared before anything is looked up, so that no name leaves the machine that is not allowed.
// - Entries for addresses are about addresses in URLs, not about what a name leads to.
// - An address that is not public needs an entry other than `*`, and `allowPrivate`.

import { isIP } from "node:net";
import { WorkspaceError } from "../errors.js";
import { addressBytes, isIn, isPublic, type Network, parseNetwork } from "./addresses.js";

interface Entry {
  /** A host in lower case, `*`, or `.host` for everything below it. */
  name?: string;
  network?: Network;
  /** The ports; none is every port. */
  ports: readonly number[] | undefined;
}

/** What a list says of a host and port. */
export interface Verdict {
  /** Whether it may be asked for at all. */
  isAllowed: boolean;
  /** Whether it may have an address that is not public. */
  mayBePrivate: boolean;
}

const NO: Verdict = { isAllowed: false, mayBePrivate: false };

/** A list of what is allowed. */
export class AllowList {
  readonly #entries: readonly Entry[];
  readonly #allowPrivate: boolean;

  /** Throws `EINVAL` for an entry that means nothing. */
  constructor(entries: readonly string[], allowPrivate: boolean) {
    this.#entries = entries.map(parseEntry);
    this.#allowPrivate = allowPrivate;
  }

  /** About the host of a URL, as `URL` writes it but without brackets, before it is looked up. */
  judge(host: string, port: number): Verdict {
    const name = host.toLowerCase().replace(/\.$/, "");
    const address = addressBytes(name);
    const matching = this.#entries.filter(
      ({ ports, ...entry }) => (ports === undefined || ports.includes(port)) && matches(entry, name, address),
    );
    if (matching.length === 0) return NO;
    const mayBePrivate = this.#allowPrivate && matching.some((entry) => entry.name !== "*");
    return { isAllowed: !address || mayBePrivate || isPublic(address), mayBePrivate };
  }

  /** Whether a connection to an address is right, for a host that was judged so. */
  isReachable(address: string, { isAllowed, mayBePrivate }: Verdict): boolean {
    const bytes = addressBytes(address);
    return isAllowed && bytes !== undefined && (mayBePrivate || isPublic(bytes));
  }
}

function matches(entry: Omit<Entry, "ports">, name: string, address: Uint8Array | undefined): boolean {
  if (entry.network) return address !== undefined && isIn(address, entry.network);
  if (entry.name === "*") return true;
  if (address) return false;
  return entry.name?.startsWith(".") ? name.endsWith(entry.name) : name === entry.name;
}

function parseEntry(entry: unknown): Entry {
  if (typeof entry !== "string" || entry === "") throw wrong(entry);
  const { host, port } = split(entry);
  const ports = port === undefined ? [80, 443] : port === "*" ? undefined : [portOf(port, entry)];
  if (host === "*") return { name: "*", ports };
  const network = parseNetwork(host);
  if (network) return { network, ports };
  if (host.startsWith("*.")) return { name: `.${hostOf(host.slice(2), entry)}`, ports };
  return { name: hostOf(host, entry), ports };
}

/** `[::1]:80`, `::1`, `fd00::/8`, `host:80`. */
function split(entry: string): { host: string; port?: string | undefined } {
  const bracketed = /^\[([^\]]+)\](?::(.+))?$/.exec(entry);
  if (bracketed?.[1]) return { host: bracketed[1], port: bracketed[2] };
  const colon = entry.lastIndexOf(":");
  if (colon < 0 || entry.indexOf(":") !== colon) return { host: entry };
  return { host: entry.slice(0, colon), port: entry.slice(colon + 1) };
}

function portOf(text: string, entry: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65535) throw wrong(entry);
  return port;
}

/** A host as a URL has it: lower case, without Unicode, and not a number in disguise. */
function hostOf(text: string, entry: string): string {
  let host: string;
  try {
    host = new URL(`http://${text}/`).host;
  } catch {
    throw wrong(entry);
  }
  const isName = !/[/?#@:*\s]/.test(text) && isIP(host) === 0 && host !== "";
  if (!isName) throw wrong(entry);
  return host.replace(/\.$/, "");
}

function wrong(entry: unknown): WorkspaceError {
  return new WorkspaceError(
    "EINVAL",
    `EINVAL: ${JSON.stringify(entry) ?? String(entry)} in egress.allow is no host, host:port, *.host, address or network`,
    { errno: -22 },
  );
}
