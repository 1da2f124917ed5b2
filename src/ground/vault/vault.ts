/**
 * The vault: secrets by name in one sealed file of the home.
 *
 * VAULT-1: a secret is in no file but the vault's, and there only encrypted.
 * VAULT-2: a change is durable when its promise resolves; a crash in the middle leaves the vault as it was.
 * VAULT-3: whatever the vault has read is known to the redactor before anybody gets it.
 * VAULT-4: without a vault there is no key: nothing is made until the first secret is set.
 */
import { join } from "node:path";
import { AppError, isVariableName, NOT_A_SECRET_NAME, SECRET_NAME_HINT } from "../../core/domain/index.ts";
import { steersPrograms } from "../../core/kit/index.ts";
import { readIfThere, removeFile, replaceSwept } from "./files.ts";
import { findKey, KEY_FILE, type KeyPlace, keepInFile, keepInKeyring, makeKey } from "./key.ts";
import { type Keyring, systemKeyring } from "./keyring.ts";
import { type Contents, type Envelope, parseEnvelope, seal, unseal } from "./sealed.ts";
import { Secret } from "./secret.ts";

const VAULT_FILE = "vault.json";

export interface VaultParts {
  home: string;
  now: () => number;
  /** Hears every secret: the redactor's `addSecret`. */
  onSecret: (value: string) => void;
  /** Instead of this system's keyring. */
  keyring?: Keyring;
}

export interface VaultEntry {
  name: string;
  setAt: number;
}

/** What a redactor can find in a text without shredding it; the same bound as in ground/observe. */
const SHORTEST = 6;
const LONGEST = 64 * 1024;

/** Opens the home's vault. A home without one has an empty vault. Throws STORAGE_FAILED when it cannot be read. */
export async function openVault(parts: VaultParts): Promise<Vault> {
  const vault = new Vault(parts);
  await vault.refresh();
  return vault;
}

export class Vault {
  private readonly parts: VaultParts;
  private readonly file: string;
  private known = new Map<string, { secret: Secret; at: number }>();
  private sealedWith: { key: Buffer; place: KeyPlace } | undefined;
  /** Changes go one after another: each reads the file, changes it and puts it back. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: VaultParts) {
    this.parts = parts;
    this.file = join(parts.home, VAULT_FILE);
  }

  /** Durable when it resolves. Throws BAD_REQUEST for a name or value that cannot be one. */
  async set(name: string, value: string): Promise<void> {
    checkName(name);
    checkValue(name, value);
    this.parts.onSecret(value);
    await this.change((held) => ({ ...held, [name]: { value, at: this.parts.now() } }));
  }

  /** False when there was none of this name. */
  async remove(name: string): Promise<boolean> {
    let found = false;
    await this.change((held) => {
      found = Object.hasOwn(held, name);
      const { [name]: _gone, ...rest } = held;
      return found ? rest : undefined;
    });
    return found;
  }

  /** As it was when the vault was last read or changed. */
  get(name: string): Secret | undefined {
    return this.known.get(name)?.secret;
  }

  /** Names only; the values stay where they are. */
  list(): VaultEntry[] {
    return [...this.known].map(([name, { at }]) => ({ name, setAt: at })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** In plain words: where the key is, and what that means. */
  where(): string {
    if (!this.sealedWith) {
      return "There is no vault yet. Its key will be in a file only you can read. To keep it in the OS keyring: lares secrets keyring on";
    }
    return this.sealedWith.place === "keyring"
      ? `The vault ${this.file} is encrypted; its key is in the OS keyring.`
      : `The vault ${this.file} is encrypted; its key lies beside it in ${KEY_FILE} (mode 0600), because no OS keyring is used. Anyone who can read both files can read the secrets. To move the key: lares secrets keyring on`;
  }

  /**
   * Puts the key into the OS keyring, or back into its file. The new place has the key before the vault says so, and only then is
   * it gone from the old one: a crash in between leaves a vault that opens. Throws, with nothing changed, when the keyring is not
   * there or does not hold it.
   */
  async moveKey(place: KeyPlace): Promise<void> {
    await this.queued(async () => {
      const { home } = this.parts;
      const held = await this.read();
      const key = this.sealedWith?.key ?? (await makeKey(home));
      if (place === "keyring") await keepInKeyring(this.keyring, home, key);
      else await keepInFile(home, key);
      this.sealedWith = { key, place };
      await replaceSwept(this.file, seal(held, key, place));
      if (place === "keyring") await removeFile(join(home, KEY_FILE));
      this.keep(held);
    });
  }

  /** Reads the file again: another process, such as the command line, may have changed it. */
  async refresh(): Promise<void> {
    await this.queued(async () => this.keep(await this.read()));
  }

  private async change(edit: (held: Contents) => Contents | undefined): Promise<void> {
    await this.queued(async () => {
      const next = edit(await this.read());
      if (!next) return;
      this.sealedWith ??= { key: await makeKey(this.parts.home), place: "file" };
      await replaceSwept(this.file, seal(next, this.sealedWith.key, this.sealedWith.place));
      this.keep(next);
    });
  }

  private async read(): Promise<Contents> {
    const bytes = await readIfThere(this.file);
    if (!bytes) {
      this.sealedWith = undefined;
      return {};
    }
    let box: Envelope;
    try {
      box = parseEnvelope(bytes);
    } catch (cause) {
      throw damaged(this.file, "is not a vault", cause);
    }
    const key = await findKey(this.parts.home, box.key, this.keyring);
    this.sealedWith = { key, place: box.key };
    try {
      return unseal(box, key);
    } catch {
      // Without its cause: what a half-decrypted text looked like is nobody's business.
      throw damaged(this.file, "was changed, or its key is another one");
    }
  }

  private keep(held: Contents): void {
    for (const { value } of Object.values(held)) this.parts.onSecret(value);
    this.known = new Map(
      Object.entries(held).map(([name, { value, at }]) => [name, { secret: new Secret(value), at }]),
    );
  }

  private queued<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.last.then(run);
    this.last = mine.catch(() => {});
    return mine;
  }

  private get keyring(): Keyring {
    return this.parts.keyring ?? systemKeyring();
  }
}

export function isSecretName(name: string): boolean {
  return isVariableName(name) && !steersPrograms(name);
}

function checkName(name: string): void {
  if (isSecretName(name)) return;
  throw new AppError("BAD_REQUEST", {
    message: isVariableName(name)
      ? `A secret cannot be called "${name}": a variable of that name changes which programs run.`
      : NOT_A_SECRET_NAME,
    hint: SECRET_NAME_HINT,
  });
}

function checkValue(name: string, value: string): void {
  const why = whyRefused(value);
  if (why) throw new AppError("BAD_REQUEST", { message: `The secret ${name} is ${why}.` });
}

function damaged(file: string, why: string, cause?: unknown): AppError {
  return new AppError("STORAGE_FAILED", {
    message: `${file} ${why}, so its secrets cannot be read. Nothing was changed.`,
    hint: "Restore vault.json and its key from the same copy, or put the file aside and set the secrets again.",
    retry: "after-change",
    cause,
  });
}

function whyRefused(value: string): string | undefined {
  if (value.trim().length < SHORTEST)
    return `shorter than ${SHORTEST} characters and can't be distinguished from ordinary text, so it couldn't be kept out of logs`;
  if (value.length > LONGEST) return `longer than ${LONGEST} characters`;
  return value.includes("\0") ? "not text: it contains a NUL character" : undefined;
}
