/** XMPP under the contract every channel passes, against a real Prosody. */
import { describe, expect, test } from "vitest";
import { channelContract } from "../contracts/channel.ts";
import { startXmpp, XMPP_PASSWORD, xmppPerson } from "../servers/xmpp.ts";
import { needs, until } from "../support/index.ts";
import { connected, listeningDoor, openAlone } from "./support.ts";

const BOT = "lares@people.test";
const GROUP = "towns@rooms.people.test";

describe.skipIf(!needs("prosody", "the XMPP channel"))("xmpp", () => {
  channelContract({
    name: "xmpp",
    async start() {
      const server = await startXmpp(["lares", "ann", "eve"]);
      const people = {
        ann: await xmppPerson(server.port, "ann", GROUP),
        eve: await xmppPerson(server.port, "eve", GROUP),
      };
      const clientOf = (person: { name: string }) => people[person.name as "ann" | "eve"];
      await people.ann.say(BOT, "say:from before the bot came");
      const service = `xmpp://127.0.0.1:${server.port}`;
      return {
        account: { address: BOT, password: XMPP_PASSWORD, service, join: [GROUP], paceMs: 0 },
        owner: { id: "ann@people.test", name: "ann" },
        stranger: { id: "eve@people.test", name: "eve" },
        group: GROUP,
        // No key, but the archive is asked for the id that is made from it.
        has: { redelivers: true, dedupes: true },
        attach: (lares) => connected(lares, "xmpp/main"),
        async say(from, text, where = {}) {
          if (!where.group) return clientOf(from).say(BOT, text);
          return clientOf(from).say(GROUP, where.addressed ? `lares: ${text}` : text, { type: "groupchat" });
        },
        refuseSends: { none: "Prosody has no limit that answers" },
        garble: { none: "a stanza without a body is normal; what is not XML ends the connection" },
        edit: (from, message, text) => clientOf(from).say(BOT, text, { replaces: message }),
        delete: (from, message) => clientOf(from).say(BOT, "This person deleted a message.", { retracts: message }),
        react: (from, message) => clientOf(from).say(BOT, "", { reacts: message.id }),
        async reactions(message) {
          const all = people.ann.signs.filter((one) => one.message === message).map((one) => one.all);
          return { ever: all.flat(), now: all.at(-1) ?? [] };
        },
        typed: async () => people.ann.states.length,
        async shown(where) {
          const heard = where === "group" ? people.ann.heard : clientOf(where).heard;
          const from = where === "group" ? `${GROUP}/lares` : BOT;
          return heard
            .filter((m) => m.from === from || m.from.startsWith(`${from}/`))
            .map(({ id, text }) => ({ id, text }));
        },
        async close() {
          await Promise.all([people.ann.close(), people.eve.close()]);
          await server.stop();
        },
      };
    },
  });

  test("corrections, reactions and names in rooms; a wrong password and a forged archive are refused", async () => {
    const server = await startXmpp(["lares", "ann", "eve"]);
    const stop = new AbortController();
    try {
      const { door, heard } = listeningDoor();
      const account = {
        address: BOT,
        password: XMPP_PASSWORD,
        service: `xmpp://127.0.0.1:${server.port}`,
        join: [GROUP],
      };
      const channel = await openAlone("xmpp", account);
      const running = channel.run!(door, stop.signal).catch((error: unknown) => error);
      await until("connected", () => door.isAlive);
      const ann = await xmppPerson(server.port, "ann", GROUP);
      const first = await ann.say(BOT, "helo");
      await ann.say(BOT, "hello", { replaces: first });
      await until("both", () => heard.length === 2);
      expect(heard).toMatchObject([
        { kind: "message", text: "helo", sender: { id: "ann@people.test" } },
        { kind: "edit", text: "hello", message: heard[0]!.id },
      ]);
      const route = { channel: "xmpp", account: "main", chat: "ann@people.test" };
      const message = { route, key: "k1", text: "a question" };
      expect(await until("the archive", () => channel.find!(message, stop.signal).then((id) => id ?? "none"))).toBe(
        "none",
      );
      const { platformId } = await channel.send(message, stop.signal);
      expect(await channel.find!(message, stop.signal)).toBe(platformId);
      await channel.typing!(route, stop.signal);
      await channel.edit!({ route, platformId: platformId! }, { ...message, text: "a better one" }, stop.signal);
      await until("the correction", () => ann.heard[0]?.text === "a better one" && ann.states.length > 0);
      await ann.say(BOT, "", { reacts: platformId! });
      await until("the reaction", () => heard.length === 3);
      expect(heard[2]).toMatchObject({ kind: "reaction", emoji: "👍", message: platformId });

      // A name in a room is anybody's choice: eve calls herself ann there and stays eve (CH-01).
      const eve = await xmppPerson(server.port, "eve", GROUP);
      await eve.forge(BOT, "ann@people.test/phone", "I am Ann");
      await eve.say(GROUP, "lares: it is me", { type: "groupchat" });
      await until("heard in the room", () => heard.length === 4);
      expect(heard[3]).toMatchObject({
        sender: { id: "eve@people.test" },
        chat: { id: GROUP, kind: "group" },
        text: "it is me",
      });

      const wrong = await openAlone("xmpp", { ...account, password: "wrong" });
      await expect(wrong.check(stop.signal)).rejects.toThrow("refused the login");
      expect(await channel.check(stop.signal)).toEqual({ id: BOT, name: BOT });
      await Promise.all([ann.close(), eve.close()]);
      stop.abort();
      await running;
    } finally {
      stop.abort();
      await server.stop();
    }
  });
});
