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
    const called = `@${fake.bot.username}`;
    const mention = { entities: [{ type: "mention", offset: 0, length: called.length }] };
    let messages = 1_000_000;
    let topics = 0;
    const stranger = { id: "77", name: "Eve" };
    return {
      account: { token: fake.token, apiUrl: fake.url, paceMs: 0 },
      owner,
      stranger,
      freeNames: true,
      group: String(GROUP),
      has: { redelivers: true, dedupes: false },
      attach: async () => void (await until("a poll", () => fake.polling())),
      async say(from, text, where) {
        const said = where?.addressed ? `${called} ${text}` : text;
        const person = { id: Number(from.id), first_name: from.name };
        const message_id = ++messages;
        fake.say(where?.group ? GROUP : person.id, person, said, { message_id, ...(where?.addressed ? mention : {}) });
        return String(message_id);
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
      async sendFile(from, file, text) {
        fake.sendFile(Number(from.id), Number(from.id), { ...file, caption: text });
      },
      filesShown: async (where) => fake.sent.flatMap((m) => (m.chat === Number(where.id) && m.file ? [m.file] : [])),
      holdFile: () => fake.faults.hold(/sendDocument$/),
      threads: {
        start: async () => String(++topics),
        say: async (from, thread, text) =>
          fake.say(GROUP, Number(from.id), `${called} ${text}`, {
            ...mention,
            message_thread_id: Number(thread),
            is_topic_message: true,
          }),
        shown: async (thread) =>
          fake.sent.filter((m) => m.thread === Number(thread)).map((m) => ({ id: String(m.message_id), text: m.text })),
      },
      edit: async (from, message, text) => fake.edit(Number(from.id), Number(from.id), Number(message), text),
      react: async (from, message, emoji) => fake.react(Number(from.id), Number(from.id), Number(message.id), emoji),
      async reactions(message) {
        const all = fake.reactions.filter((one) => one.message === Number(message)).map(({ emoji }) => emoji);
        return { ever: all.flat(), now: all.at(-1) ?? [] };
      },
      typed: async () => fake.calls.filter((call) => call.method === "sendChatAction").length,
      close: () => fake.close(),
    };
  },
});
