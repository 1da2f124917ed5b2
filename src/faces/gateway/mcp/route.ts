/** `/mcp`: other programs and agents reach Lares here over MCP. What is behind it is loaded with the first request (`serve.ts`). */
import type { Context } from "hono";
import { AppError, toErrorShape } from "../../../core/domain/index.ts";
import { type HttpApp, type HttpEnv, publicShape, readJson } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import type { McpCatalogue } from "./catalogue.ts";
import { rpcError } from "./errors.ts";
import type { McpFace } from "./serve.ts";
import { boundUnread } from "./unread.ts";

export const MCP_PATH = "/mcp";

/** All that the protocol needs of a request. The credential is not among them (MCPSERVER-3). */
const PASSED = /^(accept|content-type|last-event-id|idempotency-key|mcp-.*)$/;

/** Adds the route; returns how to end what runs behind it. */
export function mcpRoute(app: HttpApp, parts: GatewayParts, catalogue?: McpCatalogue): { close(): Promise<void> } {
  let face: Promise<McpFace> | undefined;
  const load = async () => {
    const [{ McpFace }, { laresCatalogue }] = await Promise.all([import("./serve.ts"), import("./lares.ts")]);
    return new McpFace(parts, catalogue ?? laresCatalogue);
  };
  app.all(MCP_PATH, async (c) => {
    const principal = c.get("principal");
    if (c.req.header("authorization") === undefined) throw onlyTokens();
    const body = c.req.method === "POST" ? await readJson(c, parts.config().http.maxBodyBytes) : undefined;
    face ??= load();
    const response = await (await face).handle(bare(c), principal, body);
    return boundUnread(response, () => c.env.incoming.socket.destroy());
  });
  return { close: async () => (await face)?.close() };
}

function bare(c: Context<HttpEnv>): Request {
  const { method, url, headers, signal } = c.req.raw;
  return bareRequest({ method, url, headers: [...headers], signal });
}

/** The same request with what the protocol needs of it. */
export function bareRequest(given: {
  method: string;
  url: string;
  headers: readonly [string, string][];
  signal: AbortSignal;
}): Request {
  const { method, url, headers, signal } = given;
  return new Request(url, { method, headers: headers.filter(([name]) => PASSED.test(name)), signal });
}

function onlyTokens(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "MCP clients show a token; a browser's login isn't accepted here.",
    hint: "Create one: lares tokens create NAME --scope read --scope write",
    retry: "after-change",
  });
}

/** Refusals as the protocol has them. Clients find out from the header how to prove who they are. */
export function mcpError(error: unknown, status: number, { redact }: Pick<GatewayParts, "redact">): Response {
  const { code, message, hint } = publicShape(toErrorShape(error), redact);
  const headers: Record<string, string> = status === 401 ? { "www-authenticate": 'Bearer realm="lares"' } : {};
  return rpcError(status, RPC_CODES[code] ?? -32_000, [message, hint].filter(Boolean).join(" "), { headers });
}

const RPC_CODES: Readonly<Record<string, number>> = { BAD_JSON: -32_700, BAD_REQUEST: -32_600, INTERNAL: -32_603 };
