/**
 * FAKE of an MCP server elsewhere that wants a login, with its authorization server on the same address, or (`apart`) on another one. Written from the
 * specifications, without any library: it checks what a real one checks (PKCE, redirect URI, resource, one use of each code and
 * each refresh token), and its answers can be bent.
 *
 * Documentation: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 * Documentation: RFC 6749 (OAuth 2), RFC 7636 (PKCE), RFC 8414 (metadata), RFC 8707 (resource), RFC 9207 (iss), RFC 9728 (resource metadata)
 * Acknowledgement: a token is granted when its response is sent; a refresh token that was used is gone.
 */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Bent {
  /** Seconds that an access token lives. */
  lives?: number;
  /** Where the resource's metadata says that one logs in. */
  authorizationServer?: string;
  /** What it says is the page to log in at. */
  authorizationEndpoint?: string;
  /** What the browser brings back as `iss`. */
  iss?: string;
  /** Refuses to renew. */
  forgets?: boolean;
  /** The right that a call needs. */
  callScope?: string;
  /** Paths that aren't there, or answer with this status. */
  answers?: Record<string, number>;
  /** Paths that never answer. */
  hangs?: string[];
  /** Of its metadata: what it says instead; undefined leaves it out. */
  metadata?: Record<string, unknown>;
}

export async function startAuthorization(tools: object[], { apart = false } = {}) {
  const bent: Bent = {};
  const seen: string[] = [];
  const codes = new Map<string, { challenge: string; redirect: string; resource: string; scope: string }>();
  const access = new Map<string, { until: number; scope: string }>();
  const refresh = new Map<string, string>();
  const stops: (() => void)[] = [];
  const listen = async () => {
    const server = createServer((request, response) => {
      void handle(request, response).catch(() => response.writeHead(500).end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    stops.push(() => server.close().closeAllConnections());
    return (server.address() as AddressInfo).port;
  };
  const origin = `http://127.0.0.1:${await listen()}`;
  const issuer = apart ? `http://localhost:${await listen()}` : origin;
  const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  const grant = (scope: string) => {
    const [token, renewal] = [`at-${randomUUID()}`, `rt-${randomUUID()}`];
    access.set(token, { until: Date.now() + (bent.lives ?? 3600) * 1000, scope });
    refresh.set(renewal, scope);
    const given = { access_token: token, token_type: "Bearer", expires_in: bent.lives ?? 3600, refresh_token: renewal };
    return { ...given, ...(scope ? { scope } : {}) };
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url!, origin);
    const body = await readAll(request);
    if (bent.hangs?.some((path) => url.pathname.startsWith(path))) return undefined;
    const [, status] = Object.entries(bent.answers ?? {}).find(([path]) => url.pathname.startsWith(path)) ?? [];
    if (status !== undefined) return response.writeHead(status).end("<h1>at Object.<anonymous> (server.js:1)</h1>");
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return json(response, 200, {
        resource: `${origin}/mcp`,
        authorization_servers: [bent.authorizationServer ?? issuer],
      });
    }
    if (url.pathname.startsWith("/.well-known/oauth-authorization-server")) {
      return json(response, 200, {
        issuer,
        authorization_endpoint: bent.authorizationEndpoint ?? `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
        ...bent.metadata,
      });
    }
    if (url.pathname === "/register") {
      seen.push("registered");
      return json(response, 201, { ...JSON.parse(body), client_id: "client-1" });
    }
    if (url.pathname === "/token") return token(new URLSearchParams(body), response);
    if (url.pathname === "/mcp") return mcp(request, body, response);
    return response.writeHead(404).end();
  }

  function token(form: URLSearchParams, response: ServerResponse): unknown {
    const refuse = (why: string) => {
      seen.push(`refused ${why}`);
      return json(response, 400, { error: "invalid_grant", error_description: why });
    };
    if (form.get("grant_type") === "refresh_token") {
      const old = form.get("refresh_token") ?? "";
      const scope = refresh.get(old);
      refresh.delete(old);
      if (bent.forgets || scope === undefined) return refuse("refresh token");
      seen.push("renewed");
      return json(response, 200, grant(scope));
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    if (!code) return refuse("code");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (proof !== code.challenge) return refuse("verifier");
    if (form.get("redirect_uri") !== code.redirect) return refuse("redirect");
    if (form.get("resource") !== code.resource) return refuse("resource");
    seen.push(code.scope ? `granted ${code.scope}` : "granted");
    return json(response, 200, grant(code.scope));
  }

  function mcp(request: IncomingMessage, body: string, response: ServerResponse): unknown {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const held = access.get(bearer);
    if (!held || held.until < Date.now()) {
      const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return response.writeHead(401, { "www-authenticate": where }).end();
    }
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { arguments?: object } };
    if (id === undefined) return response.writeHead(202).end();
    if (method === "tools/call" && bent.callScope && !held.scope.split(" ").includes(bent.callScope)) {
      const wants = `Bearer error="insufficient_scope", scope="${bent.callScope}"`;
      return response.writeHead(403, { "www-authenticate": wants }).end();
    }
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "far", version: "1" },
      },
      "tools/list": { tools },
      "tools/call": { content: [{ type: "text", text: `far says ${JSON.stringify(params?.arguments)}` }] },
    };
    const result = results[method];
    const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
    return json(response, 200, { jsonrpc: "2.0", id, ...answer });
  }

  return {
    url: `${origin}/mcp`,
    origin,
    issuer,
    bent,
    seen,
    /** Nobody listens any more. */
    stop() {
      for (const stop of stops) stop();
    },
    /** Every access token it gave out is no longer taken. */
    revoke: () => access.clear(),
    /** What a person does in the browser: says yes, and copies the address it ends at. */
    agree(link: string): string {
      const asked = new URL(link).searchParams;
      const code = randomUUID();
      codes.set(code, {
        challenge: asked.get("code_challenge_method") === "S256" ? asked.get("code_challenge")! : "none",
        redirect: asked.get("redirect_uri")!,
        resource: asked.get("resource")!,
        scope: asked.get("scope") ?? "",
      });
      const end = new URL(asked.get("redirect_uri")!);
      end.search = new URLSearchParams({ code, state: asked.get("state")!, iss: bent.iss ?? issuer }).toString();
      return end.href;
    },
  };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
