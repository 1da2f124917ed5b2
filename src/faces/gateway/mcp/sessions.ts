/**
 * Sessions of clients that speak the protocol's older era (2025-11-25): there, what a client follows belongs to a session that both
 * sides keep. A session holds nothing a restart may not lose: the client opens a new one when its own is not known.
 *
 * MCPSERVER-4: a session opens only for the credential it was made with; to others it isn't there.
 * MCPSERVER-7: what a session follows is bounded, and its token has the right to read it.
 */
import { randomUUID } from "node:crypto";
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Principal } from "../../../core/protocol/index.ts";
import { MOST_URI } from "./approvals.ts";
import type { McpCatalogue } from "./catalogue.ts";
import { PREFIX } from "./errors.ts";

/** The one unused for the longest makes room. A client has one; one that forgets to close them must not fill the memory. */
const MOST_OF_CREDENTIAL = 32;
const MOST = 256;
/** What one session may follow. Nobody watches more approvals than are shown at once. */
const MOST_FOLLOWED = 256;

interface Session {
  credential: string;
  server: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
  follows: Set<string>;
}

export class LegacySessions {
  /** In the order of their last use. */
  private readonly open = new Map<string, Session>();
  private readonly catalogue: Pick<McpCatalogue, "isFollowable">;

  constructor(catalogue: Pick<McpCatalogue, "isFollowable">) {
    this.catalogue = catalogue;
  }

  /** Answers with a session of this credential, or nothing when it has no such session. */
  async handle(id: string, credential: string, request: Request, body: unknown): Promise<Response | undefined> {
    const session = this.open.get(id);
    if (session?.credential !== credential) return undefined;
    this.open.delete(id);
    this.open.set(id, session);
    return session.transport.handleRequest(request, { parsedBody: body });
  }

  /** Opens one with the client's first request. */
  async start(server: McpServer, principal: Principal, request: Request, body: unknown): Promise<Response> {
    const { credential, scopes } = principal;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${PREFIX}${randomUUID()}`,
      onsessioninitialized: (id) => {
        this.open.set(id, { credential, server, transport, follows });
        this.makeRoom(credential);
      },
      onsessionclosed: (id) => void this.open.delete(id),
    });
    const follows = new Set<string>();
    follow(server, follows, (uri) => scopes.has("read") && this.catalogue.isFollowable(uri));
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }

  /** Tells those who follow one of these. */
  changed(uris: readonly string[]): void {
    for (const { server, follows } of this.open.values())
      for (const uri of uris) if (follows.has(uri)) server.server.sendResourceUpdated({ uri }).catch(() => {});
  }

  /** Closes those of a credential, or all. */
  async close(credential?: string): Promise<void> {
    const going = [...this.open].filter(([, one]) => credential === undefined || one.credential === credential);
    await Promise.all(going.map(([id]) => this.end(id)));
  }

  private makeRoom(credential: string): void {
    const own = [...this.open].filter(([, one]) => one.credential === credential).map(([id]) => id);
    const gone = own.length > MOST_OF_CREDENTIAL ? own[0] : undefined;
    if (gone !== undefined) void this.end(gone);
    else if (this.open.size > MOST) void this.end([...this.open.keys()][0]!);
  }

  private async end(id: string): Promise<void> {
    const session = this.open.get(id);
    this.open.delete(id);
    await session?.server.close().catch(() => {});
  }
}

/** Only what is there and what the token may read: when something changes says something about it, too. */
function follow({ server }: McpServer, follows: Set<string>, mayFollow: (uri: string) => boolean): void {
  if (!server.getCapabilities().resources?.subscribe) return;
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (!mayFollow(uri)) throw new ResourceNotFoundError(uri.slice(0, MOST_URI));
    if (follows.size >= MOST_FOLLOWED && !follows.has(uri))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `A session follows at most ${MOST_FOLLOWED} resources.`);
    follows.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    follows.delete(params.uri);
    return {};
  });
}
