/** The vault's file: one sealed box. AES-256-GCM, a new nonce each time, the format's name bound to it. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { z } from "zod";
import type { KeyPlace } from "./key.ts";

const envelope = z.object({
  version: z.literal(1),
  key: z.enum(["file", "keyring"]),
  nonce: z.string(),
  tag: z.string(),
  data: z.string(),
});
export type Envelope = z.output<typeof envelope>;

const contents = z.record(z.string(), z.object({ value: z.string(), at: z.number() }));
export type Contents = z.output<typeof contents>;

const CIPHER = "aes-256-gcm";
/** 96 bits, the size GCM is made for. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BOUND = Buffer.from("lares vault 1");

export function seal(held: Contents, key: Buffer, place: KeyPlace): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(BOUND);
  const data = Buffer.concat([cipher.update(JSON.stringify(held), "utf8"), cipher.final()]);
  const text = (bytes: Buffer) => bytes.toString("base64");
  const box: Envelope = {
    version: 1,
    key: place,
    nonce: text(nonce),
    tag: text(cipher.getAuthTag()),
    data: text(data),
  };
  return `${JSON.stringify(box, null, 2)}\n`;
}

/** Throws when it is not a vault. */
export function parseEnvelope(bytes: Buffer): Envelope {
  return envelope.parse(JSON.parse(bytes.toString("utf8")));
}

/** Throws when the key is another one or a byte was changed. */
export function unseal(box: Envelope, key: Buffer): Contents {
  const bytes = (text: string) => Buffer.from(text, "base64");
  const decipher = createDecipheriv(CIPHER, key, bytes(box.nonce), { authTagLength: TAG_BYTES });
  decipher.setAAD(BOUND).setAuthTag(bytes(box.tag));
  const plain = Buffer.concat([decipher.update(bytes(box.data)), decipher.final()]);
  return contents.parse(JSON.parse(plain.toString("utf8")));
}
