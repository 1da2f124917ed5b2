/**
 * THE rule of what may be reached on the network. The fetcher and the browser's proxy ask here, and connect only to the
 * addresses they are given back.
 *
 * WEB-5: http and https only, no user or password in the address, no port that belongs to another protocol.
 * WEB-6: a name is resolved here, once; every address it has is judged, and one that may not be reached refuses the name.
 * WEB-7: who connects uses the returned addresses and never the name again, so a name that changes its mind changes nothing.
 */
import { lookup } from "node:dns/promises";
import { AppError } from "../../../core/domain/index.ts";
import { isLoopbackName, LOOPBACK_ADDRESSES, parseHost, whyNotGlobal } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";

/** Names to addresses. The real one asks the operating system, hosts file included. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface ReachRules {
  /** Asked for an address that is not public: did the operator allow it for this host? Default: no. */
  mayReach?: (host: string, address: string, port: number) => boolean;
  /** Asked for every host: did the operator forbid it? Default: no. */
  isDenied?: (host: string) => boolean;
  resolve?: Resolve;
}

export interface Reach {
  /** The checked addresses of a host, canonical, at least one. Throws FORBIDDEN, or NOT_FOUND when the name is not known. */
  addresses(host: string, port: number): Promise<string[]>;
  /** The URL when it may be tried at all, judged without asking a name server. Throws TOOL_INPUT or FORBIDDEN. */
  check(url: string | URL): URL;
}

export function createReach(rules: ReachRules = {}): Reach {
  const { mayReach = () => false, isDenied = () => false, resolve = systemResolve } = rules;

  function judge(host: string, address: string, port: number): void {
    const why = whyNotGlobal(address);
    if (why === undefined || mayReach(host, address, port)) return;
    throw refused(
      host === address ? `${address} is not a public address (${why})` : `${host} resolves to ${address} (${why})`,
    );
  }

  /** Addresses that are known without a name server; undefined for an ordinary name. */
  function literal(host: string, port: number): { name: string; addresses?: string[] } {
    const parsed = parseHost(host);
    if (!parsed) throw refused(`"${visibleLine(host)}" is not a host name`);
    const name = parsed.host;
    if (isDenied(name)) throw refused(`${name} is forbidden by the policy`);
    if (BAD_PORTS.has(port)) throw refused(`port ${port} belongs to another protocol`);
    if (parsed.kind === "name" && !isLoopbackName(name)) return { name };
    const addresses = parsed.kind === "address" ? [name] : LOOPBACK_ADDRESSES;
    const reachable = addresses.filter(
      (address) => whyNotGlobal(address) === undefined || mayReach(name, address, port),
    );
    if (reachable.length === 0) judge(name, addresses[0]!, port);
    return { name, addresses: reachable };
  }

  return {
    check(given) {
      const url = new URL(typeof given === "string" ? parseUrl(given) : given);
      if (url.protocol !== "http:" && url.protocol !== "https:") {
        throw refused(`only http and https addresses may be opened, not ${visibleLine(url.protocol)}`);
      }
      if (url.username !== "" || url.password !== "")
        throw refused("an address may not contain a user name or password");
      literal(url.hostname, readPort(url));
      // The dot at the end is for the name server; certificates and virtual hosts do not know it.
      if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
      return url;
    },
    async addresses(host, port) {
      const known = literal(host, port);
      if (known.addresses) return known.addresses;
      const found = await resolve(known.name).catch((cause: unknown) => {
        throw unknownName(known.name, cause);
      });
      if (found.length === 0) throw unknownName(known.name);
      return found.map((text) => {
        const parsed = parseHost(text);
        if (parsed?.kind !== "address") throw refused(`${known.name} resolves to something that is not an address`);
        judge(known.name, parsed.host, port);
        return parsed.host;
      });
    },
  };
}

/** The operator's list of hosts on private networks: `nas.lan`, `192.168.1.5`, `127.0.0.1:8080`. Without a port: every port. */
export function listedHosts(list: readonly string[]): NonNullable<ReachRules["mayReach"]> {
  const listed = new Set(list.map(canonicalEntry));
  return (host, _address, port) => listed.has(bracketed(host)) || listed.has(`${bracketed(host)}:${port}`);
}

/** Whether an entry of that list can ever match. A name has letters, digits, dots and dashes; others the resolver doesn't know. */
export function isListable(entry: string): boolean {
  const known = canonicalEntry(entry);
  return known !== undefined && (known.startsWith("[") || /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?(:\d+)?$/.test(known));
}

export function readPort(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** What a rule names and a person reads: the host, with its port when that is not the usual one. */
export function readHost(url: URL): string {
  const host = bracketed(parseHost(url.hostname)?.host ?? url.hostname);
  return url.port === "" ? host : `${host}:${url.port}`;
}

export function refused(why: string): AppError {
  return new AppError("FORBIDDEN", {
    message: `Not reached: ${why}.`,
    hint: "Private addresses are reachable only when the operator lists the host under web.privateHosts.",
    retry: "after-change",
  });
}

/** Ports of the Fetch standard's list: a request there is a message in somebody else's protocol. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
]);

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new AppError("TOOL_INPUT", {
      message: `"${visibleLine(text.slice(0, 200))}" is not a web address.`,
      hint: "Give the full address, starting with https://.",
      retry: "after-change",
    });
  }
}

/** A name server that does not answer knows nothing about the name: that is another thing to do something about. */
function unknownName(name: string, cause?: unknown): AppError {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === "EAI_AGAIN" || code === "ETIMEOUT" || code === "ECONNREFUSED") {
    const hint = "This machine seems to be offline. Go on without the web, and say so.";
    return new AppError("NOT_READY", { message: `No name server answered for ${name}.`, hint, retry: "later", cause });
  }
  const hint = "Check the spelling of the address.";
  return new AppError("NOT_FOUND", { message: `There is no host named ${name}.`, hint, retry: "later", cause });
}

function canonicalEntry(entry: string): string | undefined {
  const whole = parseHost(entry);
  if (whole) return bracketed(whole.host);
  const split = /^(.+):(\d{1,5})$/.exec(entry);
  const host = split && parseHost(split[1]!);
  return host ? `${bracketed(host.host)}:${Number(split[2])}` : undefined;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

const systemResolve: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);
