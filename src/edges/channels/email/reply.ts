/** What a person wrote in a mail, without the quoted text and the signature. Pure. */

// The line that mail programs put before a quote, in the most common languages.
const INTRO =
  /^(On\b.{0,300}\bwrote|Am\b.{0,300}\bschrieb.{0,100}|Le\b.{0,300}\ba écrit|El\b.{0,300}\bescribió|Il\b.{0,300}\bha scritto|Em\b.{0,300}\bescreveu|Op\b.{0,300}\bschreef.{0,100}|.{0,100}\d{4}.{0,100}<[^<>\s@]+@[^<>\s@]+>)\s?:$/u;
const ORIGINAL =
  /^\s*(-{2,}\s*(Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale)\s*-{2,}|_{20,})\s*$/i;
/** Outlook quotes a mail with its headers: From, then Sent or To, without a mark before the lines. */
const HEAD = /^\*?(From|Von|De|Da|Van):\*?\s.+/;
const HEAD_NEXT = /^\*?(Sent|Date|To|Gesendet|Datum|An|Envoyé|À|Enviado|Para|Inviato|A|Verzonden|Aan):\*?\s/;

const isQuoted = (line: string) => /^\s*>/.test(line);
const isBlank = (line: string) => line.trim() === "";

export function writtenText(body: string, isReply: boolean): string {
  const whole = withoutSignature(body.replace(/\r\n?/g, "\n").split("\n"));
  // Somebody who forwards a mail wants it to be read.
  if (!isReply) return whole.join("\n").trim();
  const own = withoutQuoteAbove(withoutQuoteBelow(whole)).join("\n").trim();
  return own || whole.join("\n").trim();
}

function withoutQuoteBelow(lines: string[]): string[] {
  // Answers between the lines of a quote make no sense without the quote, so it stays.
  const lastOwn = lines.findLastIndex((line) => !isBlank(line) && !isQuoted(line));
  const lastQuoted = lines.findLastIndex(isQuoted);
  for (let at = 0; at < lines.length; at++) {
    if (isOriginal(lines, at)) return lines.slice(0, at);
    const after = introEnd(lines, at);
    if (after === undefined) continue;
    if (at > 0 && lastOwn < after && lastQuoted >= after) return lines.slice(0, at);
  }
  let end = lines.length;
  while (end > 0 && (isBlank(lines[end - 1]!) || isQuoted(lines[end - 1]!))) end--;
  return end < lines.length && lines.slice(end).some(isQuoted) ? lines.slice(0, end) : lines;
}

/** For answers that are written below the quote. */
function withoutQuoteAbove(lines: string[]): string[] {
  let at = lines.findIndex((line) => !isBlank(line));
  if (at < 0) return lines;
  at = introEnd(lines, at) ?? at;
  const begin = at;
  while (at < lines.length && (isBlank(lines[at]!) || isQuoted(lines[at]!))) at++;
  const answer = lines.slice(at);
  const quote = lines.slice(begin, at).some(isQuoted);
  return quote && answer.some((line) => !isBlank(line)) && !answer.some(isQuoted) ? answer : lines;
}

/** Where the line before a quote ends, if it begins here; some programs break it into two or three. */
function introEnd(lines: readonly string[], at: number): number | undefined {
  for (let n = 1; n <= 3; n++) {
    const text = lines
      .slice(at, at + n)
      .join(" ")
      .trim();
    if (text.length < 700 && INTRO.test(text)) return at + n;
  }
  return undefined;
}

function isOriginal(lines: readonly string[], at: number): boolean {
  if (ORIGINAL.test(lines[at]!)) return true;
  return HEAD.test(lines[at]!) && lines.slice(at + 1, at + 4).some((line) => HEAD_NEXT.test(line));
}

/** A signature begins at the usual mark: a line with only "-- ". */
function withoutSignature(lines: string[]): string[] {
  const at = lines.lastIndexOf("-- ");
  return at > 0 ? lines.slice(0, at) : lines;
}

const MOST_HTML = 500_000;
const UNSEEN = [
  ["<!--", "-->"],
  ["<head", "</head"],
  ["<style", "</style"],
  ["<script", "</script"],
] as const;

/** In one pass, no matter what the text is, so that no mail can be made slow to read (DO-03). */
function without(html: string, open: string, close: string): string {
  const low = html.toLowerCase();
  let kept = "";
  for (let at = 0; ; ) {
    const begin = low.indexOf(open, at);
    const ends = begin < 0 ? -1 : low.indexOf(close, begin);
    const last = ends < 0 ? -1 : low.indexOf(">", ends);
    if (last < 0) return kept + html.slice(at);
    kept += html.slice(at, begin);
    at = last + 1;
  }
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** For mails without a plain-text version. Quotes are marked with ">", so that they can be cut off. */
export function readHtml(html: string): string {
  const text = UNSEEN.reduce((rest, [open, close]) => without(rest, open, close), html.slice(0, MOST_HTML))
    .replace(/\s+/g, " ")
    .replace(/<blockquote\b[^<>]*>/gi, "\n\u0001")
    .replace(/<\/blockquote\s*>/gi, "\u0002\n")
    .replace(/<li\b[^<>]*>/gi, "\n- ")
    .replace(/<br\b[^<>]*>|<\/(p|div|tr|li|h[1-6]|ul|ol|table)\s*>/gi, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, (all, name: string) => entity(name) ?? all);
  let depth = 0;
  const lines = text.split("\n").map((line) => {
    depth += line.split("\u0001").length - 1;
    const said = `${depth > 0 ? "> " : ""}${line.replace(/[\u0001\u0002]/g, "").trim()}`;
    depth = Math.max(0, depth - (line.split("\u0002").length - 1));
    return said;
  });
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function entity(name: string): string | undefined {
  if (!name.startsWith("#")) return NAMED[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "";
}
