/**
 * The way out for a plugin that was granted hosts. Its sandbox has no network; inside it a small bridge listens as an HTTP proxy and
 * passes every connection through a socket in a shared folder to us, where the host is judged.
 *
 * MCP-21: a plugin reaches only hosts it was granted. A granted name that leads to a private address isn't reached, because the
 *     owner of the name decides where it leads. A private address is reached when it was granted itself, with its port, or when the owner
 *     listed the host under `web.privateHosts`.
 */
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { AppError } from "../../../../core/domain/index.ts";
import { createReach, type Reach, type ReachRules } from "../../web/reach.ts";

/** What the kernel takes as the path of a socket. */
const LONGEST_PATH = 107;
const MOST_CONNECTIONS = 64;

export interface HostProxy {
  /** The folder that the sandbox shows to the bridge. */
  folder: string;
  /** The command with the bridge in front of it. */
  wrap(argv: readonly [string, ...string[]]): [string, ...string[]];
  close(): void;
}

export async function openHostProxy(
  folder: string,
  hosts: readonly string[],
  isListed: NonNullable<ReachRules["mayReach"]>,
): Promise<HostProxy> {
  const socket = join(folder, "out");
  if (Buffer.byteLength(socket) > LONGEST_PATH) {
    throw new AppError("CONFIG_INVALID", {
      message: `A plugin can't reach hosts from here: the path ${folder} is too long for a socket.`,
      hint: "Move the home to a shorter path.",
    });
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNamedItself = (host: string, address: string, port: number) =>
    host === address && hosts.includes(`${address}:${port}`);
  const reach = createReach({ mayReach: (...asked) => isNamedItself(...asked) || isListed(...asked) });
  const server = createServer((asked, answer) => void forward({ reach, hosts }, asked, answer));
  server.on("connect", (asked: IncomingMessage, client: Duplex) => void tunnel({ reach, hosts }, asked, client));
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  server.unref();
  return {
    folder,
    wrap: (argv) => [process.execPath, "-e", BRIDGE, socket, ...argv],
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(dirname(socket), { recursive: true, force: true });
    },
  };
}

interface HostRules {
  reach: Reach;
  hosts: readonly string[];
}

/** `api.example.com` means its usual ports; `*.example.com` means every name below it. */
function isGranted(hosts: readonly string[], host: string, port: number): boolean {
  return hosts.some((granted) => {
    const [name = "", at] = granted.split(":");
    const isPort = at === undefined ? port === 443 || port === 80 : Number(at) === port;
    const isName = name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
    return isPort && isName;
  });
}

async function find({ reach, hosts }: HostRules, url: URL): Promise<{ host: string; port: number }> {
  const name = url.hostname.toLowerCase();
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (!isGranted(hosts, name, port)) throw new Error(`${name}:${port} wasn't granted to this plugin`);
  const [address] = await reach.addresses(name, port);
  return { host: address!, port };
}

async function tunnel(judge: HostRules, asked: IncomingMessage, client: Duplex): Promise<void> {
  client.on("error", () => client.destroy());
  try {
    const { host, port } = await find(judge, new URL(`https://${asked.url}`));
    const far = connect(port, host, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(client).pipe(far);
    });
    far.on("error", () => client.destroy());
    client.on("close", () => far.destroy());
    far.on("close", () => client.destroy());
  } catch (error) {
    client.end(`HTTP/1.1 403 Forbidden\r\n\r\n${(error as Error).message}`);
  }
}

async function forward(judge: HostRules, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  try {
    const url = new URL(asked.url ?? "");
    if (url.protocol !== "http:") throw new Error("only http and https addresses can be reached");
    const { host, port } = await find(judge, url);
    const { "proxy-connection": _hop, ...headers } = asked.headers;
    const far = request(
      {
        host,
        port,
        method: asked.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host },
      },
      (got) => pass(got, answer),
    );
    far.on("error", () => answer.destroy());
    answer.on("close", () => far.destroy());
    asked.pipe(far);
  } catch (error) {
    answer.writeHead(403, { "content-type": "text/plain" });
    answer.end((error as Error).message);
  }
}

/** Node takes any three digits for a status, and writes only those from 100 on: what throws here would end Lares. */
function pass(got: IncomingMessage, answer: ServerResponse): void {
  got.once("error", () => answer.destroy());
  try {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  } catch {
    got.destroy();
    answer.destroy();
  }
}

/** Runs inside the sandbox, in front of the plugin's own program. As source, so that it needs no file there. */
const BRIDGE = String.raw`
const { createServer, connect } = require("node:net");
const [socket, program, ...args] = process.argv.slice(1);
const server = createServer((near) => {
  const far = connect(socket);
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.pipe(far).pipe(near);
});
server.listen(0, "127.0.0.1", () => {
  const proxy = "http://127.0.0.1:" + server.address().port;
  const env = { ...process.env, NODE_USE_ENV_PROXY: "1" };
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) env[name] = proxy;
  const child = require("node:child_process").spawn(program, args, { stdio: "inherit", env });
  child.once("error", (error) => { console.error(error.message); process.exit(127); });
  child.once("exit", (code) => process.exit(code ?? 1));
});`;
