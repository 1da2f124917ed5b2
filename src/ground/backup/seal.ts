/**
 * A piece of a backup as it lies in the folder: compressed, and with a passphrase encrypted.
 *
 * SEAL-1: a piece's id is made of its content: by SHA-256, or with a passphrase by HMAC, so that somebody who has only the folder
 * can't tell whether a file they know is in it.
 * SEAL-2: what is opened is checked against its id. A changed, cut or exchanged piece is never taken for another.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scrypt } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { AppError } from "../../core/domain/index.ts";

/** OWASP's figure for scrypt: 128 MB and about half a second for each guess. */
export const SCRYPT = { N: 131_072, r: 8, p: 1 } as const;
const MOST_MEMORY = 256 * 1024 * 1024;
const NONCE = 12;
const TAG = 16;
/** The fastest level saves nearly as much on pages of text, and a backup shares the machine with those who work. */
const LEVEL = 3;

export interface SealKeys {
  cipher: Buffer;
  ids: Buffer;
}

export interface KeyCost {
  N: number;
  r: number;
  p: number;
}

export function deriveKeys(passphrase: string, salt: Buffer, cost: KeyCost): Promise<SealKeys> {
  return new Promise((resolve, reject) => {
    // The same letters may be typed as different code points.
    scrypt(passphrase.normalize("NFKC"), salt, 64, { ...cost, maxmem: MOST_MEMORY }, (error, key) =>
      error ? reject(error) : resolve({ cipher: key.subarray(0, 32), ids: key.subarray(32) }),
    );
  });
}

export class Sealer {
  private readonly keys: SealKeys | undefined;

  constructor(keys?: SealKeys) {
    this.keys = keys;
  }

  nameContent(content: Uint8Array): string {
    const hash = this.keys ? createHmac("sha256", this.keys.ids) : createHash("sha256");
    return hash.update(content).digest("base64url");
  }

  /** `name`: what it is; opening it under another name fails. */
  seal(content: Uint8Array, name: string): Buffer {
    const packed = deflateRawSync(content, { level: LEVEL });
    const plain =
      packed.length < content.length ? Buffer.concat([Buffer.of(1), packed]) : Buffer.concat([Buffer.of(0), content]);
    if (!this.keys) return plain;
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", this.keys.cipher, nonce).setAAD(Buffer.from(name));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws BACKUP_DAMAGED when it is not what was sealed under this name. */
  open(sealed: Buffer, name: string, most: number): Buffer {
    try {
      const plain = this.keys ? this.decrypt(sealed, name, this.keys.cipher) : sealed;
      const body = plain.subarray(1);
      return plain[0] === 1 ? inflateRawSync(body, { maxOutputLength: most }) : body;
    } catch (cause) {
      throw damagedPiece(name, cause);
    }
  }

  /** A piece whose name is made of its content. */
  openNamed(sealed: Buffer, id: string, most: number): Buffer {
    const content = this.open(sealed, id, most);
    if (this.nameContent(content) !== id) throw damagedPiece(id);
    return content;
  }

  private decrypt(sealed: Buffer, name: string, key: Buffer): Buffer {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(sealed.length - TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, sealed.length - TAG)), decipher.final()]);
  }
}

function damagedPiece(name: string, cause?: unknown): AppError {
  return new AppError("BACKUP_DAMAGED", {
    message: `A piece of the backup (${name.slice(0, 12)}) isn't what was stored.`,
    hint: "See which backups are whole: lares backup verify --all",
    retry: "never",
    cause,
  });
}
