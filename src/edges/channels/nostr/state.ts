/** What a Nostr account has while it lives: its settings, and the relays it is connected to. */
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { refused } from "../sending.ts";
import type { NostrAccount } from "./config.ts";
import type { Relay } from "./connection.ts";
import { type Keys, type NostrTools, readKeys } from "./keys.ts";

export interface NostrState {
  config: NostrAccount;
  clock: Clock;
  log: Log;
  /** Throws with what to do when the library isn't installed or the key isn't one. */
  loadKeys(): Promise<Keys>;
  /** While at least one relay is connected and everything it had was asked for. */
  live: { relays: Relay[]; keys: Keys } | undefined;
}

export function makeState({ config, clock, log, library }: AdapterParts<NostrAccount>): NostrState {
  const loadKeys = async () => readKeys(await library<NostrTools>("nostr-tools"), config.secretKey);
  return { config, clock, log, loadKeys, live: undefined };
}

export function requireLive({ live }: NostrState): NonNullable<NostrState["live"]> {
  if (!live) throw refused("No relay is connected.", "later");
  return live;
}

/** In seconds, as Nostr counts. */
export function nowInSeconds({ clock }: NostrState): number {
  return Math.floor(clock.now() / 1000);
}
