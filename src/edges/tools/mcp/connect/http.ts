/**
 * A server that runs elsewhere, over streamable HTTP. Loaded with the SDK.
 *
 * MCP-32: what it sends is bounded as it is for a program (MCP-6): a flood of events, or streams that end as soon as they are opened so
 *     that they are opened again without end, closes the connection.
 */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppError } from "../../../../core/domain/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import { readPort } from "../../web/reach.ts";
import { createStreamFetch, type FetchShape } from "../../web/stream.ts";
import { MessageAllowance, MOST_AT_ONCE } from "./allowance.ts";
import type { PeerTransport } from "./link.ts";
import type { McpLogin } from "./login.ts";

/** Whether the owner listed this host of a private network (`web.privateHosts`). */
export type IsListed = (host: string, address: string, port: number) => boolean;

/**
 * The owner's own address may be private (a server on this machine or the home network); what it redirects or points to may not, because
 * that is the server's choice, unless the owner listed the host.
 */
export function connectOver(
  url: string,
  headers: Readonly<Record<string, string>>,
  { login, isListed }: { login?: McpLogin | undefined; isListed: IsListed },
): PeerTransport {
  const fetch = guardedFetch(url, isListed);
  const allowance = new MessageAllowance();
  let endedFor: string | undefined;
  const end = (why: string) => {
    endedFor ??= why;
    void transport.close();
    return new Error(why);
  };
  const transport: PeerTransport & StreamableHTTPClientTransport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (to, init) => {
      if (init?.method === "GET" && !allowance.take(STREAM_COSTS)) throw end("its streams kept ending at once");
      const response = await fetch(to, init);
      if (response.status === 403) await login?.onForbidden(response);
      const meter = (lines: number) => (allowance.take(lines / LINES_A_MESSAGE) ? undefined : end(FLOODS));
      return isStream(response) ? metered(response, meter) : response;
    },
    requestInit: { headers: { ...headers }, redirect: "manual" },
    ...defined({ authProvider: login }),
  });
  transport.ending = () =>
    endedFor === undefined ? undefined : { why: `${endedFor}, so Lares ended it`, isContained: true };
  return transport;
}

/** An event has an id, a kind, its data and an empty line; a flood has less of that. */
const LINES_A_MESSAGE = 4;
/** In messages: the server decides how soon a stream that ended is opened again. */
const STREAM_COSTS = 20;
const FLOODS = `it sent more than ${MOST_AT_ONCE} messages at once`;

function isStream({ headers, body }: Response): boolean {
  return body !== null && (headers.get("content-type") ?? "").toLowerCase().includes("text/event-stream");
}

function metered({ body, status, headers }: Response, meter: (lines: number) => Error | undefined): Response {
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, to) {
      let lines = 0;
      for (const byte of piece) if (byte === LF || byte === CR) lines++;
      const ended = meter(lines);
      if (ended) to.error(ended);
      else to.enqueue(piece);
    },
  });
  return new Response(body!.pipeThrough(counted), { status, headers });
}

const LF = 0x0a;
const CR = 0x0d;

/** Reaches the owner's own address and the hosts they listed wherever they are; everything else only where it is public, and over https. */
export function guardedFetch(url: string, isListed: IsListed): FetchShape {
  const own = new URL(url);
  const host = plainHost(own);
  const port = readPort(own);
  const fetch = createStreamFetch({
    mayReach: (name, address, at) => (name === host && at === port) || isListed(name, address, at),
  });
  return (given, init) => {
    const to = new URL(given);
    const isKnown = to.origin === own.origin || isListed(plainHost(to), "", readPort(to));
    if (!isKnown && to.protocol !== "https:") {
      throw new AppError("FORBIDDEN", { message: `Not reached: ${to.host} is named without https.` });
    }
    return fetch(to, init);
  };
}

function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}
