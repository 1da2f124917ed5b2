/**
 * The HTTP client under the models: node:http with kept connections. The built-in fetch takes a third of the processor time of a
 * small call (measured: 1.2 ms with it, 0.9 ms without), and it gives up after five silent minutes, which a slow local model may need.
 *
 * Redirects are not followed: a key must not travel to where a base URL did not point.
 *
 * What a server sends is bounded here, before anybody holds it (`bounds.ts`). Compression is not asked for, and an answer that
 * is compressed all the same is refused: nothing small becomes large after it was counted.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Meter, MOST_ERROR_BYTES } from "./bounds.ts";

export interface WrittenRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The same, perhaps as somebody else wrote it. */
export type RawRequest = Omit<WrittenRequest, "body"> & { body: string | Uint8Array };

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  /**
   * Each piece as it comes, until the end. Rejects when the connection breaks, when it is too much, and with what `onPiece`
   * throws; the connection is closed then.
   */
  read(onPiece: (piece: Buffer) => void): Promise<void>;
  /** As much of a failure's body as says what is wrong; the rest is not read, and the connection goes. */
  beginning(): Promise<string>;
}

export interface StreamedAnswer extends HttpAnswer {
  /** As `read`, but a piece is taken from the connection only when it is asked for. Leaving the loop closes the connection. */
  pieces(): AsyncIterable<Buffer>;
}

/** Posts a request. Rejects when there is no answer or the signal aborts; from then on the signal ends the reading. */
export type PostRequest = (request: WrittenRequest, signal: AbortSignal) => Promise<HttpAnswer>;

export type PostRaw = (request: RawRequest, signal: AbortSignal) => Promise<StreamedAnswer>;

/** `findSocket`: for a server that listens on a socket of this machine's file system; asked before each request. */
export function makePost(findSocket?: (signal: AbortSignal) => Promise<string>): PostRaw {
  // Many sessions talk at once; a provider's rate limit is the limit, not ours. Idle connections go after a minute.
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxFreeSockets: 64, timeout: 60_000 }),
    https: new HttpsAgent({ keepAlive: true, maxFreeSockets: 64, timeout: 60_000 }),
  };
  if (!findSocket) return (request, signal) => post(agents, request, signal, true);
  return async (request, signal) => post(agents, { ...request, socketPath: await findSocket(signal) }, signal, false);
}

interface Agents {
  http: HttpAgent;
  https: HttpsAgent;
}

type AimedRequest = RawRequest & { socketPath?: string };

function post(agents: Agents, written: AimedRequest, signal: AbortSignal, mayRepeat: boolean): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(toAbortError(signal));
      return;
    }
    const isTls = written.url.startsWith("https:");
    const body = Buffer.from(written.body);
    const request = (isTls ? httpsRequest : httpRequest)(
      written.url,
      {
        method: "POST",
        ...(written.socketPath === undefined
          ? { agent: isTls ? agents.https : agents.http }
          : { socketPath: written.socketPath, agent: false }),
        headers: { ...written.headers, "accept-encoding": "identity", "content-length": body.length },
      },
      (response) => resolve(toAnswer(response)),
    );
    const onAbort = () => request.destroy(toAbortError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("close", () => signal.removeEventListener("abort", onAbort));
    request.on("error", (error: NodeJS.ErrnoException) => {
      // A kept connection that the far side closed meanwhile: the request never arrived, a new connection will do.
      const isStale = mayRepeat && request.reusedSocket && error.code === "ECONNRESET" && !signal.aborted;
      if (isStale) post(agents, written, signal, false).then(resolve, reject);
      else reject(error);
    });
    request.end(body);
  });
}

function toAnswer(message: IncomingMessage): StreamedAnswer {
  // A reader sees the error; without one it must not end the process.
  message.on("error", () => {});
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    read: (onPiece) => read(message, onPiece),
    pieces: () => pieces(message),
    beginning: () => beginning(message),
  };
}

async function beginning(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let room = MOST_ERROR_BYTES;
  for await (const chunk of message) {
    chunks.push((chunk as Buffer).subarray(0, room));
    room -= (chunk as Buffer).length;
    // Leaving the loop destroys the message, and its connection with it.
    if (room <= 0) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function* pieces(message: IncomingMessage): AsyncGenerator<Buffer, void> {
  refuseCompressed(message);
  const meter = new Meter();
  for await (const piece of message) {
    const excess = meter.excess(piece as Buffer);
    if (excess) throw excess;
    yield piece as Buffer;
  }
  if (!message.complete) throw new Error("the answer ended early");
}

function refuseCompressed(message: IncomingMessage): void {
  const encoding = message.headers["content-encoding"];
  if (!encoding || encoding === "identity") return;
  message.destroy();
  throw new Error(`the answer came compressed (${encoding.slice(0, 40)}), which Lares did not ask for`);
}

function read(message: IncomingMessage, onPiece: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(error);
      message.destroy();
    };
    try {
      refuseCompressed(message);
    } catch (error) {
      reject(error);
      return;
    }
    const meter = new Meter();
    message.on("data", (piece: Buffer) => {
      try {
        const excess = meter.excess(piece);
        if (excess) throw excess;
        onPiece(piece);
      } catch (error) {
        // Nothing that still comes is looked at.
        message.removeAllListeners("data");
        fail(error);
      }
    });
    message.on("end", resolve);
    message.on("error", fail);
    // A socket that goes away in the middle says `aborted` and not always `error`. After `end` this changes nothing.
    message.on("close", () => reject(Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" })));
  });
}

function toAbortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError");
}
