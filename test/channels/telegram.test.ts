/** Telegram under the contract every channel passes, against a fake of the Bot API (test/fakes/telegram). */
import { channelContract } from "../contracts/channel.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { until } from "../support/index.ts";

const GROUP = -100500;

channelContract({
  name: "telegram",
  async start() {
    const fake = await startTelegram();
    const owner = { id: "42", name: "Ann" };
    const stranger = { id: "77", name: "Eve" };
    return {
      account: { token: fake.token, apiUrl: fake.url, paceMs: 0 },
      owner,
      stranger,
      freeNames: true,
      group: String(GROUP),
      has: { redelivers: true, dedupes: false, edits: true, buttons: true, limit: 4096 },
      attach: async () => void (await until("a poll", () => fake.polling())),
      async say(from, text, where) {
        const said = where?.addressed ? `@${fake.bot.username} ${text}` : text;
        const entities = where?.addressed ? [{ type: "mention", offset: 0, length: fake.bot.username.length + 1 }] : [];
        const person = { id: Number(from.id), first_name: from.name };
        fake.say(where?.group ? GROUP : person.id, person, said, { entities });
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => !m.deleted && m.chat === (where === "group" ? GROUP : Number(where.id)))
          .map((m) => ({ id: String(m.message_id), text: m.text, buttons: m.buttons.map((b) => b.text) })),
      press: async (from, message, label) => void fake.press(Number(from.id), label, Number(message.id)),
      refuseSends: (n) => {
        fake.retryAfter = 0.05;
        fake.faults.next(/sendMessage$/, "limit", n);
      },
      garble: (text) => void fake.say(42, 42, text, { chat: { id: 42, type: "hologram" } }),
      close: () => fake.close(),
    };
  },
});
