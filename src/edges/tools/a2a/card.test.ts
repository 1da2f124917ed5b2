/** Answers of a peer, over real connections: whole, bounded and in time, or none. */
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { fetchCard, ownFetch, PeerNonsense } from "./card.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ["never begins", () => {}],
  ["never ends", (response: ServerResponse) => void drip(response)],
])("an answer that %s is let go of in time, with its connection (AA-11)", async (_what, answer) => {
  let closed: () => void;
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const url = await serve((_request, response) => {
    response.once("close", () => closed());
    answer(response);
  });
  await expect(ownFetch(url, "t", 200)(url)).rejects.toMatchObject({ code: "NOT_READY" });
  await isClosed;
});

it("one that is too large is nonsense, for a request and for a card (AA-11)", async () => {
  const endless = await serve((_request, response) => void response.end(Buffer.alloc(3_000_000, "x")));
  await expect(ownFetch(endless, "t")(endless)).rejects.toBeInstanceOf(PeerNonsense);
  const { signal } = new AbortController();
  await expect(fetchCard("far", endless, ownFetch(endless, "t"), signal, "same")).rejects.toThrow(/larger than/);
});

function drip(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(() => response.write(": wait\n\n"), 20);
  response.once("close", () => clearInterval(timer));
}
