/**
 * The folder that backups are in. Content is cut into pieces, and a piece that an earlier backup has is not stored again.
 *
 *   lares-backup.json   what the folder is: its format, and with a passphrase how the key is made
 *   ID.pack             the pieces that a backup added, one behind the other
 *   ID.index            which pieces are where in that pack
 *   ID.backup           the backup: every file, and the pieces it consists of
 *
 * ARCHIVE-1: a backup is there when its .backup file is. That comes last, after the pack and the index have reached the disk; what a
 * crash leaves without one is removed by the next backup.
 * Nothing in the folder is changed, only added and removed; a pack is removed when no backup needs a piece of it.
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../core/domain/index.ts";
import { replaceFile } from "../../core/kit/index.ts";
import { openDatabase } from "../records/index.ts";
import { deriveKeys, SCRYPT, Sealer } from "./seal.ts";
import { backupErrors } from "./words.ts";

const FORMAT = 1;
const ABOUT = "lares-backup.json";
/** What a right passphrase opens. */
const CHECK = "lares";
const PACK_MARK = Buffer.from("LARESPACK1\n");
/** No piece is larger than this, sealed or not. */
const MOST_PIECE = 4 * 1024 * 1024;
/** Lists of millions of pieces; more is not a list of ours. */
const MOST_LIST = 1024 * 1024 * 1024;

const aboutSchema = z.object({
  format: z.number().int(),
  id: z.string(),
  key: z
    .object({
      salt: z.base64(),
      N: z.number().int().min(1024).max(1_048_576),
      r: z.literal(8),
      p: z.number().int().min(1).max(4),
      check: z.base64(),
    })
    .optional(),
});

const entrySchema = z.object({
  path: z.string().min(1),
  kind: z.enum(["file", "folder", "link"]),
  mode: z.number().int(),
  /** Of a file: what tells whether it changed since. */
  size: z.number().optional(),
  changed: z.number().optional(),
  pieces: z.array(z.string()).optional(),
  target: z.string().optional(),
});
export type BackupEntry = z.output<typeof entrySchema>;

const backupSchema = z.object({
  format: z.number().int(),
  id: z.string(),
  madeAt: z.number(),
  /** The Lares that made it, and the schema of its database. */
  version: z.string(),
  schema: z.number().int(),
  database: z.array(z.string()),
  databaseBytes: z.number(),
  entries: z.array(entrySchema),
  /** Bytes of everything in it, and those that were new in the folder. */
  bytes: z.number(),
  added: z.number(),
  /** It has the vault's key and the token. Without a passphrase it hasn't. */
  hasKeys: z.boolean(),
});
export type Backup = z.output<typeof backupSchema>;

const indexSchema = z.array(z.tuple([z.string(), z.number(), z.number()]));

interface PiecePlace {
  pack: string;
  at: number;
  length: number;
}

/** `new`: the folder is made where there is none. */
export async function openArchive(
  folder: string,
  how: { passphrase?: string | undefined; make?: boolean },
): Promise<BackupArchive> {
  if (how.make) await mkdir(folder, { recursive: true, mode: 0o700 });
  const text = await readFile(join(folder, ABOUT), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) {
    if (!how.make) throw backupErrors.none(folder);
    return makeArchive(folder, how.passphrase);
  }
  const parsed = parseAbout(text, folder);
  if (parsed.format > FORMAT) throw backupErrors.newerFormat(folder, parsed.format);
  if (!parsed.key) return new BackupArchive(folder, new Sealer(), false);
  if (how.passphrase === undefined) throw backupErrors.needsPassphrase(folder);
  const { salt, check, ...cost } = parsed.key;
  const sealer = new Sealer(await deriveKeys(how.passphrase, Buffer.from(salt, "base64"), cost));
  try {
    sealer.open(Buffer.from(check, "base64"), CHECK, MOST_PIECE);
  } catch {
    throw backupErrors.wrongPassphrase(folder);
  }
  return new BackupArchive(folder, sealer, true);
}

function parseAbout(text: string, folder: string): z.output<typeof aboutSchema> {
  try {
    return aboutSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw backupErrors.notAFolderOfOurs(join(folder, ABOUT), cause);
  }
}

async function makeArchive(folder: string, passphrase: string | undefined): Promise<BackupArchive> {
  const others = (await readdir(folder)).filter((name) => !name.startsWith("."));
  if (others.length) throw backupErrors.notEmpty(folder);
  const about = { format: FORMAT, id: randomBytes(8).toString("hex") };
  if (passphrase === undefined) {
    await replaceFile(join(folder, ABOUT), `${JSON.stringify(about)}\n`);
    return new BackupArchive(folder, new Sealer(), false);
  }
  const salt = randomBytes(16);
  const sealer = new Sealer(await deriveKeys(passphrase, salt, SCRYPT));
  const check = sealer.seal(Buffer.from(CHECK), CHECK).toString("base64");
  const key = { ...SCRYPT, salt: salt.toString("base64"), check };
  await replaceFile(join(folder, ABOUT), `${JSON.stringify({ ...about, key })}\n`);
  return new BackupArchive(folder, sealer, true);
}

/** One process at a time adds to a folder or removes from it. Released when the process dies, however it does. */
export async function lockArchive(folder: string): Promise<{ release(): void }> {
  const db = await openDatabase(join(folder, ".lock"));
  try {
    db.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    throw /locked|busy/i.test(String(cause)) ? backupErrors.busy(folder, cause) : cause;
  }
  return { release: () => db.close() };
}

export class BackupArchive {
  readonly folder: string;
  readonly sealer: Sealer;
  readonly isEncrypted: boolean;
  private places: Map<string, PiecePlace> | undefined;

  constructor(folder: string, sealer: Sealer, isEncrypted: boolean) {
    this.folder = folder;
    this.sealer = sealer;
    this.isEncrypted = isEncrypted;
  }

  /** The oldest first. One that can't be read is named in `broken`. */
  async list(): Promise<{ backups: Backup[]; broken: string[] }> {
    const backups: Backup[] = [];
    const broken: string[] = [];
    for (const id of await this.names(".backup")) {
      try {
        backups.push(await this.read(id));
      } catch (error) {
        // A newer Lares' backup is whole, and says itself why it isn't shown.
        if (error instanceof AppError && error.code === "DATABASE_NEWER") throw error;
        broken.push(id);
      }
    }
    return { backups: backups.sort((a, b) => a.madeAt - b.madeAt), broken };
  }

  async read(id: string): Promise<Backup> {
    const value = await this.readList(`${id}.backup`, id);
    const format = (value as { format?: unknown } | null)?.format;
    if (typeof format === "number" && format > FORMAT) throw backupErrors.newerFormat(this.folder, format);
    const parsed = backupSchema.safeParse(value);
    if (!parsed.success || parsed.data.id !== id) throw backupErrors.damaged(id, parsed.error);
    return parsed.data;
  }

  /** Whole again, checked against its id. */
  async piece(id: string): Promise<Buffer> {
    const place = (await this.known()).get(id);
    if (!place) throw backupErrors.missingPiece(this.folder);
    const file = await open(join(this.folder, `${place.pack}.pack`), "r").catch((cause: unknown) => {
      throw backupErrors.missingPiece(this.folder, cause);
    });
    try {
      const sealed = Buffer.alloc(place.length);
      const { bytesRead } = await file.read(sealed, 0, place.length, place.at);
      return this.sealer.openNamed(sealed.subarray(0, bytesRead), id, MOST_PIECE);
    } finally {
      await file.close();
    }
  }

  async has(id: string): Promise<boolean> {
    return (await this.known()).has(id);
  }

  /** Where every piece is, of all packs whose index can be read. */
  async known(): Promise<Map<string, PiecePlace>> {
    if (this.places) return this.places;
    const places = new Map<string, PiecePlace>();
    for (const pack of await this.names(".index")) {
      const size = await stat(join(this.folder, `${pack}.pack`)).then(
        (found) => found.size,
        () => 0,
      );
      const list = await this.readList(`${pack}.index`, pack).catch(() => []);
      const parsed = indexSchema.safeParse(list);
      for (const [id, at, length] of parsed.success ? parsed.data : []) {
        // A pack that was cut has fewer pieces than its index says; what is behind the cut is stored again.
        if (length <= MOST_PIECE && at + length <= size) places.set(id, { pack, at, length });
      }
    }
    this.places = places;
    return places;
  }

  async writeIndex(pack: string, places: ReadonlyMap<string, PiecePlace>): Promise<void> {
    const list = [...places].map(([id, { at, length }]) => [id, at, length]);
    await this.writeList(`${pack}.index`, pack, list);
    for (const [id, place] of places) (await this.known()).set(id, place);
  }

  write(backup: Backup): Promise<void> {
    return this.writeList(`${backup.id}.backup`, backup.id, backup);
  }

  async remove(...files: string[]): Promise<void> {
    for (const file of files) await rm(join(this.folder, file), { force: true });
  }

  /** Names of files with this ending, without it. */
  async names(ending: string): Promise<string[]> {
    const found = await readdir(this.folder);
    return found
      .filter((name) => name.endsWith(ending) && !name.startsWith("."))
      .map((name) => name.slice(0, -ending.length))
      .sort();
  }

  private async readList(file: string, name: string): Promise<unknown> {
    const sealed = await readFile(join(this.folder, file)).catch((cause: NodeJS.ErrnoException) => {
      throw cause.code === "ENOENT" ? backupErrors.unknown(name, this.folder) : cause;
    });
    const text = this.sealer.open(sealed, name, MOST_LIST).toString("utf8");
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw backupErrors.damaged(name, cause);
    }
  }

  private async writeList(file: string, name: string, value: unknown): Promise<void> {
    await replaceFile(join(this.folder, file), this.sealer.seal(Buffer.from(JSON.stringify(value)), name));
  }
}

/** A pack being written. Durable when `finish` resolves; without it, it is left over and removed by the next backup. */
export class PackWriter {
  readonly id: string;
  readonly places = new Map<string, PiecePlace>();
  bytes = 0;
  private at = PACK_MARK.length;
  private readonly archive: BackupArchive;
  private readonly file: FileHandle;

  private constructor(archive: BackupArchive, id: string, file: FileHandle) {
    this.archive = archive;
    this.id = id;
    this.file = file;
  }

  static async open(archive: BackupArchive, id: string): Promise<PackWriter> {
    const file = await open(join(archive.folder, `${id}.pack`), "wx", 0o600);
    await file.write(PACK_MARK);
    return new PackWriter(archive, id, file);
  }

  /** Stores the content unless it is there already. Its id. */
  async add(content: Uint8Array): Promise<string> {
    const id = this.archive.sealer.nameContent(content);
    if (!this.places.has(id) && !(await this.archive.has(id)))
      await this.addSealed(id, this.archive.sealer.seal(content, id));
    return id;
  }

  async addSealed(id: string, sealed: Buffer): Promise<void> {
    await this.file.write(sealed);
    this.places.set(id, { pack: this.id, at: this.at, length: sealed.length });
    this.at += sealed.length;
    this.bytes += sealed.length;
  }

  async finish(): Promise<void> {
    await this.file.sync();
    await this.file.close();
    // The index is replaced in one step, which makes the pack's own name durable along with it.
    await this.archive.writeIndex(this.id, this.places);
  }

  /** Gives it up. */
  async drop(): Promise<void> {
    await this.file.close().catch(() => {});
    await this.archive.remove(`${this.id}.pack`);
  }
}
