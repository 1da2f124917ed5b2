/**
 * The fetcher for protocols that stream over HTTP, in the shape of `fetch`: the same rule of what may be reached and the same pinned
 * connection (WEB-1), no redirect followed, bytes bounded. For addresses that the owner configured, and what those point to.
 */
import { type Readable, Transform } from "node:stream";
import { AppError } from "../../../core/domain/index.ts";
import { requestOnce } from "./hop.ts";
import { createReach, type ReachRules } from "./reach.ts";

/** One answer; streams that live longer are opened again by their owner. */
const MOST_BYTES = 64 * 1024 * 1024;
const METHODS = ["GET", "HEAD", "POST", "DELETE"] as const;
/** Answers that have no body. */
const EMPTY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

export type FetchShape = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function createStreamFetch(rules: ReachRules): FetchShape {
  const reach = createReach(rules);
  return async (given, init = {}) => {
    const method = METHODS.find((one) => one === (init.method ?? "GET").toUpperCase());
    const { body } = init;
    if (
      !method ||
      (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof URLSearchParams))
    )
      throw new AppError("INTERNAL", { message: "this request can't be made as a stream" });
    const headers: Record<string, string> = { "user-agent": "Lares" };
    for (const [name, value] of new Headers(init.headers)) headers[name] = value;
    if (body instanceof URLSearchParams) headers["content-type"] ??= "application/x-www-form-urlencoded";
    const hop = {
      url: reach.check(given),
      method,
      headers,
      isPlain: true as const,
      ...(body ? { body: String(body) } : {}),
    };
    const { answer } = await requestOnce(reach, hop, init.signal ?? new AbortController().signal);
    const status = answer.statusCode ?? 502;
    const lines: [string, string][] = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
    );
    if (EMPTY.has(status) || method === "HEAD") {
      answer.resume();
      return new Response(null, { status, headers: lines });
    }
    const bounded = answer.pipe(bound());
    answer.once("error", (error) => bounded.destroy(error));
    bounded.once("close", () => answer.destroy());
    return new Response(toBody(bounded), { status, headers: lines });
  };
}

/**
 * Read piece by piece as it is wanted. Node's own `Readable.toWeb` throws outside of every promise when a body is given up while more of it
 * arrives, and a server that keeps sending would end Lares with that.
 */
function toBody(from: Readable): ReadableStream<Uint8Array> {
  // What fails before somebody reads is found by the next read.
  from.on("error", () => {});
  const pieces = from[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return new ReadableStream<Uint8Array>({
    async pull(to) {
      const { done, value } = await pieces.next();
      if (done) to.close();
      else to.enqueue(new Uint8Array(value));
    },
    cancel() {
      from.destroy();
    },
  });
}

function bound(): Transform {
  let left = MOST_BYTES;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new Error(`the answer is larger than ${MOST_BYTES / 1024 / 1024} MB`));
      else done(null, chunk);
    },
  });
}
