/**
 * One request to one origin, without redirects. The socket goes to an address that was judged a moment before; the name
 * stays in `Host`, in SNI and in the check of the certificate.
 */
import { Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { AppError } from "../../../core/domain/index.ts";
import { parseHost, socketWords } from "../../../core/kit/index.ts";
import { ACCEPT_ENCODING } from "./body.ts";
import { failed, NeverSent } from "./failure.ts";
import { type Reach, readHost, readPort, refused } from "./reach.ts";

export interface HopRequest {
  url: URL;
  method: "GET" | "HEAD" | "POST" | "DELETE";
  /** The answer comes unpacked: it is read as it streams in. */
  isPlain?: true;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

/** Resolves with the head of the answer; the body is the caller's to read or destroy. Throws NeverSent when there was no connection. */
export async function requestOnce(
  reach: Reach,
  hop: HopRequest,
  signal: AbortSignal,
): Promise<{ answer: IncomingMessage; address: string }> {
  const { url } = hop;
  const addresses = await unlessAborted(reach.addresses(url.hostname, readPort(url)), signal).catch(
    (error: unknown) => {
      throw error instanceof AppError ? new NeverSent(error) : error;
    },
  );
  const secure = url.protocol === "https:";
  const options: RequestOptions = {
    method: hop.method,
    headers: {
      ...hop.headers,
      host: url.host,
      "accept-encoding": hop.isPlain ? "identity" : ACCEPT_ENCODING,
      connection: "close",
      ...(hop.body === undefined ? {} : { "content-length": String(Buffer.byteLength(hop.body)) }),
    },
    lookup: pinned(addresses),
    // Agents of our own: the environment may tell the global ones to use a proxy or to take any certificate.
    agent: secure ? new SecureAgent({ keepAlive: false, rejectUnauthorized: true }) : new Agent({ keepAlive: false }),
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = secure ? secureRequest(url, options) : plainRequest(url, options);
    let isConnected = false;
    request.once("socket", (socket) => {
      socket.once("connect", () => requirePinned(socket, addresses));
      socket.once(secure ? "secureConnect" : "connect", () => {
        isConnected = true;
      });
    });
    request.once("response", (answer) => resolve({ answer, address: answer.socket.remoteAddress ?? addresses[0]! }));
    request.on("error", (error) => {
      const failure = translated(error, url, signal);
      reject(failure instanceof AppError && !isConnected ? new NeverSent(failure) : failure);
    });
    request.end(hop.body);
  });
}

/** Answers every question for an address with those that were judged. */
export function pinned(addresses: readonly string[]): LookupFunction {
  const list = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_name, options, done) => {
    if (options.all) done(null, list);
    else done(null, list[0]!.address, list[0]!.family);
  };
}

/** What is connected must be what was judged, whatever the platform did in between. */
export function requirePinned(socket: Socket, addresses: readonly string[]): void {
  const remote = parseHost(socket.remoteAddress ?? "")?.host;
  if (remote === undefined || !addresses.includes(remote)) socket.destroy(refused("the connection went elsewhere"));
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function translated(error: Error & { code?: string }, url: URL, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AppError) return error;
  const code = error.code ?? error.message;
  const why = socketWords({ code, message: error.message });
  return failed(`${readHost(url)} could not be reached (${code})${why ? `: ${why}` : ""}`, error);
}
