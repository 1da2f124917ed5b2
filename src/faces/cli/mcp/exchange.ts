/** One HTTP exchange with the gateway's `/mcp`: a message goes in, its answer and what comes before it come out one by one. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createParser } from "eventsource-parser";
import { defined, parseJson } from "../../../core/kit/index.ts";
import { shownHeaders } from "../../../core/protocol/client.ts";
import type { GatewayAccess } from "../connection.ts";

/** A JSON-RPC message, as far as the bridge looks at it. */
export interface RpcMessage {
  jsonrpc: "2.0";
  id?: string | number | null;
  method?: string;
  params?: { uri?: unknown; name?: unknown; requestId?: unknown; _meta?: Record<string, unknown> };
  result?: { protocolVersion?: unknown };
  error?: { code: number; message: string };
}

export interface Exchange {
  gateway: GatewayAccess;
  /** Absent: the stream of what the server says by itself. */
  message?: RpcMessage;
  headers: Readonly<Record<string, string>>;
  /** The answer begins: before the first message, with the session that was opened. */
  onHead?(status: number, session: string | undefined): void;
  onMessage(message: RpcMessage): void;
  signal: AbortSignal;
}

/** The gateway's words for a session of the older era that it doesn't know. */
const NO_SESSION = -32_001;

/** It said that it can't answer now, or not in this session. The message was not read. */
export class TurnedAway extends Error {
  readonly why: "later" | "session";
  constructor(why: "later" | "session", message: string) {
    super(message);
    this.why = why;
  }
}

/** Resolves with the status once the answer is over. Rejects when the connection breaks, or with `TurnedAway`. */
export async function exchange(given: Exchange): Promise<number> {
  const { gateway, message, signal } = given;
  const url = new URL(`${gateway.url}/mcp`);
  const request = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  const body = message ? JSON.stringify(message) : undefined;
  const headers = {
    ...given.headers,
    ...shownHeaders(gateway),
    accept: [...(body === undefined ? [] : ["application/json"]), "text/event-stream"].join(),
    ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // No agent: a kept connection breaks when the gateway restarts.
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, headers, agent: false, signal }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
  const session = response.headers["mcp-session-id"];
  const status = response.statusCode ?? 0;
  given.onHead?.(status, typeof session === "string" ? session : undefined);
  await readMessages(response, (got) => {
    if (status === 503) throw new TurnedAway("later", got.error?.message ?? "");
    if (status === 404 && got.error?.code === NO_SESSION) throw new TurnedAway("session", got.error.message);
    given.onMessage(got);
  });
  return status;
}

async function readMessages(response: IncomingMessage, onMessage: Exchange["onMessage"]): Promise<void> {
  response.setEncoding("utf8");
  if (response.headers["content-type"]?.startsWith("text/event-stream")) {
    const parser = createParser({ onEvent: ({ data }) => data && onMessage(parseJson(data) as RpcMessage) });
    for await (const chunk of response) parser.feed(String(chunk));
    return;
  }
  let text = "";
  for await (const chunk of response) text += String(chunk);
  const value = text ? asMessage(text) : undefined;
  if (value) onMessage(value);
}

/** Anything else is the page of a proxy, or of another program on that port. */
function asMessage(text: string): RpcMessage | undefined {
  try {
    const value = parseJson(text) as RpcMessage;
    return value?.jsonrpc === "2.0" ? value : undefined;
  } catch {
    return undefined;
  }
}

const VERSION = "io.modelcontextprotocol/protocolVersion";

/** Of a message of the newer era: its version. */
export function versionIn({ params }: RpcMessage): string | undefined {
  const version = params?._meta?.[VERSION];
  return typeof version === "string" ? version : undefined;
}

/** The newer era repeats in headers what a message is about, so that proxies can see it. */
export function mirrored(message: RpcMessage): Record<string, string> {
  const version = versionIn(message);
  if (version === undefined || message.method === undefined) return {};
  const about = message.params?.name ?? message.params?.uri;
  const name = typeof about === "string" ? headerValue(about) : undefined;
  return { "mcp-protocol-version": version, "mcp-method": message.method, ...defined({ "mcp-name": name }) };
}

function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
