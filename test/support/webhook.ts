/** The far side of a webhook channel: a real HTTP server that checks signatures, and a sender that signs. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sign } from "../../src/edges/channels/index.ts";

export interface Delivered {
  key: string;
  id: string;
  chat: string;
  thread?: string;
  text: string;
}

export interface FarSide {
  url: string;
  secret: string;
  /** What a person there would see: one entry per message shown. */
  shown: Delivered[];
  /** Every request with a good signature, repeated ones too. */
  arrivals: Delivered[];
  badSignatures: number;
  /** What happens to the next requests: taken, taken but answered 5xx, refused with a status, or the socket is cut. */
  behave(how: Behaviour): void;
  /** Stops listening; `up` listens again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export type Behaviour =
  | { how: "take" }
  /** The message is shown, and then the answer is lost. */
  | { how: "take-then-fail"; status: number; times?: number }
  | { how: "refuse"; status: number; times?: number };

/** `dedupes`: a repeated Idempotency-Key is shown once. */
export async function startFarSide(options: { secret?: string; dedupes?: boolean } = {}): Promise<FarSide> {
  const { secret = "far-side-secret-0123456789", dedupes = true } = options;
  const seen = new Set<string>();
  let behaviour: Behaviour = { how: "take" };
  let port = 0;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => take(String(req.headers["idempotency-key"] ?? ""), Buffer.concat(chunks), req.headers, res));
  });

  function take(
    key: string,
    body: Buffer,
    headers: Record<string, string | string[] | undefined>,
    res: ServerResponse,
  ): void {
    const expected = sign(secret, String(headers["x-lares-timestamp"] ?? ""), body);
    if (headers["x-lares-signature"] !== expected) {
      far.badSignatures++;
      answer(res, 401);
      return;
    }
    const message = { key, ...(JSON.parse(body.toString("utf8")) as Omit<Delivered, "key">) };
    far.arrivals.push(message);
    const now = behaviour;
    if (now.how !== "take" && now.times !== undefined && --now.times <= 0) behaviour = { how: "take" };
    if (now.how === "refuse") {
      answer(res, now.status);
      return;
    }
    if (!dedupes || !seen.has(key)) far.shown.push(message);
    seen.add(key);
    answer(res, now.how === "take" ? 200 : now.status);
  }

  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.removeListener("error", reject);
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });

  await listen();
  const far: FarSide = {
    url: `http://127.0.0.1:${port}/hook`,
    secret,
    shown: [],
    arrivals: [],
    badSignatures: 0,
    behave(how) {
      behaviour = how;
    },
    down: stop,
    up: listen,
    close: stop,
  };
  return far;
}

function answer(res: ServerResponse, status: number): void {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(status === 200 ? { id: "far-1" } : { error: status }));
}

export interface HookMessage {
  id: string;
  chat: string;
  sender?: string;
  text: string;
  thread?: string;
}

/** Posts one signed message, as a platform would. */
export async function sendHook(
  at: { url: string },
  account: string,
  secret: string,
  message: HookMessage,
  now = Date.now(),
): Promise<{ status: number; json: { turn?: string; duplicate?: boolean; error?: { code: string; hint?: string } } }> {
  const body = JSON.stringify({
    id: message.id,
    chat: message.chat,
    sender: { id: message.sender ?? message.chat },
    text: message.text,
    ...(message.thread ? { thread: message.thread } : {}),
  });
  const timestamp = String(Math.floor(now / 1000));
  const response = await fetch(`${at.url}/channels/webhook/${account}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-lares-timestamp": timestamp,
      "x-lares-signature": sign(secret, timestamp, body),
    },
    body,
  });
  return { status: response.status, json: (await response.json()) as { turn?: string; duplicate?: boolean } };
}
