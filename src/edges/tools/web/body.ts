/**
 * The body of an answer, unpacked and held within a limit while it comes in. The limit counts what is kept, after
 * unpacking: a few kilobytes that unfold to gigabytes end at the same byte as gigabytes that come plain.
 */
import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants as zlib } from "node:zlib";
import { AppError } from "../../../core/domain/index.ts";
import { humanSize } from "../files/content.ts";

export interface BodyLimit {
  maxBytes: number;
  /** What happens at the limit: an error, or what came until then with `cut`. */
  oversize: "refuse" | "cut";
}

/** Reads to the end or the limit; then nothing more is taken from the socket. Throws what the stream throws. */
export async function readBody(answer: IncomingMessage, limit: BodyLimit): Promise<{ body: Buffer; cut: boolean }> {
  const declared = Number(answer.headers["content-length"]);
  if (limit.oversize === "refuse" && declared > limit.maxBytes) {
    answer.destroy();
    throw tooLarge(limit.maxBytes);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked(answer) as AsyncIterable<Buffer>) {
      const room = limit.maxBytes - size;
      if (chunk.length > room) {
        if (limit.oversize === "refuse") throw tooLarge(limit.maxBytes);
        chunks.push(chunk.subarray(0, room));
        return { body: Buffer.concat(chunks), cut: true };
      }
      chunks.push(chunk);
      size += chunk.length;
    }
    return { body: Buffer.concat(chunks), cut: false };
  } finally {
    answer.destroy();
  }
}

export const ACCEPT_ENCODING = "gzip, deflate, br";

function unpacked(answer: IncomingMessage): AsyncIterable<unknown> {
  const encoding = (answer.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return answer;
  const unpacker = unpackerFor(encoding);
  // An answer that breaks off in the middle of a packed block is given as far as it came, as browsers do.
  const finishFlush = { finishFlush: encoding === "br" ? zlib.BROTLI_OPERATION_FLUSH : zlib.Z_SYNC_FLUSH };
  return through(answer, unpacker(finishFlush));
}

function unpackerFor(encoding: string): (options: { finishFlush: number }) => Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip;
    case "br":
      return createBrotliDecompress;
    case "deflate":
      return (options) => new Deflate(options);
    default:
      throw new AppError("TOOL_INPUT", {
        message: `The server packed its answer in a way that is not understood (${encoding.slice(0, 40)}).`,
        retry: "never",
      });
  }
}

function through(source: IncomingMessage, target: Transform): Transform {
  // The error reaches the reader through `target`; without a callback pipeline would throw it a second time.
  pipeline(source, target, () => {});
  return target;
}

/** `deflate` means zlib by the standard and raw deflate by habit; the first byte tells. */
class Deflate extends PassThrough {
  private inner: Transform | undefined;
  private readonly options: { finishFlush: number };

  constructor(options: { finishFlush: number }) {
    super();
    this.options = options;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.inner ??= this.begin(chunk[0]!);
    if (this.inner.write(chunk)) done();
    else this.inner.once("drain", () => done());
  }

  override _flush(done: (error?: Error | null) => void): void {
    if (!this.inner) return done();
    this.inner.once("end", () => done());
    this.inner.end();
  }

  private begin(first: number): Transform {
    const inner = (first & 0x0f) === 8 ? createInflate(this.options) : createInflateRaw(this.options);
    inner.on("data", (part: Buffer) => {
      if (this.push(part)) return;
      inner.pause();
    });
    inner.on("error", (error) => this.destroy(error));
    return inner;
  }

  override _read(size: number): void {
    this.inner?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.inner?.destroy();
    done(error);
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: `The answer is larger than ${humanSize(maxBytes)}.`,
    retry: "never",
  });
}
