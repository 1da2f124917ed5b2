/**
 * The one redactor: logs use it, and so do exports and error reports. It knows secrets by value (registered when they are
 * loaded) and by look (keys, tokens and passwords in the forms providers hand out).
 *
 * OBSERVE-1: a registered value never comes out, neither as it is nor URL-encoded, JSON-escaped, reversed, in capital or small letters, or
 *     in base64 (also twice or reversed), base32 or hex, in one piece or broken into lines and groups.
 * OBSERVE-2: redacting twice changes nothing more.
 */
import { brokenForms, secretForms } from "../../core/kit/index.ts";
import { BrokenTexts } from "./broken-texts.ts";
import { KnownTexts } from "./known-texts.ts";

export interface Redactor {
  /** From now on this value never comes out. Values under 6 characters are refused: they would shred ordinary text. */
  addSecret(value: string): boolean;
  /** The text with every secret replaced. Never throws. */
  redact(text: string): string;
  /** Only the registered values replaced: for texts that are worked with, where what merely looks like a secret must stay. */
  redactKnown(text: string): string;
  /** True for field names whose values are secrets whatever they look like. */
  isSecretName(name: string): boolean;
}

export const REDACTED = "[redacted]";

/** Below this a "secret" is a word like "ok" or a port; tokens people make by hand start around here. */
const SHORTEST = 6;

/** `key=a`: nothing shorter matches a pattern. Most facts of a log line are, and each pattern takes its time. */
const SHORTEST_MATCH = 5;

/** base64 after a hidden value: its last letters stand for its end and for what followed, encoded twice for up to eight of them. */
const PADDED_END = /\[redacted\][\w+/-]{1,8}={1,2}(?![\w=])/g;

/**
 * Each pattern keeps group 1 and loses the rest. None may begin with an unbounded repetition, and what can fail after a
 * long run is bounded: a hostile text of 100 kB must cost milliseconds.
 */
const PATTERNS: readonly RegExp[] = [
  // Keys with a vendor's prefix: OpenAI, Anthropic, OpenRouter (sk-), Slack, GitHub, GitLab, Google, AWS, npm.
  /()\bsk-[A-Za-z0-9_-]{8,}/g,
  /()\bxox[a-z]-[A-Za-z0-9-]{8,}/g,
  /()\bxapp-[A-Za-z0-9-]{8,}/g,
  /()\b(?:gh[opsur]_|github_pat_|glpat-|npm_)[A-Za-z0-9_-]{16,}/g,
  /()\bAIza[A-Za-z0-9_-]{30,}/g,
  /()\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  // A Telegram bot token, also inside /bot<token>/method; a JSON web token; a private key.
  /(\/bot|\b)\d{6,12}:[A-Za-z0-9_-]{30,}/g,
  /()\beyJ(?:(?!-eyJ)[A-Za-z0-9_-]){8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}/g,
  /()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  // Headers, then name=value and "name": "value".
  /\b(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  // "Bot Accounts", "Bot MessageContent" and "Basic Information" are words of platforms' own pages. A token has a digit in it (of 70
  // random Base64 characters, seven in a million have none, and a token of ours is known by its value), Base64 a capital inside.
  /\b(Bot\s+)(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{8,}/gi,
  /\b([Bb]asic\s+)(?=[A-Za-z]{0,400}(?:[0-9=+/]|(?<=[a-z])[A-Z]))[A-Za-z0-9._~+/=-]{8,}/g,
  /((?:api[_-]?key|token|secret|password|passwd|signature|\bkey|\bsig|\bauth)=)[^\s&"'\\;,)[\]]+/gi,
  /("[A-Za-z0-9_-]{0,40}(?:api[_-]?key|token|secret|password|passwd|authorization|cookie)"\s*:\s*")[^"\\[]+/gi,
  // The password in scheme://user:password@host.
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"']{0,200}:)[^\s/@"'[]{1,500}(?=@)/gi,
];

const SECRET_NAME =
  /^(.*[_-])?(token|secret|password|passwd|passphrase|authorization|cookie|set-cookie|api[_-]?key|private[_-]?key)s?$|(Token|Secret|Password|ApiKey|PrivateKey)$/i;
/** Counts are named for what they count ("inputTokens"), and are numbers anyway; these names hold text that may be shown. */
const NOT_SECRET = /tokens$/i;

export function createRedactor(): Redactor {
  const known = new KnownTexts();
  const broken = new BrokenTexts();
  const withoutKnown = (text: string) =>
    broken.replace(known.replace(text, REDACTED), REDACTED).replace(PADDED_END, REDACTED);
  return {
    addSecret(value) {
      const secret = value.trim();
      if (secret.length < SHORTEST) return false;
      for (const form of secretForms(secret)) known.add(form);
      broken.add(brokenForms(secret));
      return true;
    },
    redact(text) {
      if (text.length < SHORTEST_MATCH) return text;
      let out = withoutKnown(text);
      for (const pattern of PATTERNS) out = out.replace(pattern, `$1${REDACTED}`);
      return out;
    },
    redactKnown: withoutKnown,
    isSecretName: (name) => SECRET_NAME.test(name) && !NOT_SECRET.test(name),
  };
}
