/**
 * Sessions of clients that speak the protocol's older era (2025-11-25): there, what a client follows belongs to a session that both
 * sides keep. A session holds nothing a restart may not lose: the client opens a new one when its own is not known.
 *
 * MCPSERVER-4: a session opens only for the credential it was made with; to others it isn't there.
 */
import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { PREFIX } from "./errors.ts";

/** The one unused for the longest makes room. A client has one; one that forgets to close them must not fill the memory. */
const MOST_OF_CREDENTIAL = 32;
const MOST = 256;

interface Session {
  credential: string;
  server: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
  follows: Set<string>;
}

export class LegacySessions {
  /** In the order of their last use. */
  private readonly open = new Map<string, Session>();

  /** Answers with a session of this credential, or nothing when it has no such session. */
  async handle(id: string, credential: string, request: Request, body: unknown): Promise<Response | undefined> {
    const session = this.open.get(id);
    if (session?.credential !== credential) return undefined;
    this.open.delete(id);
    this.open.set(id, session);
    return session.transport.handleRequest(request, { parsedBody: body });
  }

  /** Opens one with the client's first request. */
  async start(server: McpServer, credential: string, request: Request, body: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${PREFIX}${randomUUID()}`,
      onsessioninitialized: (id) => {
        this.open.set(id, { credential, server, transport, follows });
        this.makeRoom(credential);
      },
      onsessionclosed: (id) => void this.open.delete(id),
    });
    const follows = new Set<string>();
    follow(server, follows);
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

function follow({ server }: McpServer, follows: Set<string>): void {
  if (!server.getCapabilities().resources?.subscribe) return;
  server.setRequestHandler("resources/subscribe", ({ params }) => {
    follows.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    follows.delete(params.uri);
    return {};
  });
}
