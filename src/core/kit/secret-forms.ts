/**
 * The forms in which a secret comes out of programs and servers: as it is, escaped, encoded, reversed. Code that hides a secret
 * hides all of them; this list is the only one.
 */

/** base64 drops the alignment of what surrounds it, and hex is twice as long: under 9 bytes too little is left to recognise. */
const SHORTEST_ENCODED = 9;

export function secretForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    json,
    // A JSON text inside a JSON text, as in the arguments of a tool call.
    JSON.stringify(json).slice(1, -1),
    // As programs write it that keep to ASCII.
    json.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ...urlForms(secret),
    ...htmlForms(secret),
    reversed(secret),
  ];
  const bytes = Buffer.from(secret);
  if (bytes.length >= SHORTEST_ENCODED) {
    const hex = bytes.toString("hex");
    const base32 = base32Forms(bytes);
    const base64 = base64Forms(bytes);
    forms.push(hex, hex.toUpperCase(), ...base64, ...base32, ...base32.map((form) => form.toLowerCase()));
    forms.push(...[hex, hex.toUpperCase(), ...base64].map(reversed), ...twiceForms(base64));
    // Only where a secret is long enough not to be an ordinary word in other letters.
    forms.push(secret.toUpperCase(), secret.toLowerCase());
  }
  return [...new Set(forms)];
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

/** base64 of base64, whatever the secret stands in: three alignments of the inner one, three of the outer one. */
function twiceForms(once: readonly string[]): string[] {
  const inner = new Set(once.filter((form) => !form.includes("%")));
  return [...inner].flatMap((form) => base64Forms(Buffer.from(form)));
}

/** Those that programs break into lines or groups (`base64`, `xxd`), without what stands between; hex in small letters. */
export function brokenForms(secret: string): { letters: string[]; hex: string[] } {
  const bytes = Buffer.from(secret);
  if (bytes.length < SHORTEST_ENCODED) return { letters: [], hex: [] };
  const base64 = base64Forms(bytes);
  const letters = [...base64, ...twiceForms(base64), ...base32Forms(bytes)];
  return { letters: [...new Set(letters)], hex: [bytes.toString("hex")] };
}

/** Languages differ in what they leave as it is: a slash, a blank, `!'()*`. */
function urlForms(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [component, strict].flatMap((form) => [form, form.replaceAll("%2F", "/")]);
  const all = [...forms, ...forms.map((form) => form.replaceAll("%20", "+")), encodeURI(secret)];
  return [...all, ...all.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

function htmlForms(secret: string): string[] {
  const signs = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = signs.replaceAll('"', "&quot;");
  return [signs, quoted, quoted.replaceAll("'", "&#39;"), quoted.replaceAll("'", "&#x27;")];
}

/**
 * In `user:secret` as base64 the secret starts at any of three alignments. Of each only the letters that depend on nothing
 * but the secret are kept.
 */
function base64Forms(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    const first = Math.ceil((before * 8) / 6);
    const sure = Math.floor((bytes.length * 8) / 6);
    const plain = bytes.toString("base64").slice(first, sure);
    return [plain, plain.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(plain)];
  });
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** As with base64, at each of five alignments only the letters that depend on nothing but the secret. */
function base32Forms(secret: Buffer): string[] {
  return [0, 1, 2, 3, 4].map((before) => {
    const first = Math.ceil((before * 8) / 5);
    const sure = Math.floor(((before + secret.length) * 8) / 5);
    let out = "";
    for (let at = first; at < sure; at++) {
      let five = 0;
      for (let bit = at * 5; bit < at * 5 + 5; bit++) {
        const byte = secret[(bit >> 3) - before] ?? 0;
        five = (five << 1) | ((byte >> (7 - (bit & 7))) & 1);
      }
      out += BASE32[five];
    }
    return out;
  });
}
