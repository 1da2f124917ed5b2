/** Listening: all relays are asked for what they have and what comes; each message is taken once, in the order it was written. */
import { randomInt } from "node:crypto";
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { refused } from "../sending.ts";
import type { NostrEvent, Relay } from "./connection.ts";
import { toEvent, WRAP } from "./events.ts";
import type { Keys } from "./keys.ts";
import { NostrPosition } from "./position.ts";
import { announceRelays, connect } from "./relays.ts";
import { type NostrState, nowInSeconds } from "./state.ts";

/** Several relays give the same wraps; those of a few days are recognised. */
const MOST_WRAPS = 5000;

export async function listen(state: NostrState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const keys = await state.loadKeys();
  const life = new AbortController();
  try {
    const alive = () => void (state.live && door.alive());
    const relays = await connect(state, keys, alive, AbortSignal.any([signal, life.signal]));
    const position = new NostrPosition(await door.cursor(), nowInSeconds(state));
    if (position.isNew) await door.hear([], position.toJson());
    const gone = Promise.race(relays.map((relay) => relay.closed)).then(() => {
      throw refused("A relay closed the connection.", "later");
    });
    // It may come while nobody waits for it.
    gone.catch(() => {});
    const wraps = new Wraps();
    await ask(relays, { kinds: [WRAP], "#p": [keys.me], since: position.since }, wraps, gone);
    await announceRelays(state, relays, keys);
    state.live = { relays, keys };
    door.known(keys.npub(keys.me));
    door.alive();
    for (;;) {
      await take(state, door, { keys, position, wraps: wraps.drain() });
      await Promise.race([wraps.wait(), gone]);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    state.live = undefined;
    life.abort();
  }
}

/** Resolves when every relay has given what it had; what comes later goes on arriving. */
async function ask(
  relays: readonly Relay[],
  filter: { kinds: number[]; "#p": string[]; since: number },
  wraps: Wraps,
  gone: Promise<never>,
): Promise<void> {
  const event = (one: NostrEvent) => wraps.add(one);
  const given = relays.map((relay) => new Promise<void>((end) => relay.subscribe(filter, { event, end })));
  await Promise.race([Promise.all(given), gone]);
  // A relay may look first and start listening later: what came in between is asked for once more. The question differs a little,
  // because relays answer the same question from memory for a while.
  const again = { ...filter, since: filter.since - randomInt(1, 3600) };
  const missed = relays.map(async (relay) => (await relay.query(again)).forEach(event));
  await Promise.race([Promise.all(missed), gone]);
}

async function take(
  { clock }: NostrState,
  door: ChannelHost,
  { keys, position, wraps }: { keys: Keys; position: NostrPosition; wraps: NostrEvent[] },
): Promise<void> {
  const rumors = wraps.flatMap(
    (wrap) => door.read({ kind: "wrap", id: wrap.id, value: wrap }, () => keys.unwrap(wrap)) ?? [],
  );
  // After a start many come at once: in the order they were written, not in the order they were wrapped.
  rumors.sort((a, b) => a.created_at - b.created_at);
  for (const rumor of rumors) {
    if (!position.isUnseen(rumor)) continue;
    const event = door.read({ kind: "rumor", id: rumor.id, value: rumor }, () => toEvent(keys, rumor));
    position.took(rumor, Math.floor(clock.now() / 1000));
    await door.hear(event ? [event] : [], position.toJson());
  }
}

/** Wraps that wait to be taken, each once, whichever relays it comes from. */
class Wraps {
  private readonly known = new Set<string>();
  private waiting: NostrEvent[] = [];
  private wake = () => {};

  add(wrap: NostrEvent): void {
    if (this.known.has(wrap.id)) return;
    if (this.known.size > MOST_WRAPS) this.known.clear();
    this.known.add(wrap.id);
    this.waiting.push(wrap);
    this.wake();
  }

  drain(): NostrEvent[] {
    const all = this.waiting;
    this.waiting = [];
    return all;
  }

  /** Resolves when there is one. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.length) resolve();
      else this.wake = resolve;
    });
  }
}
