/** What the rigs of channels share. */
import type { Channel, ChannelHost, PlatformEvent } from "../../src/core/contracts/index.ts";
import type { Json } from "../../src/core/domain/index.ts";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { type Lares, until } from "../support/index.ts";
import { build } from "./door.ts";

/** Waits until the account is connected. */
export async function connected(lares: Lares, name: string): Promise<void> {
  const look = async () =>
    (await lares.rpc("channels.list", {}).catch(() => ({ channels: [] }))).channels.find((c) => c.name === name);
  await until(`${name} to be connected`, async () => (await look())?.connected === true, {
    withinMs: 60_000,
    instead: look,
  });
}

/** A channel by itself, without a process around it: its real library against its real server. */
export const openAlone = (name: string, config: Record<string, unknown>): Promise<Channel> =>
  build(ADAPTERS[name]!, { dm: "allowlist", ...config }, (wanted) => import(wanted));

/** A door that remembers what it heard. `judge` may look at files as the real one does, after it let somebody in. */
export function listeningDoor(judge: (event: PlatformEvent) => Promise<void> | void = () => {}) {
  const heard: PlatformEvent[] = [];
  const kept = new Map<string, Json | undefined>();
  const door: ChannelHost & { isAlive: boolean } = {
    isAlive: false,
    async hear(events, cursor) {
      for (const event of events) {
        await judge(event);
        heard.push(event);
      }
      if (cursor !== undefined) kept.set(".", cursor);
      return events.map(() => ({ outcome: "admitted" as const, turn: "t" }));
    },
    cursor: async () => kept.get("."),
    keep: async (name, value) => void kept.set(name, value),
    kept: async (name) => kept.get(name),
    alive: () => {
      door.isAlive = true;
    },
    known: () => {},
    undelivered: async () => {},
    unreadable: () => {},
    read: (_, read) => read(),
  };
  return { door, heard, kept };
}
