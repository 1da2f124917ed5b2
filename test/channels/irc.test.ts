/** IRC under the contract every channel passes, against a real ngIRCd. */

import { describe, expect, test } from "vitest";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { pieces } from "../../src/flow/outbox/index.ts";
import { channelContract } from "../contracts/channel.ts";
import { ircPerson, startIrc } from "../servers/irc.ts";
import { needs, until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { connected, listeningDoor, openAlone } from "./support.ts";

const GROUP = "#towns";

describe.skipIf(!needs("ngircd", "the IRC channel"))("irc", () => {
  channelContract({
    name: "irc",
    async start() {
      const server = await startIrc();
      const people = {
        ann: await ircPerson(server.port, "ann", GROUP),
        eve: await ircPerson(server.port, "eve", GROUP),
      };
      const clientOf = (person: { name: string }) => people[person.name as "ann" | "eve"];
      const owner = { id: "ann!~ann@127.0.0.1", name: "ann" };
      const stranger = { id: "eve!~eve@127.0.0.1", name: "eve" };
      return {
        account: { host: "127.0.0.1", port: server.port, tls: false, nick: "lares", join: [GROUP], paceMs: 0 },
        owner,
        stranger,
        group: GROUP,
        // Nothing is kept and nothing acknowledged: what is on its way goes with the process.
        has: { redelivers: false, dedupes: false },
        attach: (lares) => connected(lares, "irc/main"),
        async say(from, text, where = {}) {
          if (!where.group) clientOf(from).say("lares", text);
          else clientOf(from).say(GROUP, where.addressed ? `lares: ${text}` : text);
          return "";
        },
        refuseSends: { none: "a server answers nothing to a message; one that sends too much is thrown out" },
        garble: { none: "any line of IRC can be read; commands nobody knows concern nobody" },
        async shown(where) {
          const at = where === "group" ? GROUP : where.name;
          const heard = where === "group" ? people.ann.heard : clientOf(where).heard;
          return heard.filter((m) => m.target === at).map((m, i) => ({ id: String(i), text: m.text }));
        },
        async close() {
          people.ann.close();
          people.eve.close();
          await server.stop();
        },
      };
    },
  });

  test("an answer goes to the person who was heard, never to who took their nick; no text becomes a command", async () => {
    const server = await startIrc();
    const stop = new AbortController();
    try {
      const { door, heard } = listeningDoor();
      const config = { host: "127.0.0.1", port: server.port, tls: false, nick: "lares" };
      const channel = await openAlone("irc", config);
      const running = channel.run!(door, stop.signal).catch(() => {});
      await until("connected", () => door.isAlive);
      const ann = await ircPerson(server.port, "ann");
      ann.say("lares", "hello \x02there\x02");
      ann.raw("NOTICE lares :not heard");
      ann.say("lares", "\x01VERSION\x01");
      ann.say("lares", "second");
      await until("both", () => heard.length === 2);
      expect(heard).toMatchObject([{ text: "hello there", sender: { id: "ann!~ann@127.0.0.1" } }, { text: "second" }]);
      const route = { channel: "irc", account: "main", chat: heard[0]!.chat.id };
      await channel.send({ route, key: "k1", text: "one\r\nQUIT :two" }, stop.signal);
      await until("the answer", () => ann.heard.length === 2);
      expect(ann.heard.map((m) => m.text)).toEqual(["one", "QUIT :two"]);

      ann.close();
      const other = await openAlone("irc", { ...config, nick: "lares2" });
      const two = listeningDoor();
      const also = other.run!(two.door, stop.signal).catch(() => {});
      await until("connected", () => two.door.isAlive);
      const eve = await until("the nick to be free", () => ircPerson(server.port, "ann"));
      const wanted = { route: { ...route, chat: "ann!~someone@else.test" }, key: "k2", text: "secret" };
      await expect(other.send(wanted, stop.signal)).rejects.toThrow("Somebody else is ann now");
      await expect(
        other.send({ ...wanted, route: { ...route, chat: "nobody!~n@h.test" } }, stop.signal),
      ).rejects.toMatchObject({ retry: "later" });
      expect(eve.heard).toEqual([]);
      eve.close();
      expect(await channel.check(stop.signal)).toMatchObject({ name: "lares" });
      stop.abort();
      await Promise.all([running, also]);
    } finally {
      stop.abort();
      await server.stop();
    }
  });

  test("a huge answer is a bounded number of lines, with a note and its end", () => {
    const can = ADAPTERS.irc!.can(pretend(ADAPTERS.irc!.config.parse({ host: "h", nick: "lares", mostLines: 10 })));
    const text = Array.from({ length: 100 }, (_, i) => `line ${i}`).join("\n\n");
    const lines = pieces(text, can).map((piece) => piece.text);
    expect(lines).toHaveLength(10);
    expect(lines.slice(7)).toEqual(["line 7", expect.stringContaining("The middle is left out"), "line 99"]);
  });
});
