/**
 * Attachments as files of the workspace, so that tools can work on all of them: `inbox/NAME`.
 *
 * ATTACHMENTS-6: the row that names the path is durable before the file is, and the file before the message that names it.
 * Anything left by a crash belongs to an attachment and is deleted with it.
 * ATTACHMENTS-7: nobody else's files are overwritten or removed: neither a file without a row, nor one whose content is no longer
 * the attachment's.
 * ATTACHMENTS-8: no link is followed; names are made of letters, digits and `._-`, short, and unique in the folder.
 */
import { createHash } from "node:crypto";
import type { Records } from "../../core/contracts/index.ts";
import type { AgentId } from "../../core/domain/index.ts";
import { readBelow, withInside, writeBelow } from "../../core/files/index.ts";
import type { Log } from "../../core/kit/index.ts";
import { inboxName } from "./name.ts";
import {
  findInboxFile,
  forgetInboxFile,
  type InboxFileRow,
  inboxFilesAt,
  inboxFilesWithout,
  inboxUse,
  keepInboxFile,
} from "./store.ts";

const FOLDER = "inbox";
/** Limits per agent; beyond them, a file is only in the message. */
const MOST = { count: 1000, bytes: 2 * 1024 * 1_048_576 };
/** Most files of the same name. */
const MOST_ALIKE = 100;

export interface InboxFileParts {
  records: Records;
  log: Log;
  /** Throws for an agent that is not there. */
  findWorkspace: (agent: AgentId) => string;
  read: (attachment: string) => Promise<Buffer | undefined>;
}

interface Attached {
  id: string;
  name: string;
  sha256: string;
  bytes: number;
}

export class InboxFiles {
  private readonly parts: InboxFileParts;
  /** One at a time: two files must not choose the same name. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: InboxFileParts) {
    this.parts = parts;
  }

  /** Its path below the workspace; durable when this resolves. Undefined when there is no room or it cannot be written. */
  place(file: Attached, agent: AgentId): Promise<string | undefined> {
    return this.inTurn(async () => {
      try {
        return await this.put(file, agent);
      } catch (error) {
        // A full disk, or a link in the way, must not keep the message out.
        this.parts.log.warn("an attachment couldn't be saved in the workspace", { error: String(error) });
        return undefined;
      }
    });
  }

  /** The attachments are gone, or go: their files go with them. */
  remove(attachments: readonly string[]): Promise<void> {
    return this.inTurn(async () => {
      for (const id of attachments) {
        const row = await findInboxFile(this.parts.records, id);
        if (row) await this.take(row);
      }
    });
  }

  /** Files whose attachment is gone: what a crash left. */
  sweep(): Promise<void> {
    return this.inTurn(async () => {
      for (const row of await inboxFilesWithout(this.parts.records)) await this.take(row);
    });
  }

  private async put(file: Attached, agent: AgentId): Promise<string | undefined> {
    const { records } = this.parts;
    const root = this.parts.findWorkspace(agent);
    const known = await findInboxFile(records, file.id);
    if (known && known.agent === agent) {
      if ((await standing(root, known)) === "none") await this.write(root, known);
      return known.path;
    }
    const { count, bytes } = await inboxUse(records, agent);
    if (count >= MOST.count || bytes + file.bytes > MOST.bytes) return undefined;
    const path = await this.freePath(root, file, agent);
    if (path === undefined) return undefined;
    const row: InboxFileRow = { attachment: file.id, agent, path, sha256: file.sha256, bytes: file.bytes };
    await records.write((tx) => keepInboxFile(tx, row));
    await this.write(root, row);
    return path;
  }

  /** The first name that is free, or that holds this very content as another attachment of ours. */
  private async freePath(root: string, file: Attached, agent: AgentId): Promise<string | undefined> {
    for (let n = 1; n <= MOST_ALIKE; n++) {
      const path = `${FOLDER}/${inboxName(file.name, n)}`;
      const rows = await inboxFilesAt(this.parts.records, agent, path);
      const stands = await standing(root, { path, sha256: file.sha256, bytes: file.bytes });
      if (rows.length === 0 ? stands === "none" : rows[0]!.sha256 === file.sha256 && stands !== "other") return path;
    }
    return undefined;
  }

  private async write(root: string, { attachment, path, sha256, bytes }: InboxFileRow): Promise<void> {
    if ((await standing(root, { path, sha256, bytes })) === "same") return;
    const content = await this.parts.read(attachment);
    if (!content) throw new Error("the attachment is gone");
    await writeBelow({ root, path, content, tag: attachment, mode: 0o600, links: "refuse" });
  }

  private async take(row: InboxFileRow): Promise<void> {
    const { records } = this.parts;
    const others = (await inboxFilesAt(records, row.agent as AgentId, row.path)).length - 1;
    if (others <= 0) await this.removeUnchanged(row).catch(() => {});
    await records.write((tx) => forgetInboxFile(tx, row.attachment));
  }

  private async removeUnchanged(row: InboxFileRow): Promise<void> {
    const root = this.parts.findWorkspace(row.agent as AgentId);
    if ((await standing(root, row)) !== "same") return;
    await withInside({ root, path: row.path, links: "refuse" }, (inside) => inside.remove());
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work, work);
    this.last = mine.catch(() => {});
    return mine;
  }
}

/** What is at the path: nothing, this content, or something else. */
async function standing(
  root: string,
  { path, sha256, bytes }: Pick<InboxFileRow, "path" | "sha256" | "bytes">,
): Promise<"none" | "same" | "other"> {
  const found = await readBelow({ root, path, most: bytes, links: "refuse" });
  if (found.state !== "file") return found.state === "none" ? "none" : "other";
  return createHash("sha256").update(found.content).digest("hex") === sha256 ? "same" : "other";
}
