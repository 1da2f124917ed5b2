/**
 * Nostr, by private messages (NIP-17): a rumor in a seal in a wrap that hides who wrote it and when.
 *
 * In: relays keep events, so nothing is lost. Wraps are dated back by up to two days, so every start asks for three days more than
 * the last message taken; a message is known by its rumor's id, and the ids of those days go with the cursor.
 * Out: a message is published to our relays, then a copy of it to ourselves (as NIP-17 wants it) that carries the key: found, it
 * proves that the message before it was taken. Not found proves nothing.
 */
import { createHash, randomInt } from "node:crypto";
import { type Channel, type Door, type PlatformEvent, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import { asList, asNumber, asObject } from "../api.ts";
import { refused } from "../sending.ts";
import type { NostrAccount } from "./config.ts";
import { type NostrEvent, Relay } from "./connection.ts";

type Tools = typeof import("nostr-tools");
type Rumor = Omit<NostrEvent, "sig">;

const WRAP = 1059;
const MESSAGE = 14;
const REACTION = 7;
const INBOX_RELAYS = 10_050;
/** Two days by NIP-59, and clocks that go wrong. */
const OVERLAP_S = 3 * 86_400;
/** Ids of the overlap; more than a person says in three days. */
const MOST_IDS = 400;
const MOST_WRAPS = 5000;
const TAG = "lares";

export function create({ account, config, clock, log, library }: AdapterParts<NostrAccount>): Channel {
  let live: { relays: Relay[]; keys: Keys } | undefined;

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    const keys = await readKeys(await library<Tools>("nostr-tools"), config);
    const life = new AbortController();
    const both = AbortSignal.any([signal, life.signal]);
    try {
      const relays = await connect(keys, both, () => live && door.alive());
      const at = position(await door.cursor(), clock.now());
      if (at.isNew) await door.hear([], at.json());
      const waiting: NostrEvent[] = [];
      const wraps = new Set<string>();
      const asks: (() => Promise<void>)[] = [];
      let wake = () => {};
      const filter = { kinds: [WRAP], "#p": [keys.me], since: at.seen - OVERLAP_S };
      // Asked otherwise: relays answer the same question from memory for a while.
      const again = { ...filter, since: filter.since - randomInt(1, 3600) };
      const asked = relays.map(
        (relay) =>
          new Promise<void>((end) => {
            const event = (one: NostrEvent) => {
              if (wraps.has(one.id)) return;
              if (wraps.size > MOST_WRAPS) wraps.clear();
              wraps.add(one.id);
              waiting.push(one);
              wake();
            };
            relay.subscribe(filter, { event, end });
            asks.push(async () => (await relay.query(again)).forEach(event));
          }),
      );
      const gone = Promise.race(relays.map((relay) => relay.closed)).then(() => {
        throw refused("A relay closed the connection.", "later");
      });
      gone.catch(() => {});
      await Promise.race([Promise.all(asked), gone]);
      // A relay may look first and listen after: what came between the two is asked for once more.
      await Promise.race([Promise.all(asks.map((ask) => ask())), gone]);
      // So that others know where to write.
      const list = {
        kind: INBOX_RELAYS,
        created_at: now(),
        tags: config.relays.map((url) => ["relay", url]),
        content: "",
      };
      await Promise.allSettled(
        relays.map((relay) => relay.publish(keys.tools.finalizeEvent(list, keys.secret) as NostrEvent)),
      );
      live = { relays, keys };
      door.known(keys.npub(keys.me));
      door.alive();
      for (;;) {
        // What waits at the start comes in the order it was written, not in the order it was wrapped.
        const batch = waiting
          .splice(0)
          .flatMap((wrap) => door.read({ kind: "wrap", id: wrap.id, value: wrap }, () => opened(keys, wrap)) ?? []);
        batch.sort((a, b) => a.created_at - b.created_at);
        for (const rumor of batch) {
          if (!at.isNews(rumor)) continue;
          const event = door.read({ kind: "rumor", id: rumor.id, value: rumor }, () => toEvent(keys, rumor));
          at.took(rumor, clock.now());
          await door.hear(event ? [event] : [], at.json());
        }
        if (waiting.length) continue;
        const news = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([news, gone]);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      live = undefined;
      life.abort();
    }
  }

  /** At least one. */
  async function connect(keys: Keys, signal: AbortSignal, alive: () => void): Promise<Relay[]> {
    const login = (relay: string) => (challenge: string) => {
      const tags = [
        ["relay", relay],
        ["challenge", challenge],
      ];
      return keys.tools.finalizeEvent(
        { kind: 22_242, created_at: now(), tags, content: "" },
        keys.secret,
      ) as NostrEvent;
    };
    const all = config.relays.map((url) => new Relay(url, { login: login(url), alive, signal }));
    const opened = await Promise.allSettled(all.map((relay) => relay.opened));
    const up = all.filter((_relay, i) => opened[i]!.status === "fulfilled");
    if (!up.length) throw refused("None of the relays can be reached.", "later");
    if (up.length < all.length) log.warn("some relays cannot be reached", { reached: up.length, of: all.length });
    return up;
  }

  function toEvent(keys: Keys, rumor: Rumor): PlatformEvent | undefined {
    if (rumor.pubkey === keys.me) return undefined;
    const people = rumor.tags.filter(([name]) => name === "p").map(([, who]) => who);
    // A conversation of more than two would be answered to one of them only.
    if (rumor.kind === MESSAGE && people.some((who) => who !== keys.me)) return undefined;
    const sender = keys.npub(rumor.pubkey);
    const base = {
      id: rumor.id,
      at: rumor.created_at * 1000,
      chat: { id: sender, kind: "direct" as const },
      sender: { id: sender },
    };
    if (rumor.kind === MESSAGE) return { ...base, kind: "message", text: rumor.content };
    const message = rumor.tags.findLast(([name]) => name === "e")?.[1];
    if (rumor.kind !== REACTION || !message) return undefined;
    return { ...base, kind: "reaction", message, emoji: rumor.content === "+" ? "👍" : rumor.content };
  }

  function connected() {
    if (!live) throw refused("No relay is connected.", "later");
    return live;
  }

  const now = () => Math.floor(clock.now() / 1000);

  return {
    name: "nostr",
    account,
    run,

    async check(signal) {
      const keys = await readKeys(await library<Tools>("nostr-tools"), config);
      const life = new AbortController();
      try {
        const relays = await connect(keys, AbortSignal.any([signal, life.signal]), () => {});
        return {
          id: keys.npub(keys.me),
          name: keys.npub(keys.me),
          note: `${relays.length} of ${config.relays.length} relays`,
        };
      } finally {
        life.abort();
      }
    },

    async send(message) {
      const { relays, keys } = connected();
      const to = keys.hex(message.route.chat);
      const tags = [
        ["p", to],
        [TAG, mark(message.key)],
      ];
      const rumor = { kind: MESSAGE, created_at: now(), tags, content: message.text };
      const { nip59 } = keys.tools;
      await publish(relays, nip59.wrapEvent(rumor, keys.secret, to) as NostrEvent);
      await publish(relays, nip59.wrapEvent(rumor, keys.secret, keys.me) as NostrEvent).catch(() => {});
      return { platformId: nip59.createRumor(rumor, keys.secret).id };
    },

    async find(message) {
      const { relays, keys } = connected();
      const filter = { kinds: [WRAP], "#p": [keys.me], since: now() - OVERLAP_S };
      for (const relay of relays) {
        for (const wrap of await relay.query(filter)) {
          const rumor = opened(keys, wrap);
          const isIt = rumor?.tags.some(([name, value]) => name === TAG && value === mark(message.key));
          if (rumor?.pubkey === keys.me && isIt) return rumor.id;
        }
      }
      return undefined;
    },
  };
}

/** One relay that has it is enough; who has none of them does not get it. */
async function publish(relays: readonly Relay[], event: NostrEvent): Promise<void> {
  const fates = await Promise.allSettled(relays.map((relay) => relay.publish(event)));
  if (fates.some((one) => one.status === "fulfilled")) return;
  const why = fates.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  throw (
    why.find((one) => one instanceof SendUncertain) ?? why.find((one) => (one as AppError).retry === "later") ?? why[0]
  );
}

/** Undefined when it is not for us, or not from whom it says (nostr-tools checks the seal). */
function opened(keys: Keys, wrap: NostrEvent): Rumor | undefined {
  try {
    const rumor = keys.tools.nip59.unwrapEvent(wrap, keys.secret) as Rumor;
    // The id is what it is known by: reckoned, not believed.
    return { ...rumor, id: keys.tools.getEventHash(rumor) };
  } catch {
    return undefined;
  }
}

interface Keys {
  tools: Tools;
  secret: Uint8Array;
  me: string;
  npub(hex: string): string;
  hex(npub: string): string;
}

async function readKeys(tools: Tools, config: NostrAccount): Promise<Keys> {
  const { nip19 } = tools;
  try {
    const secret = config.secretKey.startsWith("nsec1")
      ? (nip19.decode(config.secretKey).data as unknown as Uint8Array)
      : Uint8Array.from(Buffer.from(config.secretKey, "hex"));
    return {
      tools,
      secret,
      me: tools.getPublicKey(secret),
      npub: (hex) => nip19.npubEncode(hex),
      hex: (npub) => nip19.decode(npub).data as unknown as string,
    };
  } catch (cause) {
    throw new AppError("CONFIG_INVALID", {
      message: "The secret key of the Nostr account is not one.",
      hint: "Give it again: lares channels add nostr",
      retry: "after-change",
      cause,
    });
  }
}

function position(cursor: unknown, nowMs: number) {
  const kept = asObject(cursor);
  const isNew = asNumber(kept.seen) === undefined;
  const begun = asNumber(kept.begun) ?? Math.floor(nowMs / 1000);
  let seen = asNumber(kept.seen) ?? begun;
  const ids = asList(kept.ids).map(String);
  const known = new Set(ids);
  return {
    isNew,
    get seen() {
      return seen;
    },
    /** What was written before this account was added is not ours to answer. */
    isNews: (rumor: Rumor) => rumor.created_at >= begun && !known.has(rumor.id.slice(0, 16)),
    took(rumor: Rumor, now: number) {
      // A date in the future would make us miss what comes until then.
      seen = Math.max(seen, Math.min(rumor.created_at, Math.floor(now / 1000)));
      known.add(rumor.id.slice(0, 16));
      ids.push(rumor.id.slice(0, 16));
      if (ids.length > MOST_IDS) known.delete(ids.shift()!);
    },
    json: () => ({ begun, seen, ids: [...ids] }),
  };
}

function mark(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}
