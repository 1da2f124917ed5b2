/** Nostr under the contract every channel passes, against a real relay. */

import { generateSecretKey, getPublicKey, nip19, nip44, nip59 } from "nostr-tools";
import { expect, test } from "vitest";
import { channelContract } from "../contracts/channel.ts";
import { nostrPerson, startRelay } from "../servers/nostr.ts";
import { until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { connected, listeningDoor, openAlone } from "./support.ts";

channelContract({
  name: "nostr",
  async start() {
    const relay = await startRelay();
    const bot = generateSecretKey();
    const npub = nip19.npubEncode(getPublicKey(bot));
    const people = { ann: nostrPerson(relay, generateSecretKey()), eve: nostrPerson(relay, generateSecretKey()) };
    const clientOf = (person: { name: string }) => people[person.name as "ann" | "eve"];
    await people.ann.say(npub, "say:from before the bot came", { at: Math.floor(Date.now() / 1000) - 3600 });
    return {
      account: { secretKey: nip19.nsecEncode(bot), relays: [relay.url], paceMs: 0 },
      owner: { id: people.ann.npub, name: "ann" },
      stranger: { id: people.eve.npub, name: "eve" },
      // No key, but our own copy on the relay carries it.
      has: { redelivers: true, dedupes: true },
      attach: (lares) => connected(lares, "nostr/main"),
      async say(from, text) {
        return (await clientOf(from).say(npub, text)).id;
      },
      refuseSends: { none: "a relay that limits writers refuses for good" },
      garble: { none: "what cannot be opened is for somebody else" },
      react: (from, message) => clientOf(from).say(npub, "+", { kind: 7, tags: [["e", message.id]] }),
      shown: async (where) => (where === "group" ? [] : clientOf(where).inbox()).map(({ id, text }) => ({ id, text })),
      close: () => relay.close(),
    };
  },
});

test("a message is heard once over restarts; who forges a seal is not heard (CH-01)", async () => {
  const relay = await startRelay();
  const bot = generateSecretKey();
  const npub = nip19.npubEncode(getPublicKey(bot));
  const [annKey, eveKey] = [generateSecretKey(), generateSecretKey()];
  const ann = nostrPerson(relay, annKey);
  const { door, heard } = listeningDoor();
  const config = { secretKey: Buffer.from(bot).toString("hex"), relays: [relay.url] };
  try {
    for (const round of [1, 2]) {
      const stop = new AbortController();
      const channel = await openAlone("nostr", config);
      door.isAlive = false;
      const running = channel.run!(door, stop.signal);
      await until("connected", () => door.isAlive);
      expect(await channel.check(stop.signal)).toMatchObject({ id: npub });
      await ann.say(npub, `round ${round}`);
      await until("heard", () => heard.length === round);
      stop.abort();
      await running;
    }
    // Eve seals a rumor that says it is Ann's.
    const rumor = nip59.createRumor({ kind: 14, content: "I am Ann", tags: [["p", getPublicKey(bot)]] }, annKey);
    const shared = nip44.v2.utils.getConversationKey(eveKey, getPublicKey(bot));
    const content = nip44.v2.encrypt(JSON.stringify(rumor), shared);
    const seal = nostrPerson(relay, eveKey).sign({ kind: 13, created_at: rumor.created_at, tags: [], content });
    relay.events.push(pretend(nip59.createWrap(seal, getPublicKey(bot))));
    const stop = new AbortController();
    const channel = await openAlone("nostr", config);
    const running = channel.run!(door, stop.signal);
    await ann.say(npub, "after");
    await until("heard", () => heard.length >= 3);
    expect(heard.map((e) => (e.kind === "message" ? e.text : e.kind))).toEqual(["round 1", "round 2", "after"]);
    expect(new Set(heard.map((e) => e.sender.id))).toEqual(new Set([ann.npub]));
    const id = await until("a send", () =>
      channel
        .send({ route: { channel: "nostr", account: "main", chat: ann.npub }, key: "k", text: "hi" }, stop.signal)
        .then((sent) => sent.platformId)
        .catch(() => undefined),
    );
    expect(ann.inbox()).toMatchObject([{ id, text: "hi" }]);
    await ann.say(npub, "+", { kind: 7, tags: [["e", id]] });
    await until("the reaction", () => heard.length === 4);
    expect(heard[3]).toMatchObject({ kind: "reaction", emoji: "👍", message: id });
    stop.abort();
    await running;
  } finally {
    await relay.close();
  }
});
