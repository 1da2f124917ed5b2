/** Matrix under the contract every channel passes, against a fake homeserver with real `since` and transaction semantics. */
import { channelContract } from "../contracts/channel.ts";
import { startMatrixFake } from "../fakes/matrix/index.ts";
import { connected } from "./support.ts";

channelContract({
  name: "matrix",
  async start() {
    const fake = await startMatrixFake();
    const owner = { id: "@ann:fake.test", name: "Ann" };
    const stranger = { id: "@sam:fake.test", name: "Sam" };
    const group = "!group:fake.test";
    const roomOf = (person: { id: string }) => `!dm-${person.id.slice(1)}`;
    fake.say(roomOf(owner), owner.id, "from before the bot came", { name: owner.name });
    fake.say(group, owner.id, "hello all", { group: true });
    return {
      account: { homeserver: fake.url, token: fake.token },
      owner,
      stranger,
      freeNames: true,
      group,
      has: { redelivers: true, dedupes: true, edits: true, buttons: false, limit: 16_000 },
      attach: (lares) => connected(lares, "matrix/main"),
      async say(from, text, where = {}) {
        if (!where.group) fake.say(roomOf(from), from.id, text, { name: from.name });
        else fake.say(group, from.id, where.addressed ? `${fake.me}: ${text}` : text, { group: true });
      },
      shown: async (where) => fake.sent.filter((m) => m.room === (where === "group" ? group : roomOf(where))),
      refuseSends: (n) => fake.faults.next(/PUT .*\/send\/m\.room\.message\//, "limit", n),
      close: () => fake.down(),
    };
  },
});
