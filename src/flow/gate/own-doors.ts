/**
 * Lares' own address in a command. Whatever is sent there speaks to the gateway, and there are more ways to write a request than can be
 * listed (globs and variables of curl, a request typed into nc, code), so naming the address is enough. Denied in every mode.
 */
import type { ShellCommand } from "../../core/contracts/index.ts";
import { BOUND_EVERYWHERE, isLoopbackHost, isLoopbackName, parseHost } from "../../core/kit/index.ts";
import type { GatewayDoors } from "./rules.ts";
import { OWN_GATEWAY_BUT } from "./words.ts";

/** More pieces than this are not taken apart; with the port among them, they count as the address. */
const MOST_PIECES = 1000;
/** Names on the internet that lead back to this machine. */
const LEADS_BACK = /(^|[.-])127[.-]0[.-]0[.-]1([.-]|$)|(^|\.)(localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/;
const HEALTH = /^(?:https?:\/\/)?[\w.:[\]-]+:\d+\/(healthz|readyz|metrics)\/?$/;
const PLAIN_OPTION =
  /^(-[sSfkvIiqg46]+|-m|-o|-w|-qO-|-O-|\d{1,4}|\/dev\/null|-|%\{\w+\}(\\n)?|--(silent|show-error|fail|head|include|max-time|connect-timeout|quiet|spider|no-progress-meter))$/;

/** Why this command must not run: it names the host and the port on which Lares itself listens. */
export function ownDoor(
  { assignments, redirects }: Pick<ShellCommand, "assignments" | "redirects">,
  words: readonly string[],
  doors: GatewayDoors,
): string | undefined {
  const texts = [
    ...words,
    ...assignments.map(({ value }) => value.guess),
    ...redirects.map(({ target }) => target.guess),
  ];
  return namesDoor(texts, doors) && !isHealthCheck(words) ? OWN_GATEWAY_BUT : undefined;
}

/** Whether these texts together name the gateway: `127.1:7717`, `nc localhost 7717`, `connect(("::1", 7717))`. */
export function namesDoor(texts: readonly string[], { ports, hosts }: GatewayDoors): boolean {
  const spelt = texts.flatMap(variants);
  const whole = spelt.join(" ");
  const numbers = new Set(whole.match(/\d+/g));
  const port = ports.map(String).find((one) => numbers.has(one));
  // Curl puts such a port together itself.
  const isComputed = texts.some((text) => /^--expand-/.test(text));
  if (port === undefined && !isComputed) return false;
  const pieces = new Set(whole.split(/[\s/'"`@,()=;<>{}|&\\?#]+/));
  if (pieces.size > MOST_PIECES) return true;
  const isHere = (host: string) => isThisMachine(host, hosts);
  for (const piece of pieces) {
    const before = port !== undefined && piece.endsWith(`:${port}`) ? piece.slice(0, -port.length - 1) : "";
    // `TCP:localhost:7717`
    const inner = before.replace(/^.*?:(?=\[)/, "").replace(/^[^[]*:(?=[^:]+$)/, "");
    if (before !== "" && (/^\*+$/.test(before) || isHere(before) || isHere(inner))) return true;
    // `http :7717/rpc/x`
    if (port !== undefined && piece === `:${port}`) return true;
    if (!/^\w*$/.test(piece) || hosts.includes(piece.toLowerCase()) || /^localhost$/i.test(piece))
      if (isHere(piece) || isHere(piece.replace(/^.*?:(?=[\w.]+$)/, "").replace(/:\d*$/, ""))) return true;
  }
  // A host that is one number: `nc 2130706433 7717`.
  return texts.some((text, i) => /^(0x)?[\da-f]+$/i.test(text) && texts[i + 1] === port && isHere(text));
}

function isThisMachine(text: string, hosts: readonly string[]): boolean {
  const bare = text.toLowerCase().replace(/\.$/, "");
  if (bare === "" || bare.length > 80) return false;
  if (hosts.includes(bare) || LEADS_BACK.test(bare)) return true;
  if (/^[a-z_-]+$/.test(bare)) return isLoopbackName(bare);
  const found = parseHost(bare);
  if (!found) return false;
  return isLoopbackHost(found.host) || Object.hasOwn(BOUND_EVERYWHERE, found.host) || hosts.includes(found.host);
}

/** A plain look at whether Lares is well. */
function isHealthCheck(words: readonly string[]): boolean {
  const [program = "", ...args] = words;
  if (!/(^|\/)(curl|wget)$/.test(program)) return false;
  const addresses = args.filter((arg) => !PLAIN_OPTION.test(arg));
  return addresses.length === 1 && HEALTH.test(addresses[0]!);
}

/** A text as it is written, decoded, and with what curl would make of its braces and ranges. */
function variants(text: string): string[] {
  if (!/[%{[]/.test(text)) return [text];
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const ends = [0, -1].map((which) =>
    plain
      .replace(/\{([^{}]{1,200})\}/g, (_all, inside: string) => inside.split(",").at(which)!)
      .replace(/\[(\w{1,9})-(\w{1,9})(?::\d{1,9})?\]/g, (_all, from: string, to: string) => (which === 0 ? from : to)),
  );
  return [text, plain, ...ends];
}
