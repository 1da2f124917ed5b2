/**
 * Nostr, by private messages (NIP-17): a rumor in a seal in a wrap that hides who wrote it and when.
 *
 * In: relays keep events, so nothing is lost. Wraps are dated back by up to two days, so every start asks for three days more than
 * the last message taken; a message is known by its rumor's id, and the ids of those days are stored with the cursor.
 * Out: a message is published to our relays, then a copy of it to ourselves (as NIP-17 asks for) that carries the key. When the copy
 * is found, the message before it was taken. When it isn't, that proves nothing.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { check } from "./check.ts";
import type { NostrAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { find, send } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<NostrAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "nostr",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    check: (signal) => check(state, signal),
    send: (message) => send(state, message),
    find: (message) => find(state, message),
  };
}
