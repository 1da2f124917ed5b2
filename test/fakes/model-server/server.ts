/**
 * The scripted model server, a FAKE of four providers and the only stand-in for a model in the tests. It speaks four wire protocols over plain
 * node:http, answers at once, and writes an answer in one piece, so that it costs a benchmark next to nothing.
 *
 * Documentation: https://docs.anthropic.com/en/api/messages-streaming
 * Documentation: https://platform.openai.com/docs/api-reference/chat/streaming
 * Documentation: https://platform.openai.com/docs/api-reference/responses-streaming
 * Documentation: https://ai.google.dev/api/generate-content
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import type { PromptCache } from "./cache.ts";
import { directiveScript } from "./directives.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Figures, NormalRequest, Protocol, Reply, Script, SeenRequest, Speaker } from "./types.ts";

export interface ModelServerOptions {
  /** What the model does; the directive script unless told. */
  script?: Script;
  port?: number;
  host?: string;
  /** Keep the requests in `requests` (default). A benchmark turns it off. */
  keep?: boolean;
  /** Reports what a provider's prompt cache would hold; without it only the instructions count as cached. */
  cache?: PromptCache;
  onRequest?: (request: SeenRequest, reply: Reply) => void;
}

export interface ModelServer {
  /** `http://127.0.0.1:<port>`, without a path. */
  url: string;
  port: number;
  requests: SeenRequest[];
  /** Replaces the script from the next request on. */
  use(script: Script): void;
  /** Forgets the requests and the prompt cache. */
  reset(): void;
  /** Closes all connections, also stalled ones. */
  close(): Promise<void>;
}

const SPEAKERS: Record<Protocol, Speaker> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  google,
};

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  let script = options.script ?? directiveScript();
  const requests: SeenRequest[] = [];
  const cached = new Set<string>();
  const keep = options.keep ?? true;

  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      answer(req, res, Buffer.concat(chunks)).catch((error: unknown) => {
        if (!res.headersSent) res.writeHead(500);
        res.end(JSON.stringify({ error: { message: `model server: ${String(error)}` } }));
      });
    });
  });
  // A benchmark holds many connections open between turns; the default of 5 s would cut them.
  server.keepAliveTimeout = 120_000;

  async function answer(req: IncomingMessage, res: ServerResponse, raw: Buffer): Promise<void> {
    const path = req.url ?? "/";
    if (req.method === "GET") {
      sendJson(res, 200, { ok: true, requests: requests.length });
      return;
    }
    const body = JSON.parse(raw.toString("utf8") || "{}") as Record<string, unknown>;
    const called = route(path, body);
    if (!called) {
      sendJson(res, 404, { error: { message: `no such path: ${path.split("?")[0]}` } });
      return;
    }
    const speaker = SPEAKERS[called.protocol];
    const request: NormalRequest = { ...called, ...speaker.read(body, called.model) };
    const seen: SeenRequest = {
      ...request,
      at: Date.now(),
      bytes: raw.length,
      path,
      headers: req.headers,
      body,
      raw: keep ? raw.toString("utf8") : "",
      aborted: false,
    };
    if (keep) requests.push(seen);
    res.on("close", () => {
      if (!res.writableFinished) seen.aborted = true;
    });
    const reply = await script(request, seen);
    options.onRequest?.(seen, reply);
    if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
    write(res, speaker, request, reply, figures(seen, reply, raw.length));
  }

  function figures(seen: SeenRequest, reply: Reply, bytes: number): Figures {
    if (!options.cache) return figuresOf(seen, reply, bytes, cached);
    const { total, read, write } = options.cache.take(seen);
    return {
      ...figuresOf(seen, reply, bytes, cached),
      input: total - read - write,
      cacheRead: read,
      cacheWrite: write,
    };
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  const port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    use(next) {
      script = next;
    },
    reset() {
      requests.length = 0;
      cached.clear();
      options.cache?.clear();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function route(
  path: string,
  body: Record<string, unknown>,
): { protocol: Protocol; model: string; stream: boolean } | undefined {
  const model = typeof body.model === "string" ? body.model : "";
  const stream = body.stream === true;
  if (path.startsWith("/v1/messages")) return { protocol: "anthropic", model, stream };
  if (path.startsWith("/v1/chat/completions")) return { protocol: "openai-chat", model, stream };
  if (path.startsWith("/v1/responses")) return { protocol: "openai-responses", model, stream };
  const called = /^\/v1beta\/models\/([^:]+):(streamGenerateContent|generateContent)/.exec(path);
  if (!called) return undefined;
  return { protocol: "google", model: decodeURIComponent(called[1]!), stream: called[2] === "streamGenerateContent" };
}

/** About four signs a token. What lies before a cache mark is written the first time and read from then on. */
function figuresOf(request: NormalRequest, reply: Reply, bytes: number, cached: Set<string>): Figures {
  const total = Math.ceil(bytes / 4);
  let cacheRead = 0;
  let cacheWrite = 0;
  if (request.cacheMarks > 0) {
    const prefix = `${request.protocol} ${request.model} ${request.system} ${request.tools.join(",")}`;
    const size = Math.min(total, Math.ceil((request.system.length + request.tools.join(",").length) / 4));
    if (cached.has(prefix)) cacheRead = size;
    else if (request.protocol === "anthropic") cacheWrite = size;
    cached.add(prefix);
  }
  const written = (reply.text?.length ?? 0) + (reply.thinking?.text.length ?? 0);
  const calls = reply.toolCalls ? JSON.stringify(reply.toolCalls).length : 0;
  return {
    input: reply.usage?.input ?? total - cacheRead - cacheWrite,
    output: reply.usage?.output ?? Math.max(1, Math.ceil((written + calls) / 4)),
    cacheRead: reply.usage?.cacheRead ?? cacheRead,
    cacheWrite: reply.usage?.cacheWrite ?? cacheWrite,
  };
}

function write(res: ServerResponse, speaker: Speaker, request: NormalRequest, reply: Reply, figures: Figures): void {
  const { fail } = reply;
  if (fail && !fail.midStream) {
    const shaped = speaker.failure(fail);
    const headers = fail.retryAfterS === undefined ? {} : { "retry-after": String(fail.retryAfterS) };
    sendText(res, shaped.status, fail.body ?? JSON.stringify(shaped.body), "application/json", headers);
  } else if (!request.stream) {
    if (reply.cut) res.destroy();
    else if (!reply.stall) sendJson(res, 200, speaker.whole(reply, figures, request));
  } else {
    const events = speaker.events(reply, figures, request);
    if (reply.stall || reply.cut || fail) writeHalf(res, speaker, reply, events);
    else if (reply.gapMs) void writeSlowly(res, events, reply.gapMs);
    else sendText(res, 200, events.join(""), "text/event-stream");
  }
}

async function writeSlowly(res: ServerResponse, events: string[], gapMs: number): Promise<void> {
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (res.destroyed) return;
    res.write(event);
    await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
  res.end();
}

/** Half of the events always holds something that was streamed: the first delta comes early. */
function writeHalf(res: ServerResponse, speaker: Speaker, reply: Reply, events: string[]): void {
  const half = events.slice(0, Math.max(1, Math.ceil(events.length / 2))).join("");
  res.writeHead(200, { "content-type": "text/event-stream" });
  if (reply.fail || reply.cut === "clean") {
    res.end(reply.fail ? half + speaker.failureEvent(reply.fail) : half);
    return;
  }
  res.write(half, () => {
    // The client must have read the half before the socket goes, or it would see a refused connection instead.
    if (reply.cut) setTimeout(() => res.destroy(), 20);
  });
}

function sendJson(res: ServerResponse, status: number, body: unknown): void {
  sendText(res, status, JSON.stringify(body), "application/json");
}

function sendText(res: ServerResponse, status: number, text: string, type: string, more = {}): void {
  const bytes = Buffer.from(text);
  res.writeHead(status, { "content-type": type, "content-length": bytes.length, ...more });
  res.end(bytes);
}
