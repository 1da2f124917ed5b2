/** Mattermost under the contract every channel passes, against a fake server with its pending-post and stream semantics. */
import { channelContract } from "../contracts/channel.ts";
import { startMattermostFake } from "../fakes/mattermost/index.ts";
import { connected } from "./support.ts";

channelContract({
  name: "mattermost",
  async start() {
    const fake = await startMattermostFake();
    const owner = { id: "userann0000000000000000000", name: "ann" };
    const stranger = { id: "usersam0000000000000000000", name: "sam" };
    const group = "towns0000000000000000000000";
    const chatOf = (person: { id: string }) => `dm${person.id}`;
    fake.say(chatOf(owner), owner.id, "from before the bot came", { name: owner.name });
    fake.say(group, owner.id, "hello all", { type: "O" });
    return {
      account: { url: fake.url, token: fake.token, callback: "http://lares.test" },
      owner,
      stranger,
      freeNames: true,
      group,
      has: { redelivers: true, dedupes: true, edits: true, buttons: true, limit: 16_383 },
      async attach(lares) {
        fake.hosts.set("http://lares.test", lares.url);
        await connected(lares, "mattermost/main");
      },
      async say(from, text, where = {}) {
        if (!where.group) fake.say(chatOf(from), from.id, text, { name: from.name });
        else fake.say(group, from.id, where.addressed ? `@lares ${text}` : text, { type: "O" });
      },
      shown: async (where) =>
        fake.sent
          .filter((p) => p.channel_id === (where === "group" ? group : chatOf(where)))
          .map((p) => {
            const made = (p.props.attachments ?? []) as { actions?: { name: string }[] }[];
            return { id: p.id, text: p.message, buttons: made.flatMap((a) => a.actions ?? []).map((a) => a.name) };
          }),
      async press(from, message, label) {
        await fake.press(message.id, label, from.id);
      },
      // Its pauses are whole seconds: one says as much as two.
      refuseSends: () => fake.faults.next(/POST \/api\/v4\/posts$/, "limit"),
      close: () => fake.down(),
    };
  },
});
