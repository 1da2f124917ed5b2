/** Where the vault's key is: in the OS keyring when there is one that works, else in a file only its owner can read. */
import { randomBytes } from "node:crypto";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { createFile } from "../../core/kit/index.ts";
import { readIfThere } from "./files.ts";

export type KeyPlace = "file" | "keyring";

/** The OS keyring, as far as the vault needs it. Both throw when the keyring is locked or not there. */
export interface Keyring {
  get(account: string): string | undefined;
  set(account: string, value: string): void;
}

export const KEY_FILE = "vault.key";
const KEY_BYTES = 32;

/** The key of an existing vault. Throws when it is gone: then nobody can open it. */
export async function findKey(
  home: string,
  place: KeyPlace,
  keyring: () => Promise<Keyring | undefined>,
): Promise<Buffer> {
  if (place === "file") {
    const key = await readKeyFile(home);
    if (key) return key;
    throw gone(`${join(home, KEY_FILE)} is missing or damaged`, "Restore that file from a copy");
  }
  const ring = await keyring();
  if (!ring) throw gone("the OS keyring cannot be used now", "Unlock the keyring, or install @napi-rs/keyring again");
  let kept: string | undefined;
  try {
    kept = ring.get(home);
  } catch (cause) {
    throw gone("the OS keyring does not give its key", "Unlock the keyring", cause);
  }
  const key = parseKey(kept ?? "");
  if (key) return key;
  throw gone("the OS keyring does not have its key", "Restore the keyring");
}

/** The key for a vault that is about to be made. */
export async function makeKey(
  home: string,
  keyring: () => Promise<Keyring | undefined>,
): Promise<{ key: Buffer; place: KeyPlace }> {
  const known = await readKeyFile(home);
  if (known) return { key: known, place: "file" };
  const key = randomBytes(KEY_BYTES);
  if (keepInKeyring(await keyring(), home, key)) return { key, place: "keyring" };
  if (await createFile(join(home, KEY_FILE), `${key.toString("base64")}\n`)) return { key, place: "file" };
  // Another process was first; its key holds.
  return { key: await findKey(home, "file", keyring), place: "file" };
}

/** The keyring of this system, when the package for it is installed. It is optional: most servers have no keyring. */
export async function systemKeyring(): Promise<Keyring | undefined> {
  const name = "@napi-rs/keyring";
  try {
    const { Entry } = (await import(name)) as {
      Entry: new (
        service: string,
        account: string,
      ) => { getPassword(): string | null; setPassword(value: string): void };
    };
    return {
      get: (account) => new Entry("lares", account).getPassword() ?? undefined,
      set: (account, value) => new Entry("lares", account).setPassword(value),
    };
  } catch {
    return undefined;
  }
}

/** A keyring that takes a value and does not give it back would lose the vault, so it is tried. */
function keepInKeyring(ring: Keyring | undefined, home: string, key: Buffer): boolean {
  if (!ring) return false;
  try {
    const text = key.toString("base64");
    ring.set(home, text);
    return ring.get(home) === text;
  } catch {
    return false;
  }
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
