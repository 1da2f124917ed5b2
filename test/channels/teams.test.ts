/** Microsoft Teams under the contract every channel passes, against a fake of the Bot Framework (test/fakes/teams). */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Channel } from "../../src/core/contracts/index.ts";
import { channelContract } from "../contracts/channel.ts";
import { startTeams } from "../fakes/teams/index.ts";
import { connected, listeningDoor, openAlone } from "./support.ts";

const GROUP = "19:towns@thread.tacv2";

channelContract({
  name: "teams",
  async start() {
    const fake = await startTeams();
    const mention = { type: "mention", text: "<at>Lares</at>", mentioned: { id: fake.botId, name: "Lares" } };
    let threads = 0;
    const direct = (person: { id: string }) => `a:${person.id}`;
    return {
      account: accountOf(fake),
      owner: { id: "11111111-0000-4000-8000-000000000001", name: "Ann" },
      stranger: { id: "22222222-0000-4000-8000-000000000002", name: "Eve" },
      freeNames: true,
      group: GROUP,
      // Whether Teams tries again is not assured, so the fake does not.
      has: { redelivers: false, dedupes: false },
      async attach(lares) {
        fake.to(lares.url);
        await connected(lares, "teams/main");
      },
      async say(from, text, where = {}) {
        const more = where.addressed ? { text: `<at>Lares</at> ${text}`, entities: [mention] } : { text };
        const activity = fake.activity(from, where.group ? GROUP : direct(from), more);
        void fake.post(activity).catch(() => {});
        return activity.id;
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => m.conversation === (where === "group" ? GROUP : direct(where)))
          .map((m) => ({ id: m.id, text: m.text, buttons: m.buttons.map((b) => b.title) })),
      async press(from, message, label) {
        const button = fake.sent.find((m) => m.id === message.id)!.buttons.find((b) => b.title === label)!;
        await fake.post(fake.activity(from, direct(from), { value: button.data, replyToId: message.id }));
      },
      refuseSends: (times) => fake.refuse(times),
      garble: (text) => void fake.post({ ...fake.activity({ id: "x", name: "x" }, "a:x", { text }), from: {} }),
      threads: {
        start: async () => `${GROUP};messageid=170000000000${++threads}`,
        say: (from, thread, text) =>
          fake.post(fake.activity(from, thread, { text: `<at>Lares</at> ${text}`, entities: [mention] })),
        shown: async (thread) =>
          fake.sent.filter((m) => m.conversation === thread).map(({ id, text }) => ({ id, text })),
      },
      edit: (from, message, text) =>
        fake.post(fake.activity(from, direct(from), { type: "messageUpdate", id: message, text })),
      delete: (from, message) => fake.post(fake.activity(from, direct(from), { type: "messageDelete", id: message })),
      react: (from, message) => {
        const reaction = { replyToId: message.id, reactionsAdded: [{ type: "like" }] };
        return fake.post(fake.activity(from, direct(from), { type: "messageReaction", ...reaction }));
      },
      typed: async () => fake.typed,
      close: () => fake.close(),
    };
  },
});

describe("who may post an activity (WH-01, WH-07)", () => {
  let fake: Awaited<ReturnType<typeof startTeams>>;
  let channel: Channel;
  const { door, heard } = listeningDoor();
  const ann = { id: "ann", name: "Ann" };
  beforeAll(async () => {
    fake = await startTeams();
    channel = await openAlone("teams", accountOf(fake));
  });
  afterAll(() => fake?.close());
  const post = (token: string | undefined, more: object = {}) =>
    channel.receive!(
      {
        method: "POST",
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        query: {},
        body: Buffer.from(JSON.stringify(fake.activity(ann, "a:ann", { text: "hello", ...more }))),
      },
      door,
    );

  test("one that is signed for this bot is heard", async () => {
    expect(await post(fake.token())).toMatchObject({ status: 200 });
    expect(heard).toMatchObject([{ text: "hello", sender: { id: "ann" }, chat: { id: "a:ann", kind: "direct" } }]);
  });

  test("nothing else is", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const now = Math.floor(Date.now() / 1000);
    const before = heard.length;
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${fake.token().split(".")[1]}.x`;
    for (const token of [
      undefined,
      unsigned,
      fake.token({}, { key: other }),
      fake.token({}, { head: { alg: "HS256" } }),
      fake.token({}, { head: { kid: "unknown" } }),
      fake.token({ iss: "https://evil.test" }),
      fake.token({ aud: "another-bot" }),
      fake.token({ exp: now - 3600 }),
      fake.token({ nbf: now + 3600 }),
    ])
      await expect(post(token)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(post(fake.token(), { channelId: "webchat" })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    // A place of the sender's choice would be given the bot's token.
    const evil = "https://evil.test/";
    await expect(post(fake.token(), { serviceUrl: evil })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(post(fake.token({ serviceurl: evil }), { serviceUrl: evil })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    expect(heard).toHaveLength(before);
  });

  test("a wrong secret is said with what to do", async () => {
    const wrong = await openAlone("teams", { ...accountOf(fake), appPassword: "wrong" });
    await expect(wrong.check(AbortSignal.timeout(5000))).rejects.toThrow("Microsoft refused the bot's login");
  });
});

function accountOf(fake: Awaited<ReturnType<typeof startTeams>>) {
  return {
    appId: fake.appId,
    appPassword: fake.secret,
    services: [fake.service],
    loginUrl: fake.url,
    keysUrl: `${fake.url}/openid`,
    paceMs: 0,
  };
}
