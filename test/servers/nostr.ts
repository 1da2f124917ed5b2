/** A real relay (@nostr-relay/core) in this process, its events in memory, served over WebSocket. */

import { createServer } from "node:http";
import { EventRepository } from "@nostr-relay/common";
import { NostrRelay } from "@nostr-relay/core";
import { type Event, finalizeEvent, getPublicKey, matchFilter, nip19, nip59 } from "nostr-tools";
import { WebSocket, WebSocketServer } from "ws";
import { pretend } from "../support/pretend.ts";

class InMemory extends EventRepository {
  private readonly events: Event[];

  constructor(events: Event[]) {
    super();
    this.events = events;
  }

  isSearchSupported(): boolean {
    return false;
  }

  upsert(event: unknown) {
    const isDuplicate = this.events.some((one) => one.id === (event as Event).id);
    if (!isDuplicate) this.events.push(event as Event);
    return { isDuplicate };
  }

  find(filter: object): never {
    return pretend(this.events.filter((event) => matchFilter(pretend(filter), event)));
  }

  async destroy(): Promise<void> {}
}

export async function startRelay() {
  const events: Event[] = [];
  const relay = new NostrRelay(new InMemory(events));
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    relay.handleConnection(pretend(socket));
    socket.on("message", (data) => void relay.handleMessage(pretend(socket), JSON.parse(String(data))).catch(() => {}));
    socket.on("close", () => relay.handleDisconnect(pretend(socket)));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url,
    events,
    async close() {
      for (const one of sockets.clients) one.terminate();
      await relay.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Somebody with a key: writes private messages and reads theirs. */
export function nostrPerson(relay: Awaited<ReturnType<typeof startRelay>>, secret: Uint8Array) {
  const me = getPublicKey(secret);
  const read = new Map<string, { from: string; id: string; text: string; at: number } | undefined>();
  return {
    npub: nip19.npubEncode(me),
    async say(to: string, text: string, more: { at?: number; kind?: number; tags?: string[][] } = {}) {
      const hex = pretend<string>(nip19.decode(to).data);
      const rumor = {
        kind: more.kind ?? 14,
        created_at: more.at ?? Math.floor(Date.now() / 1000),
        tags: [["p", hex], ...(more.tags ?? [])],
        content: text,
      };
      const wrap = nip59.wrapEvent(rumor, secret, hex);
      const client = new WebSocket(relay.url);
      await new Promise<void>((resolve, reject) => {
        client.once("error", reject);
        client.once("open", () => client.send(JSON.stringify(["EVENT", wrap])));
        client.on("message", (data) => {
          const [kind, , ok, why] = JSON.parse(String(data)) as [string, string, boolean, string];
          if (kind === "OK") ok ? resolve() : reject(new Error(why));
        });
      });
      client.close();
      return wrap;
    },
    /** In the order the relay got them. */
    inbox() {
      for (const event of relay.events) {
        if (event.kind !== 1059 || read.has(event.id) || !event.tags.some(([n, v]) => n === "p" && v === me)) continue;
        const rumor = nip59.unwrapEvent(event, secret);
        read.set(
          event.id,
          rumor.pubkey === me
            ? undefined
            : { from: rumor.pubkey, id: rumor.id, text: rumor.content, at: rumor.created_at },
        );
      }
      return [...read.values()].flatMap((one) => one ?? []);
    },
    sign: (event: { kind: number; created_at: number; tags: string[][]; content: string }) =>
      finalizeEvent(event, secret),
  };
}
