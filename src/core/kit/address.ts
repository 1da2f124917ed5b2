/**
 * Which places of the network are public. Everything that talks to an address a stranger may have chosen (pages, media, hooks,
 * feeds, the browser) asks here before it connects.
 *
 * ADDRESS-1: default deny. An address is global when it is plain unicast space that the whole internet can reach; what is special,
 *     reserved, not yet given out or not understood is not.
 * ADDRESS-2: an IPv6 address that carries an IPv4 address is no better than the address it carries.
 * ADDRESS-3: a host is judged in the form in which it will be connected to: `0x7f.1`, `017700000001` and `LOCALHOST.` are what they mean.
 */

export type Host =
  /** An IP address in its one canonical spelling; IPv4 inside `::ffff:0:0/96` is given as IPv4. */
  | { kind: "address"; host: string }
  /** A name in lower case, ASCII form, without a dot at the end. */
  | { kind: "name"; host: string };

/** What a host of a URL means; undefined when it means nothing. Takes IPv6 with and without brackets. Never throws. */
export function parseHost(text: string): Host | undefined {
  const bytes = parseAddress(text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text);
  if (bytes) return { kind: "address", host: formatAddress(unmapped(bytes)) };
  // Whatever would end the host inside a URL (or open another part) is not part of a host.
  if (text === "" || /[\s/\\?#@:[\]<>^|\0]/.test(text)) return undefined;
  let host: string;
  try {
    // The parser of the platform knows octal, hexadecimal and short IPv4, percent signs and IDN; using it here means that
    // what is judged and what is connected to cannot differ.
    host = new URL(`http://${text}/`).hostname;
  } catch {
    return undefined;
  }
  const address = parseAddress(host);
  if (address) return { kind: "address", host: formatAddress(address) };
  const name = host.replace(/\.$/, "");
  return name === "" || name.startsWith(".") || name.includes("..") ? undefined : { kind: "name", host: name };
}

/** Names that always mean this machine (RFC 6761), whatever a name server says. Takes the canonical form. */
export function isLoopbackName(name: string): boolean {
  return (
    name === "localhost" || name.endsWith(".localhost") || name === "localhost.localdomain" || name === "ip6-localhost"
  );
}

/** What a name that means this machine stands for. */
export const LOOPBACK_ADDRESSES: readonly string[] = ["127.0.0.1", "::1"];
/** A server bound to one of these listens on every address; on this machine it is reached at the loopback one. */
export const BOUND_EVERYWHERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
/** The addresses a server may listen on without being open to others. Other spellings of this machine count as exposed. */
const LOOPBACK_BINDS: readonly string[] = [...LOOPBACK_ADDRESSES, "localhost"];

export function isLoopbackBind(bind: string): boolean {
  return LOOPBACK_BINDS.includes(bind);
}

/** Does this host, as it stands in a URL or without brackets, mean the machine Lares runs on? */
export function isLoopbackHost(host: string): boolean {
  const found = parseHost(host);
  if (!found) return false;
  return found.kind === "name" ? isLoopbackName(found.host) : whyNotGlobal(found.host) === "loopback";
}

/** Why an address is not public, in a few words ("loopback", "private network"); undefined when it is. */
export function whyNotGlobal(address: string): string | undefined {
  const bytes = parseAddress(address);
  if (!bytes) return "not an IP address";
  return bytes.length === 4 ? whyNot4(bytes) : whyNot6(bytes);
}

type Range = readonly [prefix: string, bits: number, why: string];

// IANA special-purpose registries (RFC 6890 and later), plus what clouds put on public numbers for their own machines.
const SPECIAL_4: readonly Range[] = [
  ["0.0.0.0", 8, "this network"],
  ["10.0.0.0", 8, "private network"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "loopback"],
  ["168.63.129.16", 32, "cloud platform service"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private network"],
  ["192.0.0.0", 24, "protocol assignments"],
  ["192.0.2.0", 24, "documentation"],
  ["192.88.99.0", 24, "6to4 relay"],
  ["192.168.0.0", 16, "private network"],
  ["198.18.0.0", 15, "benchmark network"],
  ["198.51.100.0", 24, "documentation"],
  ["203.0.113.0", 24, "documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

const SPECIAL_6: readonly Range[] = [
  ["::", 128, "unspecified"],
  ["::1", 128, "loopback"],
  ["fc00::", 7, "private network"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "site-local"],
  ["ff00::", 8, "multicast"],
  ["2001::", 23, "protocol assignments"],
  ["2001:db8::", 32, "documentation"],
  ["3ffe::", 16, "returned test network"],
  ["3fff::", 20, "documentation"],
];

/** All that is given out as global unicast; the rest of the space is reserved. */
const UNICAST_6: Range = ["2000::", 3, "reserved"];

function whyNot4(bytes: Bytes): string | undefined {
  return SPECIAL_4.find((range) => within(bytes, range))?.[2];
}

function whyNot6(bytes: Bytes): string | undefined {
  for (const { how, at, flip } of carriers(bytes)) {
    const carried = bytes.slice(at, at + 4).map((byte) => (flip ? byte ^ 0xff : byte));
    const why = whyNot4(carried);
    if (why) return `${how} to ${carried.join(".")}: ${why}`;
    // The carrier is a public gateway to a public address.
    if (how === "IPv4-mapped" || how === "NAT64" || how === "6to4") return undefined;
  }
  const special = SPECIAL_6.find((range) => within(bytes, range));
  if (special) return special[2];
  return within(bytes, UNICAST_6) ? undefined : UNICAST_6[2];
}

/** The places of an IPv6 address where an IPv4 address is carried. */
function carriers(bytes: Bytes): { how: string; at: number; flip?: boolean }[] {
  if (within(bytes, ["::ffff:0:0", 96, ""])) return [{ how: "IPv4-mapped", at: 12 }];
  if (within(bytes, ["64:ff9b::", 96, ""])) return [{ how: "NAT64", at: 12 }];
  if (within(bytes, ["2002::", 16, ""])) return [{ how: "6to4", at: 2 }];
  if (within(bytes, ["::ffff:0:0:0", 96, ""])) return [{ how: "IPv4-translated", at: 12 }];
  // The client's address is stored inverted (RFC 4380).
  if (within(bytes, ["2001::", 32, ""])) {
    return [
      { how: "Teredo", at: 12, flip: true },
      { how: "Teredo server", at: 4 },
    ];
  }
  if (within(bytes, ["::", 96, ""]) && !within(bytes, ["::", 127, ""])) return [{ how: "IPv4-compatible", at: 12 }];
  // ISATAP: 0000:5efe or 0200:5efe, then the address (RFC 5214).
  if ((bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    return [{ how: "ISATAP", at: 12 }];
  }
  return [];
}

type Bytes = readonly number[];

function within(bytes: Bytes, [prefix, bits]: Range): boolean {
  const start = parseAddress(prefix)!;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== start[i]) return false;
  const rest = bits & 7;
  return rest === 0 || (bytes[whole]! ^ start[whole]!) >> (8 - rest) === 0;
}

/** Strict: dotted IPv4 without leading zeros, or IPv6 without zone. */
function parseAddress(text: string): Bytes | undefined {
  if (!text.includes(":")) return parse4(text);
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (!tail) return parse6(text);
  const last = parse4(tail[2]!);
  if (!last) return undefined;
  const pair = (at: number) => ((last[at]! << 8) | last[at + 1]!).toString(16);
  return parse6(`${tail[1]}${pair(0)}:${pair(2)}`);
}

function parse4(text: string): Bytes | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parse6(text: string): Bytes | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [before, after] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const groups = after
    ? [...before!, ...Array<string>(Math.max(0, 8 - before!.length - after.length)).fill("0"), ...after]
    : before!;
  // `::` stands for at least one group.
  if (groups.length !== 8 || (after && before!.length + after.length > 7)) return undefined;
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}

function unmapped(bytes: Bytes): Bytes {
  return bytes.length === 16 && within(bytes, ["::ffff:0:0", 96, ""]) ? bytes.slice(12) : bytes;
}

function formatAddress(bytes: Bytes): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16));
  // The platform knows which run of zeros is shortened (RFC 5952).
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

/** Where a browser ends after a login to an MCP server: known there beforehand, so it can't change freely. */
export const LOGIN_END_PATH = "/mcp/login/done";
