/** What leaves for Nostr: a message to the person, and a copy to ourselves by which it can be found again. */
import { createHash } from "node:crypto";
import type { Outgoing } from "../../../core/contracts/index.ts";
import { MESSAGE, WRAP } from "./events.ts";
import { OVERLAP_S } from "./position.ts";
import { publish } from "./relays.ts";
import { type NostrState, nowInSeconds, requireLive } from "./state.ts";

/** The tag that carries a message's key. */
const TAG = "lares";

export async function send(state: NostrState, message: Outgoing): Promise<{ platformId: string | null }> {
  const { relays, keys } = requireLive(state);
  const to = keys.hex(message.route.chat);
  const tags = [
    ["p", to],
    [TAG, toMark(message.key)],
  ];
  const rumor = { kind: MESSAGE, created_at: nowInSeconds(state), tags, content: message.text };
  await publish(relays, keys.wrap(rumor, to));
  // Without the copy the message can't be found again, but it was sent.
  await publish(relays, keys.wrap(rumor, keys.me)).catch(() => {});
  return { platformId: keys.computeId(rumor) };
}

/** By our own copy. Never null: that there is none proves nothing. */
export async function find(state: NostrState, message: Outgoing): Promise<string | undefined> {
  const { relays, keys } = requireLive(state);
  const mark = toMark(message.key);
  const filter = { kinds: [WRAP], "#p": [keys.me], since: nowInSeconds(state) - OVERLAP_S };
  for (const relay of relays) {
    for (const wrap of await relay.query(filter)) {
      const rumor = keys.unwrap(wrap);
      const isIt = rumor?.tags.some(([name, value]) => name === TAG && value === mark);
      if (rumor?.pubkey === keys.me && isIt) return rumor.id;
    }
  }
  return undefined;
}

function toMark(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}
