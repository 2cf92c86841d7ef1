// IP addresses: which are public, and which networks they are in.
//
// An address is what a socket is connected to, not what a name promises, so this is where a run is kept
// from the machine it runs on and the networks around it.

import { isIP } from "node:net";

/** A network: the first bits of an address. Version 4 is written as version 6, `::ffff:a.b.c.d`. */
export interface Network {
  bytes: Uint8Array;
  bits: number;
}

/** The sixteen bytes of an address, or nothing if it is none. A zone (`%eth0`) does not matter. */
export function addressBytes(text: string): Uint8Array | undefined {
  const address = text.replace(/%.*$/s, "");
  const version = isIP(address);
  if (version === 0) return undefined;
  const bytes = new Uint8Array(16);
  if (version === 4) {
    bytes.fill(0xff, 10, 12);
    bytes.set(address.split(".").map(Number), 12);
    return bytes;
  }
  const groups = (side: string): number[] =>
    side === ""
      ? []
      : side.split(":").flatMap((group) => {
          if (!group.includes(".")) return [Number.parseInt(group, 16)];
          const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
          return [a * 256 + b, c * 256 + d];
        });
  const [before = "", after] = address.split("::");
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const all = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  all.forEach((group, at) => {
    bytes[at * 2] = group >> 8;
    bytes[at * 2 + 1] = group & 255;
  });
  return bytes;
}

/** A network as people write it: `10.0.0.0/8`, `fd00::/8`, or an address alone. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", length, ...more] = text.split("/");
  const bytes = addressBytes(address);
  if (!bytes || more.length > 0) return undefined;
  const longest = isIP(address) === 4 ? 32 : 128;
  if (length === undefined) return { bytes, bits: 128 };
  if (!/^\d{1,3}$/.test(length) || Number(length) > longest) return undefined;
  return { bytes, bits: Number(length) + 128 - longest };
}

/** Whether an address is in a network. */
export function isIn(address: Uint8Array, { bytes, bits }: Network): boolean {
  const whole = bits >> 3;
  for (let at = 0; at < whole; at += 1) if (address[at] !== bytes[at]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((address[whole] ?? 0) & mask) === ((bytes[whole] ?? 0) & mask);
}

const network = (text: string): Network => {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`${text} is no network`);
  return parsed;
};

/** Everything in version 4 that is not somebody's public address. */
const NOT_PUBLIC_4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // behind carriers' NAT
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // the host of Azure's machines, in a public range
  "169.254.0.0/16", // link-local, metadata services
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocols
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
].map(network);

/** What is not public inside the range that version 6 has for public addresses. */
const NOT_PUBLIC_6 = [
  "2001::/23", // protocols, Teredo
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which holds addresses of version 4
  "3fff::/20", // documentation
].map(network);

const MAPPED_4 = network("::ffff:0:0/96");
const TRANSLATED_4 = network("64:ff9b::/96");
const GLOBAL_6 = network("2000::/3");

/** Whether an address is on the public internet, whatever way it is written in. */
export function isPublic(address: Uint8Array): boolean {
  if (isIn(address, TRANSLATED_4)) {
    const mapped = Uint8Array.from(address);
    mapped.set(MAPPED_4.bytes.subarray(0, 12));
    return isPublic(mapped);
  }
  const special = isIn(address, MAPPED_4) ? NOT_PUBLIC_4 : NOT_PUBLIC_6;
  if (special === NOT_PUBLIC_6 && !isIn(address, GLOBAL_6)) return false;
  return !special.some((range) => isIn(address, range));
}
