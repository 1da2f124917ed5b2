/**
 * What a mail's headers say, and which of it can be trusted. Pure.
 *
 * EMAIL-1: anyone can write any From line. It counts when our own receiving server (by its authserv-id, the topmost such line only:
 *     lines below may be the sender's own) says that DMARC passed, or that DKIM or SPF passed for the From line's domain.
 * EMAIL-2: nothing a machine sent by itself is answered: auto-replies, bounces, lists. Two machines would never stop (RFC 3834).
 */

export type MailHeaders = readonly (readonly [name: string, value: string])[];

/** Unfolded, in their order. */
export function parseHeaders(raw: Buffer | string): MailHeaders {
  const lines = raw
    .toString("utf8")
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/);
  return lines.flatMap((line) => {
    const at = line.indexOf(":");
    return at > 0 ? [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const] : [];
  });
}

export function findHeader(headers: MailHeaders, name: string): string | undefined {
  return headers.find(([key]) => key === name)?.[1];
}

/** Why this mail isn't from a person, or undefined if it may be. */
export function automatic(headers: MailHeaders): string | undefined {
  const value = (name: string) => findHeader(headers, name)?.toLowerCase();
  const submitted = value("auto-submitted");
  if (submitted !== undefined && submitted !== "no") return "it was sent automatically";
  if (/\b(bulk|list|junk|auto_reply)\b/.test(value("precedence") ?? "")) return "it was sent in bulk";
  if (value("list-id") !== undefined || value("list-post") !== undefined) return "it came through a list";
  if (value("x-autoreply") !== undefined || value("x-autorespond") !== undefined) return "it is an automatic reply";
  if (/^<\s*>$/.test(value("return-path") ?? "")) return "it is a bounce";
  if (/^multipart\/report\b/.test(value("content-type") ?? "")) return "it is a report";
  return undefined;
}

export interface MailTrust {
  authserv: readonly string[];
  authenticate: boolean;
}

/** Why we can't know who wrote it, or undefined if the From address is proven (EMAIL-1). */
export function unproven(headers: MailHeaders, from: string, trust: MailTrust): string | undefined {
  if (headers.filter(([name]) => name === "from").length !== 1) return "it has more than one From line";
  if (!trust.authenticate) return undefined;
  const domain = readDomain(from);
  const trusted = new Set(trust.authserv.map((name) => name.toLowerCase()));
  const said = headers
    .filter(([name]) => name === "authentication-results")
    .map(([, value]) => parseResults(value))
    .find((results) => trusted.has(results.by));
  if (!said) return "our mail server did not say who wrote it";
  const verdicts = said.verdicts;
  const dmarc = verdicts.find((v) => v.method === "dmarc");
  if (dmarc && dmarc.result !== "pass") return `DMARC: ${dmarc.result}`;
  if (dmarc) {
    const about = dmarc.props["header.from"];
    return about === undefined || readDomain(about) === domain ? undefined : "DMARC passed for another domain";
  }
  const stands = verdicts.some((v) => {
    if (v.result !== "pass") return false;
    if (v.method === "dkim") return covers(v.props["header.d"] ?? v.props["header.i"], domain);
    return v.method === "spf" && covers(v.props["smtp.mailfrom"], domain);
  });
  return stands ? undefined : "neither DKIM nor SPF passed for the sender's domain";
}

export interface AuthVerdict {
  method: string;
  result: string;
  props: Record<string, string>;
}

/** RFC 8601: `mx.example.org; dkim=pass header.d=a.org; spf=fail smtp.mailfrom=b.org`. Comments in parentheses don't count. */
export function parseResults(value: string): { by: string; verdicts: AuthVerdict[] } {
  const [by = "", ...rest] = withoutComments(value).split(";");
  const verdicts = rest.flatMap((one) => {
    const [first, ...props] = words(one);
    const named = first?.match(/^([a-z-]+)(?:\/\d+)?=([a-z]+)$/i);
    if (!named) return [];
    const pairs = props.map((word) => word.split(/=(.*)/s, 2)).filter((pair) => pair.length === 2);
    const own = Object.fromEntries(pairs.map(([key, said]) => [key!.toLowerCase(), said!.replace(/^"|"$/g, "")]));
    return [{ method: named[1]!.toLowerCase(), result: named[2]!.toLowerCase(), props: own }];
  });
  // The name may be followed by a version.
  return { by: (by.trim().split(/\s+/)[0] ?? "").toLowerCase(), verdicts };
}

function words(text: string): string[] {
  return text
    .trim()
    .split("=")
    .map((part) => part.trim())
    .join("=")
    .split(/\s+/)
    .filter(Boolean);
}

/** Comments can be nested; parentheses within quotes don't begin one. */
function withoutComments(text: string): string {
  let depth = 0;
  let quoted = false;
  let kept = "";
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!;
    if (sign === "\\") {
      if (!depth) kept += text.slice(i, i + 2);
      i++;
    } else if (sign === '"' && !depth) {
      quoted = !quoted;
      kept += sign;
    } else if (sign === "(" && !quoted) depth++;
    else if (sign === ")" && !quoted && depth) depth--;
    // Without this, a semicolon in quoted text would let the sender add a verdict.
    else if (!depth) kept += quoted && sign === ";" ? "," : sign;
  }
  return kept;
}

/** A domain vouches for itself and for what is below it, never for what is above. */
function covers(given: string | undefined, domain: string): boolean {
  const by = readDomain(given ?? "");
  return by.includes(".") && (domain === by || domain.endsWith(`.${by}`));
}

export function readDomain(address: string): string {
  return address
    .slice(address.lastIndexOf("@") + 1)
    .replace(/[<>\s]/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

const MESSAGE_ID = /<[^<>\s]{1,250}>/g;

/** The mail that began the conversation: its id is the thread's. */
export function findThread(headers: MailHeaders, own: string): { root: string; isReply: boolean } {
  const first = (name: string) => findHeader(headers, name)?.match(MESSAGE_ID)?.[0];
  const root = first("references") ?? first("in-reply-to");
  return { root: root ?? own, isReply: root !== undefined };
}
