/**
 * The one redactor: logs use it, and so do exports and error reports. It knows secrets by value (registered when they are
 * loaded) and by look (keys, tokens and passwords in the forms providers hand out).
 *
 * O1: a registered value never comes out, as it is or URL-encoded, JSON-escaped or in base64.
 * O2: redacting twice changes nothing more.
 */
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
/** base64 drops the alignment of what surrounds it; under 9 bytes too little is left to recognise. */
const SHORTEST_BASE64 = 9;

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
  /\b((?:Bearer|Basic|Bot)\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
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
  const forms = new Set<string>();
  let known: RegExp | undefined;
  return {
    addSecret(value) {
      const secret = value.trim();
      if (secret.length < SHORTEST) return false;
      const before = forms.size;
      for (const form of formsOf(secret)) forms.add(form);
      if (forms.size !== before) {
        // The longest first, so that a secret which contains another goes as a whole.
        const all = [...forms].sort((a, b) => b.length - a.length).map(escaped);
        known = new RegExp(all.join("|"), "g");
      }
      return true;
    },
    redact(text) {
      let out = known ? text.replace(known, REDACTED) : text;
      for (const pattern of PATTERNS) out = out.replace(pattern, `$1${REDACTED}`);
      return out;
    },
    redactKnown: (text) => (known ? text.replace(known, REDACTED) : text),
    isSecretName: (name) => SECRET_NAME.test(name) && !NOT_SECRET.test(name),
  };
}

function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  if (Buffer.byteLength(secret) >= SHORTEST_BASE64) forms.push(...base64Forms(secret));
  return forms;
}

/**
 * In `user:secret` as base64 the secret starts at any of three alignments. Of each only the letters that depend on nothing
 * but the secret are kept.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const first = Math.ceil((before * 8) / 6);
    const sure = Math.floor((bytes.length * 8) / 6);
    const plain = bytes.toString("base64").slice(first, sure);
    return [plain, plain.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
