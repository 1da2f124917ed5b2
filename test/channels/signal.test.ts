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
      has: { redelivers: true, dedupes: false },
      async attach(lares) {
        await connected(lares, "signal/main");
        await until("one listener", () => fake.listening === 1);
      },
      async say(from, text, where = {}) {
        const mention = { message: `\ufffc ${text}`, mentions: [{ number: fake.account, start: 0, length: 1 }] };
        const more = where.addressed ? { data: mention } : {};
        return String(fake.say(where.group ? group : from.id, from.id, text, { name: from.name, ...more }));
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => m.to === (where === "group" ? group : where.id))
          .map((m) => ({ id: String(m.timestamp), text: m.text })),
      refuseSends: { none: "signal-cli says no time, so Lares waits 30 s; signal-adapter.test.ts tries that" },
      garble: {
        none: "most envelopes of signal-cli are no messages, so what is not one is passed over without a count",
      },
      async sendFile(from, { name, type, bytes }, text) {
        fake.file(from.id, from.id, { name, type, data: bytes }, text);
      },
      filesShown: async (where) =>
        fake.sent
          .filter((m) => m.to === where.id)
          .flatMap((m) => m.attachments)
          .map(({ name, data }) => ({ name, bytes: data })),
      holdFile: () => fake.holdFile(),
      edit: async (from, message, text) => fake.edit(from.id, from.id, Number(message), text),
      delete: async (from, message) => fake.remove(from.id, from.id, Number(message)),
      react: async (from, message, emoji) => fake.react(from.id, from.id, Number(message.id), emoji),
      async reactions(message) {
        const all = fake.reactions.filter((one) => one.target === Number(message));
        const ever = all.filter((one) => !one.remove).map(({ emoji }) => emoji);
        return { ever, now: all.at(-1)?.remove ? [] : ever };
      },
      typed: async () => fake.typing.length,
      close: () => fake.down(),
    };
  },
});
