/**
 * Files people send with a message. They are uploaded first and named by a message later; then they belong to that message's
 * session.
 *
 * ATTACHMENTS-1: the file is durable before its row is, and the row before the id is returned. A crash in between leaves a file
 *     without a row, which the next start removes.
 * ATTACHMENTS-2: an attachment belongs to at most one session and is deleted with it. One that no message names is deleted after
 * a day.
 * ATTACHMENTS-3: until a message names it, only its uploader can read it; afterwards it is as readable as the session.
 * For ATTACHMENTS-4, -5 and -9 see texts.ts.
 */
import { createHash } from "node:crypto";
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type ImagePart,
  isOver,
  type SessionKey,
  sourceKeys,
  type TextPart,
} from "../../core/domain/index.ts";
import type { Clock, IdMaker, Log } from "../../core/kit/index.ts";
import { Files } from "./files.ts";
import { InboxFiles } from "./inbox-files.ts";
import { cleanName } from "./name.ts";
import { type Kind, Sniffer } from "./sniff.ts";
import {
  type AttachmentRow,
  allIds,
  countUnused,
  deleteUnused,
  insertAttachment,
  listAttachments,
  listPictures,
  readAttachment,
  unusedSince,
  useAttachment,
} from "./store.ts";
import {
  describeRest,
  FileTexts,
  isUnread,
  material,
  megabytes,
  size,
  TEXT_BYTES,
  type TextParts,
  unreadPdf,
} from "./texts.ts";

/** Largest single file. Providers don't accept larger pictures, and a larger text wouldn't fit a model. */
export const MOST_BYTES = 20 * 1_048_576;
/** Limit for one principal's unused files, so that nobody can fill the disk just by uploading. */
const MOST_UNUSED = { count: 60, bytes: 300 * 1_048_576 };
/** Uploads of one principal at the same time: a message's worth. */
const MOST_AT_ONCE = 8;
/** How long an unused file is kept. */
const UNUSED_MS = 86_400_000;
/** Cache of pictures recently shown to models. */
const RECENT_BYTES = 32 * 1_048_576;
/** Pictures an agent has looked at that one session keeps. */
const MOST_PICTURES = 300;

export interface AttachmentParts {
  home: string;
  records: Records;
  clock: Clock;
  ids: IdMaker;
  log: Log;
  /** Where an agent works. Throws for one that is not there. */
  findWorkspace: (agent: AgentId) => string;
  readPdf: TextParts["readPdf"];
  redact: TextParts["redact"];
}

export interface AttachmentView {
  id: string;
  name: string;
  mediaType: string;
  bytes: number;
  kind: Kind;
}

/** Who asks. The owner may use what others brought. */
export interface AttachmentAsker {
  id: string;
  isOwner: boolean;
  /** The agent whose workspace gets them as files; left out where its tools are not for the asker. */
  agent?: AgentId;
}

/** Attachments held for one message that is being admitted. */
export interface HeldAttachments {
  /** What they add to the message. */
  parts: (TextPart | ImagePart)[];
  /** Assigns them to the session, in the message's transaction. Idempotent. */
  record(tx: Tx): void;
  /** The message was admitted or refused. */
  release(): void;
}

export class Attachments {
  private readonly parts: AttachmentParts;
  private readonly files: Files;
  private readonly inbox: InboxFiles;
  private readonly texts: FileTexts;
  /** Uploads under way: their files have no row yet. */
  private readonly writing = new Set<string>();
  private readonly uploads = new Map<string, number>();
  /** Named by a message that is being admitted, and by how many. */
  private readonly held = new Map<string, { session: SessionKey; by: number }>();
  private readonly recent = new Map<string, Buffer>();
  private recentBytes = 0;
  /** Being removed for their age. */
  private readonly going = new Set<string>();

  constructor(parts: AttachmentParts) {
    this.parts = parts;
    this.files = new Files(parts.home);
    const read = (id: string) => this.files.read(id, MOST_BYTES);
    this.inbox = new InboxFiles({ ...parts, read });
    this.texts = new FileTexts({ bytes: read, readPdf: parts.readPdf, redact: parts.redact });
  }

  /** Stores a file. Durable when it resolves. Throws TYPE_REFUSED, BODY_TOO_LARGE or TOO_MANY without reading further. */
  async put(
    body: AsyncIterable<Uint8Array>,
    about: { name: string; by: string; ours?: boolean },
  ): Promise<AttachmentView> {
    const { records, clock, ids } = this.parts;
    const { by } = about;
    const underWay = this.uploads.get(by) ?? 0;
    if (underWay >= MOST_AT_ONCE) throw tooMany(`${MOST_AT_ONCE} files are already being uploaded.`);
    this.uploads.set(by, underWay + 1);
    const id = ids.next("at");
    this.writing.add(id);
    try {
      const unused = await countUnused(records, by);
      if (unused.count + underWay >= MOST_UNUSED.count || unused.bytes >= MOST_UNUSED.bytes)
        throw tooMany("Too many files are waiting to be sent with a message.");
      const name = cleanName(about.name);
      const sniffer = new Sniffer();
      let size = 0;
      const { bytes, sha256 } = await this.files.write(id, body, (chunk) => {
        size += chunk.length;
        if (size > MOST_BYTES) throw tooLarge();
        if (about.ours) attempt(() => sniffer.take(chunk));
        else sniffer.take(chunk);
      });
      const row = { id, name, bytes, sha256, made_at: clock.now(), made_by: by };
      try {
        if (bytes === 0) throw new AppError("BAD_REQUEST", { message: `The file ${name} is empty.` });
        const { mediaType } = about.ours ? sniffed(sniffer, name) : sniffer.end(name);
        await records.write((tx) => insertAttachment(tx, { ...row, media_type: mediaType }));
        return view({ ...row, media_type: mediaType });
      } catch (error) {
        await this.files.remove(id);
        throw error;
      }
    } finally {
      this.writing.delete(id);
      const left = (this.uploads.get(by) ?? 1) - 1;
      if (left > 0) this.uploads.set(by, left);
      else this.uploads.delete(by);
    }
  }

  /**
   * A file with its bytes, for somebody who may read sessions. Undefined if there is none, or it isn't theirs (ATTACHMENTS-3).
   */
  async get(
    id: string,
    asker: AttachmentAsker,
  ): Promise<(AttachmentView & { content: Buffer<ArrayBuffer>; sha256: string }) | undefined> {
    const row = await readAttachment(this.parts.records.committed, id);
    if (!row || !mayUse(row, asker)) return undefined;
    const content = await this.files.read(id, MOST_BYTES);
    return content && { ...view(row), content, sha256: row.sha256 };
  }

  /** The bytes for a model. Nothing when it is gone. */
  async load(id: string): Promise<{ bytes: Uint8Array; mediaType: string } | undefined> {
    const row = await readAttachment(this.parts.records, id);
    const bytes = row && (this.recent.get(id) ?? (await this.files.read(id, MOST_BYTES)));
    if (!bytes) return undefined;
    this.keep(id, bytes);
    return { bytes, mediaType: row.media_type };
  }

  /**
   * A picture an agent looked at, kept with its session so that later requests can show it again; the same one only once.
   * Undefined when it is no picture, or the session has as many as it may.
   */
  async keepPicture(session: SessionKey, of: { name: string; bytes: Buffer }): Promise<ImagePart | undefined> {
    const { records } = this.parts;
    const sha256 = createHash("sha256").update(of.bytes).digest("hex");
    const known = await listPictures(records, session, sha256);
    if (known.same)
      return { type: "image", attachment: known.same.id, mediaType: known.same.media_type, name: known.same.name };
    if (known.count >= MOST_PICTURES) return undefined;
    const made = await this.put(once(of.bytes), { name: of.name, by: sourceKeys.session(session), ours: true });
    if (made.kind !== "image") return undefined;
    await records.write((tx) => useAttachment(tx, made.id, session));
    return { type: "image", attachment: made.id, mediaType: made.mediaType, name: made.name };
  }

  /** They leave with a message of this session, and stay as long as it does. */
  keepFor(tx: Tx, ids: readonly string[], session: SessionKey): void {
    for (const id of ids) useAttachment(tx, id, session);
  }

  /** A file that leaves with a message. */
  async outgoing(
    id: string,
  ): Promise<{ name: string; mediaType: string; bytes: number; read(): Promise<Uint8Array> } | undefined> {
    const row = await readAttachment(this.parts.records, id);
    if (!row) return undefined;
    const read = async () => (await this.load(id))?.bytes ?? new Uint8Array();
    return { name: row.name, mediaType: row.media_type, bytes: row.bytes, read };
  }

  /** What these add to a message of this session; they stay held until `release`. Throws when one of them cannot be used. */
  async hold(ids: readonly string[], session: SessionKey, asker: AttachmentAsker): Promise<HeldAttachments> {
    const wanted = [...new Set(ids)];
    const rows: AttachmentRow[] = [];
    for (const id of wanted) {
      const row = await readAttachment(this.parts.records, id);
      if (!row || !mayUse(row, asker)) throw notThere(id);
      rows.push(row);
    }
    // No await from here to the last `set`, so that two messages can't both get the same file.
    for (const { id, name, session: owner } of rows) {
      if (this.going.has(id)) throw notThere(id);
      const belongsTo = owner ?? this.held.get(id)?.session;
      if (belongsTo !== undefined && belongsTo !== session) throw elsewhere(name);
    }
    for (const id of wanted) this.held.set(id, { session, by: (this.held.get(id)?.by ?? 0) + 1 });
    const release = () => {
      for (const id of wanted) {
        const held = this.held.get(id);
        if (held && --held.by <= 0) this.held.delete(id);
      }
    };
    try {
      const parts: (TextPart | ImagePart)[] = [];
      for (const row of rows) {
        const path = asker.agent === undefined ? undefined : await this.inbox.place(row, asker.agent);
        parts.push(await this.toPart(row, path));
      }
      return {
        parts,
        release,
        record: (tx) => {
          for (const id of wanted) useAttachment(tx, id, session);
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Messages with the text that `hold` left for later (ATTACHMENTS-5). Throws only when `signal` aborts. */
  async withTexts<T extends { attached: readonly (TextPart | ImagePart)[] }>(
    messages: readonly T[],
    signal?: AbortSignal,
  ): Promise<T[]> {
    const all: T[] = [];
    for (const one of messages) {
      all.push(one.attached.some(isUnread) ? { ...one, attached: await this.texts.read(one.attached, signal) } : one);
    }
    return all;
  }

  /** The session's files. Its records name them no more when `remove` is called. */
  of(session: SessionKey): Promise<string[]> {
    return listAttachments(this.parts.records, session);
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.forget(id);
      await this.files.remove(id);
    }
    await this.inbox.remove(ids);
  }

  /** Removes what no message named within a day (ATTACHMENTS-2). */
  async tidy(): Promise<number> {
    const { records, clock } = this.parts;
    const old = await unusedSince(records, clock.now() - UNUSED_MS);
    const gone = old.filter((id) => !this.held.has(id));
    if (gone.length === 0) return 0;
    for (const id of gone) this.going.add(id);
    try {
      await records.write((tx) => {
        for (const id of gone) deleteUnused(tx, id);
      });
      await this.remove(gone);
    } finally {
      for (const id of gone) this.going.delete(id);
    }
    return gone.length;
  }

  /** Removes files without a row: what a crash left (ATTACHMENTS-1). */
  async sweep(): Promise<void> {
    try {
      const there = await this.files.list();
      const under = new Set(this.writing);
      const known = await allIds(this.parts.records);
      const lost = there.filter((id) => !known.has(id) && !under.has(id));
      await this.remove(lost);
      await this.inbox.sweep();
      if (lost.length) this.parts.log.info("attachments without a record were removed", { count: lost.length });
    } catch (error) {
      if (isOver(error)) return;
      this.parts.log.warn("attachments couldn't be checked", { error: String(error) });
    }
  }

  /** A turn with tools shows the same picture in every call, so recently read ones stay in memory. */
  private keep(id: string, bytes: Buffer): void {
    this.forget(id);
    this.recent.set(id, bytes);
    this.recentBytes += bytes.length;
    for (const oldest of this.recent.keys()) {
      if (this.recentBytes <= RECENT_BYTES) return;
      this.forget(oldest);
    }
  }

  private forget(id: string): void {
    this.recentBytes -= this.recent.get(id)?.length ?? 0;
    this.recent.delete(id);
  }

  private async toPart(row: AttachmentRow, path: string | undefined): Promise<TextPart | ImagePart> {
    const { id: attachment, name, mediaType, bytes, kind } = view(row);
    const at = path === undefined ? {} : { path };
    if (kind === "image") return { type: "image", attachment, mediaType, name, ...at };
    const file = { attachment, mediaType, name, bytes, ...at };
    if (kind === "file") return unreadPdf(file);
    const head = await this.files.read(attachment, TEXT_BYTES);
    if (!head) throw notThere(attachment);
    // The cut may fall inside a character; its remains are not shown.
    const content = new TextDecoder("utf-8").decode(head, { stream: bytes > TEXT_BYTES });
    const more = `this is the beginning, ${size(TEXT_BYTES)} of ${size(bytes)}`;
    const cut = bytes > TEXT_BYTES ? `\n[Cut here: ${more}.${describeRest(file, content.split("\n").length)}]` : "";
    return { type: "text", text: material(file, name, this.parts.redact(content) + cut), file };
  }
}

function mayUse(row: AttachmentRow, asker: AttachmentAsker): boolean {
  return row.session !== null || row.made_by === asker.id || asker.isOwner;
}

function view(row: Pick<AttachmentRow, "id" | "name" | "media_type" | "bytes">): AttachmentView {
  const { id, name, media_type: mediaType, bytes } = row;
  return { id, name, mediaType, bytes, kind: readKind(mediaType) };
}

function tooLarge(): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: `The file is larger than ${megabytes(MOST_BYTES)}.`,
    hint: "Send a smaller one, or put it in the agent's workspace.",
  });
}

function tooMany(message: string): AppError {
  return new AppError("TOO_MANY", {
    message,
    hint: "Send the message they belong to, or wait: unused files are deleted after a day.",
    retry: "later",
  });
}

function notThere(id: string): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no attachment "${id}".`,
    hint: "Attach the file again: unused files are deleted after a day.",
    details: { attachment: id },
  });
}

function elsewhere(name: string): AppError {
  return new AppError("CONFLICT", {
    message: `The file ${name} belongs to another conversation.`,
    hint: "Attach it again here.",
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A file made by an agent may be of any type, because nothing here parses it. */
function sniffed(sniffer: Sniffer, name: string): { mediaType: string } {
  return attempt(() => sniffer.end(name)) ?? { mediaType: "application/octet-stream" };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function readKind(mediaType: string): AttachmentView["kind"] {
  if (mediaType.startsWith("image/")) return "image";
  return mediaType === "application/pdf" ? "file" : "text";
}
