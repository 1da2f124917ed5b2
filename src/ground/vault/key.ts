/** Where the vault's key is: in a file only its owner can read, or in the OS keyring when that was asked for. */
import { randomBytes } from "node:crypto";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { createFile } from "../../core/kit/index.ts";
import { readIfThere } from "./files.ts";
import type { Keyring } from "./keyring.ts";

export type KeyPlace = "file" | "keyring";

export const KEY_FILE = "vault.key";
const KEY_BYTES = 32;

/** The key of an existing vault. Throws when it is gone: then nobody can open it. */
export async function findKey(home: string, place: KeyPlace, ring: Keyring): Promise<Buffer> {
  if (place === "file") {
    const key = await readKeyFile(home);
    if (key) return key;
    throw gone(`${join(home, KEY_FILE)} is missing or damaged`, "Restore that file from a copy");
  }
  let kept: string | undefined;
  try {
    kept = await ring.get(home);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw gone(`its key is in the OS keyring, which cannot be used now (${why})`, "Unlock the keyring", cause);
  }
  const key = parseKey(kept ?? "");
  if (key) return key;
  throw gone("the OS keyring does not have its key", "Restore the keyring");
}

/** The key for a vault that is about to be made: in a file, until somebody asks for the keyring. */
export async function makeKey(home: string): Promise<Buffer> {
  const known = await readKeyFile(home);
  if (known) return known;
  const key = randomBytes(KEY_BYTES);
  if (await createFile(join(home, KEY_FILE), `${key.toString("base64")}\n`)) return key;
  // Another process was first; its key holds.
  const theirs = await readKeyFile(home);
  if (theirs) return theirs;
  throw gone(`${join(home, KEY_FILE)} is missing or damaged`, "Restore that file from a copy");
}

/** Puts the key into the keyring. One that takes a value and does not give it back would lose the vault, so it is tried. */
export async function keepInKeyring(ring: Keyring, home: string, key: Buffer): Promise<void> {
  const text = key.toString("base64");
  await ring.set(home, text);
  if ((await ring.get(home)) === text) return;
  throw new AppError("NOT_READY", {
    message: "The OS keyring did not give back what it was given, so the vault's key stays where it is.",
    hint: "Check the keyring, then try again.",
    retry: "after-change",
  });
}

/** Writes the key's file; one that is there already must hold the same key. */
export async function keepInFile(home: string, key: Buffer): Promise<void> {
  if (await createFile(join(home, KEY_FILE), `${key.toString("base64")}\n`)) return;
  if ((await readKeyFile(home))?.equals(key)) return;
  throw gone(`${join(home, KEY_FILE)} holds another key`, "Put that file aside");
}

async function readKeyFile(home: string): Promise<Buffer | undefined> {
  const file = join(home, KEY_FILE);
  const bytes = await readIfThere(file);
  if (!bytes) return undefined;
  // A copy or a backup may have come back with wider rights.
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
  return parseKey(bytes.toString("utf8"));
}

function parseKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), "base64");
  return key.length === KEY_BYTES ? key : undefined;
}

function gone(why: string, hint: string, cause?: unknown): AppError {
  return new AppError("STORAGE_FAILED", {
    message: `The vault cannot be opened: ${why}.`,
    hint: `${hint}, or remove vault.json and set the secrets again.`,
    retry: "after-change",
    cause,
  });
}
