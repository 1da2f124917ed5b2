/**
 * The key by which a gateway knows this Lares. It is made once and stays in the home: a gateway pairs with a key, and another one
 * would be another device, which a person may have to approve.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFile } from "../../../core/kit/index.ts";

const FILE = "openclaw-device.pem";
/** A key of this kind has 119 characters. */
const LONGEST_KEY = 1000;

export interface ClawDevice {
  /** Names it to the gateway: made from the key. */
  id: string;
  publicKey: string;
  sign(text: string): string;
}

/** Without a folder, for this process alone. */
export async function openDevice(folder: string | undefined): Promise<ClawDevice> {
  if (folder === undefined) return makeDevice(generateKeyPairSync("ed25519").privateKey);
  const file = join(folder, FILE);
  const known = await readKey(file);
  if (known) return makeDevice(known);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync("ed25519");
  await createFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  // Another run may have made one at the same moment: the one that is there counts.
  return makeDevice((await readKey(file)) ?? privateKey);
}

async function readKey(file: string): Promise<KeyObject | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : createPrivateKey(text.slice(0, LONGEST_KEY));
}

function makeDevice(key: KeyObject): ClawDevice {
  const raw = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");
  return {
    id: createHash("sha256").update(raw).digest("hex"),
    publicKey: raw.toString("base64url"),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64url"),
  };
}
