/** Signal under the contract every channel passes, against a fake of signal-cli's daemon that hands over once. */
import { channelContract } from "../contracts/channel.ts";
import { startSignalFake } from "../fakes/signal-cli/index.ts";
import { until } from "../support/index.ts";
import { connected } from "./support.ts";

channelContract({
  name: "signal",
  async start() {
    const fake = await startSignalFake();
    const owner = { id: "aaaaaaaa-0000-4000-8000-000000000001", name: "Ann" };
    const stranger = { id: "bbbbbbbb-0000-4000-8000-000000000002", name: "Sam" };
    const group = "group.dG93bnNwZW9wbGU=";
    return {
      account: { url: fake.url, number: fake.account },
      owner,
      stranger,
      freeNames: true,
      group,
      // signal-cli does not deliver again, but what it handed over is written down before it is heard.
      has: { redelivers: true, dedupes: false, edits: false, buttons: false, limit: 2000 },
      async attach(lares) {
        await connected(lares, "signal/main");
        await until("one listener", () => fake.listening === 1);
      },
      async say(from, text, where = {}) {
        const mention = { message: `\ufffc ${text}`, mentions: [{ number: fake.account, start: 0, length: 1 }] };
        const more = where.addressed ? { data: mention } : {};
        fake.say(where.group ? group : from.id, from.id, text, { name: from.name, ...more });
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => m.to === (where === "group" ? group : where.id))
          .map((m) => ({ id: String(m.timestamp), text: m.text })),
      close: () => fake.down(),
    };
  },
});
