/**
 * The body of an answer, unpacked and held within a limit while it comes in. The limit counts what is kept, after
 * unpacking: a few kilobytes that unfold to gigabytes end at the same byte as gigabytes that come plain.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants as zlib } from "node:zlib";
import { AppError } from "../../../core/domain/index.ts";
import { visibleLine } from "../escape.ts";
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
    for await (const chunk of await unpacked(answer)) {
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

async function unpacked(answer: IncomingMessage): Promise<AsyncIterable<Buffer>> {
  const encoding = (answer.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return answer;
  const unpacker = await unpackerFor(encoding, answer);
  // Its error reaches the reader by `unpacker`; without a callback pipeline would throw it a second time.
  return pipeline(answer, unpacker, () => {});
}

async function unpackerFor(encoding: string, answer: IncomingMessage): Promise<Transform> {
  // An answer that breaks off in the middle of a packed block is taken as far as it came, as browsers do.
  const lenient = { finishFlush: zlib.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(lenient);
    case "br":
      return createBrotliDecompress({ finishFlush: zlib.BROTLI_OPERATION_FLUSH });
    case "deflate":
      // zlib by the standard, raw deflate by habit; the first byte tells.
      return ((await firstByte(answer)) & 0x0f) === 8 ? createInflate(lenient) : createInflateRaw(lenient);
    default:
      throw new AppError("TOOL_INPUT", {
        message: `The server compressed its answer in a way Lares can't read (${visibleLine(encoding.slice(0, 40))}).`,
        retry: "never",
      });
  }
}

async function firstByte(stream: Readable): Promise<number> {
  for (;;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk) {
      stream.unshift(chunk);
      return chunk[0]!;
    }
    if (stream.readableEnded) return 0;
    await Promise.race([once(stream, "readable"), once(stream, "end")]);
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: `The answer is larger than ${humanSize(maxBytes)}.`,
    retry: "never",
  });
}
