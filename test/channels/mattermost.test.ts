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
    let threads = 0;
    const chatOf = (person: { id: string }) => `dm${person.id}`;
    fake.say(chatOf(owner), owner.id, "from before the bot came", { name: owner.name });
    fake.say(group, owner.id, "hello all", { type: "O" });
    return {
      account: { url: fake.url, token: fake.token, callback: "http://lares.test" },
      owner,
      stranger,
      freeNames: true,
      group,
      has: { redelivers: true, dedupes: true },
      async attach(lares) {
        fake.hosts.set("http://lares.test", lares.url);
        await connected(lares, "mattermost/main");
      },
      async say(from, text, where = {}) {
        if (!where.group) return fake.say(chatOf(from), from.id, text, { name: from.name });
        return fake.say(group, from.id, where.addressed ? `@lares ${text}` : text, { type: "O" });
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
      garble: (text) =>
        fake.stream.emit("posted", { post: JSON.stringify({ id: "strange", channel_id: 7, message: text }) }),
      async sendFile(from, { name, type, bytes }, text) {
        fake.file(chatOf(from), from.id, { name, type, data: bytes }, text);
      },
      filesShown: async (where) => fake.filesIn(chatOf(where)),
      holdFile: () => fake.faults.hold(/POST \/api\/v4\/posts$/, /POST \/api\/v4\/files$/),
      threads: {
        start: async () => `root${++threads}`.padEnd(26, "0"),
        say: async (from, thread, text) => fake.say(chatOf(from), from.id, text, { root: thread }),
        shown: async (thread) =>
          fake.sent.filter((p) => p.root_id === thread).map((p) => ({ id: p.id, text: p.message })),
      },
      edit: async (_from, message, text) => fake.edit(message, text),
      delete: async (_from, message) => fake.remove(message),
      react: async (from, message) => fake.react(message.id, from.id, "+1"),
      async reactions(message) {
        const on = (all: typeof fake.reacted) =>
          all.filter((r) => r.post_id === message).map((r) => (r.emoji_name === "eyes" ? "👀" : r.emoji_name));
        return { ever: on(fake.reacted), now: on(fake.reactions) };
      },
      typed: async () => fake.typing.length,
      close: () => fake.down(),
    };
  },
});
