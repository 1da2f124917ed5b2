/**
 * The browser's only way to the network: a proxy on this machine's loopback that judges every host by the rule of the fetcher
 * (web/reach.ts) and connects to the address that was judged. The browser resolves no names itself, so redirects, clicks,
 * scripts, sockets and names that change their mind all end here.
 *
 * BROWSER-5: without the password of this run nothing is answered but 407; only the browser knows the password.
 * BROWSER-6: nothing is connected that `reach` did not return.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AppError } from "../../../core/domain/index.ts";
import { pinned, type Reach, readHost, readPort, requirePinned } from "../web/index.ts";

/** A host that was not reached: refused by the rule (FORBIDDEN), or not there. */
export interface Unreached {
  /** With its port when that is not the usual one. */
  host: string;
  error: AppError;
}

export interface GuardProxy {
  server: string;
  username: string;
  password: string;
  close(): Promise<void>;
}

const CONNECT_MS = 20_000;
const HOP_BY_HOP = new Set(
  "connection proxy-connection proxy-authorization proxy-authenticate keep-alive te trailer transfer-encoding upgrade".split(
    " ",
  ),
);

/** Listens on a free port of 127.0.0.1. `onUnreached` is called with every host that couldn't be reached. */
export async function startProxy(reach: Reach, onUnreached: (unreached: Unreached) => void): Promise<GuardProxy> {
  const username = "lares";
  const password = randomBytes(24).toString("base64url");
  const mayUse = requirePassword(username, password);
  const sockets = new OpenSockets();
  const ways: Ways = { reach, sockets, agent: new Agent({ keepAlive: false }), onUnreached };
  const server = createServer((request, response) => {
    if (!mayUse(request)) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="Lares"', connection: "close" }).end();
      return;
    }
    // No page of ours in the site's name: what is not reached is a connection that fails.
    forward(ways, request, response).catch(() => response.destroy());
  });
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    sockets.keep(client);
    client.on("error", () => client.destroy());
    if (mayUse(request)) tunnel(ways, request, client, head).catch(() => client.end(NOT_REACHED));
    else client.end(WRONG_PASSWORD);
  });
  server.on("connection", (socket) => sockets.keep(socket));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    username,
    password,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.destroy();
      await closed;
    },
  };
}

const WRONG_PASSWORD =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="Lares"\r\nContent-Length: 0\r\n\r\n';
const NOT_REACHED = "HTTP/1.1 502 Not reached\r\nContent-Length: 0\r\n\r\n";

/** What a request needs on its way out. */
interface Ways {
  reach: Reach;
  sockets: OpenSockets;
  agent: Agent;
  onUnreached(unreached: Unreached): void;
}

class OpenSockets {
  readonly #open = new Set<Duplex>();

  keep(socket: Duplex): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

function requirePassword(username: string, password: string): (request: IncomingMessage) => boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
  return (request) => {
    const given = Buffer.from(request.headers["proxy-authorization"] ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}

async function tunnel(ways: Ways, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  const { host, port, shown } = authority(request.url ?? "");
  const far = await watched(ways, shown, async () => {
    const addresses = await ways.reach.addresses(host, port);
    const socket = connect({ host, port, lookup: pinned(addresses), timeout: CONNECT_MS });
    ways.sockets.keep(socket);
    await connected(socket, addresses);
    return socket;
  });
  far.on("error", () => client.destroy());
  far.on("close", () => client.destroy());
  client.on("close", () => far.destroy());
  client.write("HTTP/1.1 200 OK\r\n\r\n");
  far.write(head);
  far.pipe(client).pipe(far);
}

async function forward(ways: Ways, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "");
  if (url.protocol !== "http:") throw new Error("only http is forwarded");
  const answer = await watched(ways, readHost(url), async () => {
    const addresses = await ways.reach.addresses(url.hostname, readPort(url));
    const options = {
      method: request.method,
      headers: withoutHops(request.headers),
      lookup: pinned(addresses),
      agent: ways.agent,
    };
    const far = httpRequest(url, { ...options, timeout: CONNECT_MS });
    response.once("close", () => far.destroy());
    return new Promise<IncomingMessage>((resolve, reject) => {
      far.once("socket", (socket) => {
        ways.sockets.keep(socket);
        connected(socket, addresses).catch(reject);
      });
      far.once("response", resolve);
      // Stays for good: what fails after the answer began is seen by the answer.
      far.on("error", reject);
      request.pipe(far);
    });
  });
  answer.once("error", () => response.destroy());
  response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
  answer.pipe(response);
}

/** Reports a host that `act` could not reach, and throws on. */
async function watched<T>({ onUnreached }: Ways, host: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    const error = cause instanceof AppError ? cause : notReached(host, cause);
    onUnreached({ host, error });
    throw error;
  }
}

function authority(text: string): { host: string; port: number; shown: string } {
  const found = /^(\[[^\]]+\]|[^:[\]]+):(\d{1,5})$/.exec(text);
  if (!found) throw new Error("not a host and port");
  const [, host = "", port = ""] = found;
  // `connect` takes IPv6 without brackets.
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port), shown: port === "443" ? host : `${host}:${port}` };
}

function withoutHops(headers: NodeJS.Dict<string | string[]>): NodeJS.Dict<string | string[]> {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name)));
}

function notReached(host: string, cause: unknown): AppError {
  const why = cause instanceof Error && "code" in cause ? String(cause.code) : "no connection";
  return new AppError("NOT_READY", { message: `${host} could not be reached (${why}).`, retry: "later", cause });
}

/** Resolves when the socket stands and goes where it was judged to go. */
function connected(socket: Socket, addresses: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("timeout", () => socket.destroy(new Error("no connection in time")));
    socket.once("error", reject);
    socket.once("connect", () => {
      requirePinned(socket, addresses);
      socket.setTimeout(0);
      resolve();
    });
  });
}
