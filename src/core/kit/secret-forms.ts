/**
 * The forms in which a secret comes out of programs and servers: as it is, escaped, encoded, turned round. Whoever hides a secret
 * hides all of them; this list is the only one.
 */

/** base64 drops the alignment of what surrounds it, and hex is twice as long: under 9 bytes too little is left to recognise. */
const SHORTEST_ENCODED = 9;

export function secretForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret);
  const forms = [
    secret,
    json,
    // A JSON text inside a JSON text, as in the arguments of a tool call.
    JSON.stringify(json).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll("%20", "+"),
    [...secret].reverse().join(""),
  ];
  const bytes = Buffer.from(secret);
  if (bytes.length >= SHORTEST_ENCODED) {
    const hex = bytes.toString("hex");
    forms.push(hex, hex.toUpperCase(), ...base64Forms(bytes));
  }
  return [...new Set(forms)];
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
