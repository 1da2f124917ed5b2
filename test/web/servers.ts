/** Real HTTP servers for the tests of the web tools, on port 0 of this machine. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Site {
  url: string;
  host: string;
  port: number;
  /** `METHOD /path` of every request so far. */
  seen: string[];
  requests: IncomingMessage[];
  server: Server;
}

/** A site that lives as long as the test. */
export async function site(answer: RequestListener, address = "127.0.0.1"): Promise<Site> {
  const made = await standingSite(answer, address);
  onTestFinished(() => end(made));
  return made;
}

/** A site that its caller ends. */
export async function standingSite(answer: RequestListener, address = "127.0.0.1"): Promise<Site> {
  const seen: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://${address}:${port}`, host: `${address}:${port}`, port, seen, requests, server };
}

export async function end({ server }: Site): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
