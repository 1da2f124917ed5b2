/** Discord under the contract every channel passes, against a fake of Discord (test/fakes/discord). */
import { channelContract } from "../contracts/channel.ts";
import { startDiscord } from "../fakes/discord/index.ts";
import { until } from "../support/index.ts";

const GROUP = "600000000000000001";

channelContract({
  name: "discord",
  async start() {
    const fake = await startDiscord();
    const owner = { id: "500000000000000042", name: "Ann" };
    const stranger = { id: "500000000000000077", name: "Eve" };
    let threads = 0;
    const direct = (person: { id: string }) => person.id.replace(/^5/, "7");
    for (const person of [owner, stranger]) fake.direct.add(direct(person));
    return {
      account: { token: fake.token, apiUrl: `${fake.url}/api`, paceMs: 0 },
      owner,
      stranger,
      freeNames: true,
      group: GROUP,
      // By its nonce, and by looking for that in the chat.
      has: { redelivers: true, dedupes: true },
      attach: async () => void (await until("a session", () => fake.listening() === 1)),
      async say(from, text, where) {
        const said = where?.addressed ? `<@${fake.bot.id}> ${text}` : text;
        return fake.say(where?.group ? GROUP : direct(from), { id: from.id, username: from.name }, said);
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => !m.deleted && m.channel === (where === "group" ? GROUP : direct(where)))
          .map((m) => ({ id: m.id, text: m.content, buttons: labels(m.components) })),
      press: async (from, message, label) => void fake.press(from.id, label, message.id),
      refuseSends: (n) => {
        fake.retryAfter = 0.05;
        fake.faults.next(/^POST .*\/messages$/, "limit", n);
      },
      garble: (text) => fake.dispatch("MESSAGE_CREATE", { id: "1", author: "nobody", content: text }),
      async sendFile(from, file, text) {
        fake.sendFile(direct(from), from.id, { ...file, text });
      },
      filesShown: async (where) => fake.sent.filter((m) => m.channel === direct(where)).flatMap((m) => m.files),
      holdFile: () => fake.faults.hold(/^POST .*\/messages$/),
      threads: {
        async start() {
          const id = `90000000000000000${++threads}`;
          fake.threads.set(id, GROUP);
          return id;
        },
        say: async (from, thread, text) => fake.say(thread, from.id, `<@${fake.bot.id}> ${text}`),
        shown: async (thread) =>
          fake.sent.filter((m) => m.channel === thread).map((m) => ({ id: m.id, text: m.content })),
      },
      edit: async (_from, message, text) => fake.edit(message, text),
      delete: async (_from, message) => fake.remove(message),
      react: async (from, message, emoji) => fake.react(direct(from), from.id, message.id, emoji),
      async reactions(message) {
        const on = (all: typeof fake.reacted) => all.filter((one) => one.message === message).map(({ emoji }) => emoji);
        return { ever: on(fake.reacted), now: on(fake.reactions) };
      },
      typed: async () => fake.calls.filter((call) => call.route === "typing").length,
      close: () => fake.close(),
    };
  },
});

function labels(rows: Record<string, unknown>[]): string[] {
  return rows.flatMap((row) => (row.components as { label: string }[]).map((button) => button.label));
}
