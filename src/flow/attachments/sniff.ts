/**
 * Detects a file's type from its bytes. What the sender claims doesn't count (the name only chooses among kinds of text): a
 * browser would render a page that claims to be a picture as a page.
 */
import { AppError } from "../../core/domain/index.ts";

export type Kind = "image" | "text" | "file";
export interface FileType {
  mediaType: string;
  kind: Kind;
}

/** The longest signature below ends here. */
const HEAD_BYTES = 12;

const MARKS: readonly { at: number; bytes: string; type: FileType | "zip" }[] = [
  { at: 0, bytes: "89504e470d0a1a0a", type: { mediaType: "image/png", kind: "image" } },
  { at: 0, bytes: "ffd8ff", type: { mediaType: "image/jpeg", kind: "image" } },
  { at: 0, bytes: hex("GIF87a"), type: { mediaType: "image/gif", kind: "image" } },
  { at: 0, bytes: hex("GIF89a"), type: { mediaType: "image/gif", kind: "image" } },
  { at: 8, bytes: hex("WEBP"), type: { mediaType: "image/webp", kind: "image" } },
  { at: 0, bytes: hex("%PDF-"), type: { mediaType: "application/pdf", kind: "file" } },
  { at: 0, bytes: "504b0304", type: "zip" },
  { at: 0, bytes: "504b0506", type: "zip" },
];

/** All text is shown and served as text, a page or a drawing too; these names only say more about it. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  csv: "text/csv",
  md: "text/markdown",
  markdown: "text/markdown",
};

/** Inspects a file as it streams through. Throws TYPE_REFUSED as soon as the type turns out not to be accepted. */
export class Sniffer {
  private head = Buffer.alloc(0);
  private found: FileType | undefined;
  private text: InstanceType<typeof TextDecoder> | undefined;

  take(chunk: Uint8Array): void {
    if (this.found) return;
    if (this.text) {
      this.read(chunk, true);
      return;
    }
    this.head = Buffer.concat([this.head, chunk]);
    if (this.head.length >= HEAD_BYTES) this.decide();
  }

  /** What it was, when all of it has passed. */
  end(name: string): FileType {
    if (!this.found && !this.text) this.decide();
    if (this.found) return this.found;
    this.read(new Uint8Array(), false);
    const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
    return { mediaType: TEXT_TYPES[ending] ?? "text/plain", kind: "text" };
  }

  private decide(): void {
    const { head } = this;
    const mark = MARKS.find(({ at, bytes }) => head.subarray(at, at + bytes.length / 2).toString("hex") === bytes);
    if (mark?.type === "zip") throw refused("Archives can't be attached, nor office documents, which are archives.");
    // RIFF is also a sound; only with WEBP behind it is it a picture.
    if (mark && (mark.at === 0 || head.subarray(0, 4).toString("latin1") === "RIFF")) {
      this.found = mark.type;
      return;
    }
    this.text = new TextDecoder("utf-8", { fatal: true });
    this.read(head, true);
  }

  private read(chunk: Uint8Array, stream: boolean): void {
    try {
      if (!chunk.some(isBinary)) {
        this.text!.decode(chunk, { stream });
        return;
      }
    } catch {
      // Not UTF-8; refused below.
    }
    throw refused("This kind of file can't be attached.");
  }
}

/** Control bytes that no text has; tab, line ends, form feed and the escape of terminal colours are fine. */
function isBinary(byte: number): boolean {
  return byte < 9 || byte === 11 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32);
}

function refused(message: string): AppError {
  return new AppError("TYPE_REFUSED", {
    message,
    hint: "Pictures (PNG, JPEG, GIF, WebP), PDF and text in UTF-8 can be attached.",
  });
}

function hex(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}
