/**
 * The server face: requests of other programs, in both eras of the protocol, become calls of the method registry.
 *
 * MCPSERVER-1: it comes after the gateway's guard and takes tokens only. Cookies are sent by browsers on their own.
 * MCPSERVER-3: a client's token ends here. Handlers see the principal, never the credential, so it can't be passed on.
 * MCPSERVER-5: a revoked token loses its open streams and sessions at once (ACCESS-5).
 *
 * Loaded with the first request: the SDK takes 20 MB and a tenth of a second that nobody pays for who doesn't use it.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpHttpHandler,
  type McpRequestContext,
  McpServer,
} from "@modelcontextprotocol/server";
import type { Principal } from "../../../core/protocol/index.ts";
import type { GatewayParts } from "../ports.ts";
import { APPROVALS, approvalUri } from "./approvals.ts";
import type { McpCatalogue } from "./catalogue.ts";
import { noSession, rpcError } from "./errors.ts";
import { LegacySessions } from "./sessions.ts";

/** Streams of one client that follow changes. */
const MOST_STREAMS = 32;

interface Served {
  principal: Principal;
  /** Of the newer era: a server for each request, streams for what the client follows. */
  modern: McpHttpHandler;
  /** Of the older era, for clients that keep no session. */
  legacy: (request: Request, body: unknown) => Promise<Response>;
  build: () => McpServer;
}

/** What the face itself needs; the rest is the catalogue's. */
export type FaceParts = Pick<GatewayParts, "version"> & {
  door: Pick<GatewayParts["door"], "onRevoked">;
  events: Pick<GatewayParts["events"], "on">;
  log: Pick<GatewayParts["log"], "debug">;
};

export class McpFace<P extends FaceParts = GatewayParts> {
  private readonly parts: P;
  private readonly catalogue: McpCatalogue<P>;
  /** By credential. There are as many as tokens at most. */
  private readonly clients = new Map<string, Served>();
  private readonly sessions: LegacySessions;
  private readonly off: (() => void)[];

  constructor(parts: P, catalogue: McpCatalogue<P>) {
    this.parts = parts;
    this.catalogue = catalogue;
    this.sessions = new LegacySessions(catalogue);
    this.off = [
      parts.door.onRevoked((credential) => void this.drop(credential)),
      parts.events.on(({ event }) => {
        if (event.event === "approval.asked" || event.event === "approval.answered")
          this.changed([APPROVALS, approvalUri(event.approval)]);
      }),
    ];
  }

  /** `request` without the credential that proved `principal` (MCPSERVER-3). */
  async handle(request: Request, principal: Principal, body: unknown): Promise<Response> {
    // No revision served here has batches; one could bring a thousand calls.
    if (Array.isArray(body)) return rpcError(400, -32_600, "Send one message at a time: batches aren't supported.");
    const client = this.client(principal);
    const id = request.headers.get("mcp-session-id");
    const isLegacy = id !== null || (await isLegacyRequest(request, body));
    if (!isLegacy) return client.modern.fetch(request, { parsedBody: body });
    if (id !== null)
      return (await this.sessions.handle(id, principal.credential, request, body)) ?? noSession(readId(body));
    if (isInitialize(body)) return this.sessions.start(client.build(), principal, request, body);
    return client.legacy(request, body);
  }

  /** These resources changed: clients that follow them and may read them learn it. */
  changed(uris: readonly string[]): void {
    this.sessions.changed(uris);
    for (const { modern, principal } of this.clients.values())
      if (principal.scopes.has("read")) for (const uri of uris) modern.notify.resourceUpdated(uri);
  }

  async close(): Promise<void> {
    for (const off of this.off) off();
    await Promise.all([this.sessions.close(), ...[...this.clients.keys()].map((one) => this.drop(one))]);
  }

  private async drop(credential: string): Promise<void> {
    const client = this.clients.get(credential);
    this.clients.delete(credential);
    await Promise.all([client?.modern.close(), this.sessions.close(credential)]);
  }

  private client(principal: Principal): Served {
    const known = this.clients.get(principal.credential);
    if (known) return known;
    const { log } = this.parts;
    const build = (context?: McpRequestContext) => this.build(principal, context?.era ?? "legacy");
    const onerror = (error: Error) => log.debug("an MCP client's request failed", { error: error.message });
    const stateless = legacyStatelessFallback(build, onerror);
    const client: Served = {
      principal,
      modern: createMcpHandler(build, { legacy: "reject", onerror, maxSubscriptions: MOST_STREAMS }),
      legacy: (request, body) => stateless(request, { parsedBody: body }),
      build,
    };
    this.clients.set(principal.credential, client);
    return client;
  }

  private build(principal: Principal, _era: "legacy" | "modern"): McpServer {
    const { parts, catalogue } = this;
    const server = new McpServer({ name: "lares", title: "Lares", version: parts.version }, catalogue.options);
    catalogue.register(server, { principal, parts });
    return server;
  }
}

function isInitialize(body: unknown): boolean {
  return (body as { method?: unknown } | undefined)?.method === "initialize";
}

function readId(body: unknown): string | number | null {
  const { id } = (body ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}
