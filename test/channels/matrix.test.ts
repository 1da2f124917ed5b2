/** Matrix under the contract every channel passes, against a fake homeserver with real `since` and transaction semantics. */

import { channelContract } from "../contracts/channel.ts";
import { startMatrixFake } from "../fakes/matrix/index.ts";
import { pretend } from "../support/pretend.ts";
import { connected } from "./support.ts";

channelContract({
  name: "matrix",
  async start() {
    const fake = await startMatrixFake();
    const owner = { id: "@ann:fake.test", name: "Ann" };
    const stranger = { id: "@sam:fake.test", name: "Sam" };
    const group = "!group:fake.test";
    let threads = 0;
    const roomOf = (person: { id: string }) => `!dm-${person.id.slice(1)}`;
    fake.say(roomOf(owner), owner.id, "from before the bot came", { name: owner.name });
    fake.say(group, owner.id, "hello all", { group: true });
    return {
      account: { homeserver: fake.url, token: fake.token },
      owner,
      stranger,
      freeNames: true,
      group,
      has: { redelivers: true, dedupes: true },
      attach: (lares) => connected(lares, "matrix/main"),
      async say(from, text, where = {}) {
        if (!where.group) return fake.say(roomOf(from), from.id, text, { name: from.name });
        return fake.say(group, from.id, where.addressed ? `${fake.me}: ${text}` : text, { group: true });
      },
      shown: async (where) => fake.sent.filter((m) => m.room === (where === "group" ? group : roomOf(where))),
      refuseSends: (n) => fake.faults.next(/PUT .*\/send\/m\.room\.message\//, "limit", n),
      // An event without a sender.
      garble: (text) => {
        const content = { msgtype: "m.text", body: text };
        fake.world.add(fake.world.room(roomOf(owner)), { type: "m.room.message", sender: pretend(7), content });
      },
      async sendFile(from, { name, type, bytes }, text) {
        fake.media(roomOf(from), from.id, { name, type, data: bytes, text });
      },
      filesShown: async (where) => fake.filesIn(roomOf(where)),
      holdFile: () => fake.faults.hold(/PUT .*\/send\/m\.room\.message\//, /POST .*\/upload$/),
      threads: {
        start: async () => `$thread${++threads}`,
        say: async (from, thread, text) => fake.say(roomOf(from), from.id, text, { thread }),
        shown: async (thread) => fake.sent.filter((m) => m.thread === thread),
      },
      edit: async (from, message, text) => fake.edit(roomOf(from), from.id, message, text),
      delete: async (from, message) => fake.redact(roomOf(from), from.id, message),
      react: async (from, message, emoji) => fake.react(roomOf(from), from.id, message.id, emoji),
      async reactions(message) {
        const now = fake.reactions.filter((one) => one.target === message).map(({ key }) => key);
        return { ever: fake.reacted.filter((one) => one.target === message).map(({ key }) => key), now };
      },
      typed: async () => fake.calls.filter((call) => /^PUT .*\/typing\//.test(call)).length,
      close: () => fake.down(),
    };
  },
});
