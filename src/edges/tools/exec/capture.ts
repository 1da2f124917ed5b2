/**
 * Output of a command, kept within bounds while it comes in: the model sees the beginning and the end, the whole goes to
 * disk as soon as it is known to be too much. Memory stays small however much a command says.
 *
 * The file is in the workspace, where the agent can read it, and where a command can put a link: it is opened through the path
 * type, one folder at a time.
 */
import { writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { ToolPlace } from "../../../core/contracts/index.ts";
import { withInside } from "../../../core/files/index.ts";
import { humanSize } from "../files/content.ts";
import { howToReadOn } from "../files/lines.ts";
import { asRead } from "../paths/index.ts";

/** About 7,500 tokens. Errors stand at the end more often than at the beginning, hence one to two. */
export const SHOWN = 30_000;
const HEAD = SHOWN / 3;
const TAIL = SHOWN - HEAD;
/** The most one run may leave on disk. */
const MOST_ON_DISK = 50 * 1024 * 1024;

export interface CaptureOptions {
  place: Pick<ToolPlace, "workspace" | "spillDir" | "folder">;
  key: string;
  mostOnDisk?: number;
}

export interface CapturedOutput {
  text: string;
  cut: boolean;
  bytes: number;
  /** Where the whole is, when it was cut and could be kept. */
  spill: string | undefined;
}

export class OutputCapture {
  private readonly decoder = new StringDecoder("utf8");
  private readonly options: CaptureOptions;
  private chunks: Buffer[] = [];
  private text = "";
  private head = "";
  private tail = "";
  private characters = 0;
  private bytes = 0;
  private onDisk = 0;
  private opening: Promise<void> | undefined;
  private file: FileHandle | undefined;
  private trouble: string | undefined;
  private more = "";

  constructor(options: CaptureOptions) {
    this.options = options;
  }

  get path(): string {
    return join(this.options.place.spillDir, `${this.options.key.replace(/[^\w.-]/g, "_")}.txt`);
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const text = this.decoder.write(chunk);
    this.characters += text.length;
    if (this.opening) {
      this.keep(chunk);
      this.tail = (this.tail + text).slice(-2 * TAIL);
      return;
    }
    this.text += text;
    this.chunks.push(chunk);
    if (this.characters > SHOWN) this.spill();
  }

  /** Something is missing here that nobody counted. */
  gap(): void {
    this.more = "more than ";
  }

  /** Closes the file and gives what the model sees. */
  async end(): Promise<CapturedOutput> {
    const rest = this.decoder.end();
    if (!this.opening) return { text: plain(this.text + rest), cut: false, bytes: this.bytes, spill: undefined };
    await this.opening;
    await this.file?.close();
    const tail = wholeSigns((this.tail + rest).slice(-TAIL));
    const left = this.characters + rest.length - this.head.length - tail.length;
    const spill = this.onDisk > 0 ? this.path : undefined;
    const text = `${this.head}\n[… ${this.more}${left} characters cut; ${this.whereabouts()} …]\n${tail}`;
    return { text: plain(text), cut: true, bytes: this.bytes, spill };
  }

  /** From now on: the head stands, the tail rolls, the rest is on disk only. */
  private spill(): void {
    this.head = wholeSigns(this.text.slice(0, HEAD));
    this.tail = this.text.slice(this.head.length).slice(-2 * TAIL);
    this.text = "";
    this.opening = this.open();
  }

  /** What comes in until the file is open waits in `chunks`. Never throws: trouble is part of the result. */
  private async open(): Promise<void> {
    const root = this.options.place.workspace;
    try {
      this.file = await withInside({ root, path: this.path, parents: "make", links: "refuse" }, (inside) =>
        inside.openFresh(0o600),
      );
    } catch (error) {
      this.trouble = (error as Error).message;
    }
    const waiting = this.chunks;
    this.chunks = [];
    for (const chunk of waiting) this.keep(chunk);
  }

  private keep(chunk: Buffer): void {
    const room = (this.options.mostOnDisk ?? MOST_ON_DISK) - this.onDisk;
    if (this.trouble !== undefined || room <= 0) return;
    if (this.file === undefined) {
      this.chunks.push(chunk);
      return;
    }
    try {
      // Written at once: order is kept, nothing piles up in memory, and the page cache takes it in microseconds.
      const part = chunk.subarray(0, room);
      for (let at = 0; at < part.length; ) at += writeSync(this.file.fd, part, at);
      this.onDisk += part.length;
    } catch (error) {
      this.trouble = (error as Error).message;
    }
  }

  private whereabouts(): string {
    if (this.onDisk === 0) return `the full output could not be saved: ${this.trouble ?? "no room"}`;
    const path = asRead(this.options.place, this.path);
    const what =
      this.onDisk < this.bytes
        ? `the first ${humanSize(this.onDisk)} of ${this.more}${humanSize(this.bytes)} are`
        : `the full output (${humanSize(this.bytes)}) is`;
    return `${what} in ${path}; ${howToReadOn(path, this.head)}`;
  }
}

/** NUL is the one character that stores and wires downstream do not take. */
function plain(text: string): string {
  return text.replaceAll("\0", "\\u{0}");
}

/** Does not begin or end within a surrogate pair. */
function wholeSigns(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
