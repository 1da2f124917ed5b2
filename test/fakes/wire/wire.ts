/**
 * What the fakes of chat platforms share: a real HTTP server on loopback, and faults a test orders beforehand.
 * It knows no platform. A fault is used up by the next requests that match it.
 *
 * Documentation: https://www.rfc-editor.org/rfc/rfc9110 (HTTP)
 * Documentation: https://www.rfc-editor.org/rfc/rfc7578 (multipart/form-data)
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Call {
  method: string;
  /** Without the query, not decoded. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  json: Record<string, unknown>;
  /** Aborts when the caller hangs up. */
  gone: AbortSignal;
  /** For answers that go on, such as server-sent events. A handler that uses it returns `undefined`. */
  res: ServerResponse;
}

export interface Answer {
  status?: number;
  json?: unknown;
  body?: Buffer | string;
  headers?: Record<string, string>;
}

/**
 * `drop-before`: the socket is cut and nothing happened. `drop-after`: it happened, and the socket is cut.
 * `fail-before`/`fail-after`: the same with a 500. `limit`: refused by the platform's rate limit. `hang`: it happened, and
 * no answer ever comes. `hold`: nothing happened, and no answer ever comes.
 */
export type FaultKind = "drop-before" | "drop-after" | "fail-before" | "fail-after" | "limit" | "hang" | "hold";

export class Faults {
  private readonly waiting: { on: RegExp; how: FaultKind; times: number; after?: RegExp | undefined }[] = [];

  /** The next `times` calls whose "METHOD path" matches go wrong in this way. */
  next(on: RegExp, how: FaultKind, times = 1): void {
    this.waiting.push({ on, how, times });
  }

  /** The next such call, behind one of `after`, arrives and nothing comes of it. Tells whether it arrived. */
  hold(on: RegExp, after?: RegExp): () => boolean {
    const mine = { on, how: "hold" as const, times: 1, after };
    this.waiting.push(mine);
    return () => !this.waiting.includes(mine);
  }

  clear(): void {
    this.waiting.length = 0;
  }

  take(what: string): FaultKind | undefined {
    const at = this.waiting.findIndex((fault) => !fault.after && fault.on.test(what));
    for (const fault of this.waiting) if (fault.after?.test(what)) fault.after = undefined;
    if (at < 0) return undefined;
    const fault = this.waiting[at]!;
    if (--fault.times <= 0) this.waiting.splice(at, 1);
    return fault.how;
  }
}

export interface Wire {
  url: string;
  port: number;
  faults: Faults;
  /** "METHOD path" of every call that arrived, in order. */
  calls: string[];
  /** Stops listening and cuts what is open; `up` listens again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export interface WireParts {
  handle(call: Call): Promise<Answer | undefined> | Answer | undefined;
  /** How this platform says "too fast". */
  limited(): Answer;
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export async function startWire(parts: WireParts): Promise<Wire> {
  const faults = new Faults();
  const calls: string[] = [];
  const sockets = new Set<Socket>();
  let port = 0;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      serve(req, res, Buffer.concat(chunks)).catch((error: unknown) => {
        if (!res.headersSent) write(res, { status: 500, json: { error: `the fake broke: ${String(error)}` } });
      });
    });
  });
  if (parts.upgrade) server.on("upgrade", parts.upgrade);
  // The server forgets a connection that became a WebSocket; going down must cut it all the same.
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  async function serve(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
    const url = new URL(req.url ?? "/", "http://fake");
    const method = req.method ?? "GET";
    const what = `${method} ${url.pathname}`;
    calls.push(what);
    const fault = faults.take(what);
    if (fault === "drop-before") return void req.socket.destroy();
    if (fault === "fail-before") return write(res, { status: 500, json: {} });
    if (fault === "hold") return;
    if (fault === "limit") return write(res, parts.limited());
    const gone = new AbortController();
    res.on("close", () => gone.abort());
    const json = readJson(req.headers["content-type"], body);
    const { pathname: path, searchParams: query } = url;
    const answer = await parts.handle({
      method,
      path,
      query,
      headers: req.headers,
      body,
      json,
      gone: gone.signal,
      res,
    });
    if (fault === "drop-after") return void req.socket.destroy();
    if (fault === "fail-after") return write(res, { status: 500, json: {} });
    if (fault === "hang" || !answer) return;
    write(res, answer);
  }

  const up = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.removeListener("error", reject);
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  await up();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    faults,
    calls,
    up,
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** What was asked, in whatever form it came: query, JSON, urlencoded or multipart fields; files apart. */
export function asked(call: Call): { fields: Record<string, unknown>; files: Map<string, Upload> } {
  const type = call.headers["content-type"] ?? "";
  const fields: Record<string, unknown> = { ...Object.fromEntries(call.query), ...call.json };
  const files = new Map<string, Upload>();
  if (type.includes("urlencoded")) Object.assign(fields, Object.fromEntries(new URLSearchParams(String(call.body))));
  for (const [name, part] of type.includes("multipart") ? multipart(type, call.body) : []) {
    if (part.filename === undefined) fields[name] = part.data.toString("utf8");
    else files.set(name, part);
  }
  return { fields, files };
}

export interface Upload {
  filename?: string;
  type?: string;
  data: Buffer;
}

/** The parts of a multipart/form-data body, by field name. */
export function multipart(type: string, body: Buffer): Map<string, Upload> {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1];
  const parts = new Map<string, Upload>();
  if (!boundary) return parts;
  const text = body.toString("latin1");
  for (const piece of text.split(`--${boundary}`).slice(1, -1)) {
    const gap = piece.indexOf("\r\n\r\n");
    const head = piece.slice(0, gap);
    // Quoted or not, as platforms take both.
    const word = (key: string) => new RegExp(`[; ]${key}="?([^";\\r\\n]*)`, "i").exec(head)?.[1];
    const name = word("name") ?? "";
    const filename = word("filename");
    const mime = /content-type:\s*(\S+)/i.exec(head)?.[1];
    const data = Buffer.from(piece.slice(gap + 4, -2), "latin1");
    parts.set(name, { ...(filename ? { filename } : {}), ...(mime ? { type: mime } : {}), data });
  }
  return parts;
}

function readJson(type: string | undefined, body: Buffer): Record<string, unknown> {
  if (!body.length || (type && !type.includes("json"))) return {};
  try {
    return JSON.parse(body.toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function write(res: ServerResponse, answer: Answer): void {
  if (res.destroyed || res.headersSent) return;
  const isJson = answer.body === undefined && answer.status !== 204;
  res.writeHead(answer.status ?? 200, {
    ...(isJson ? { "content-type": "application/json" } : {}),
    ...answer.headers,
  });
  res.end(isJson ? JSON.stringify(answer.json ?? {}) : answer.body);
}
