/** Slack under the contract every channel passes, against a fake of Slack (test/fakes/slack). */
import { channelContract } from "../contracts/channel.ts";
import { startSlack } from "../fakes/slack/index.ts";
import { until } from "../support/index.ts";

const GROUP = "C0GROUP";

channelContract({
  name: "slack",
  async start() {
    const fake = await startSlack();
    fake.ackMs = 500;
    const owner = { id: "U0ANN", name: "Ann" };
    const stranger = { id: "U0EVE", name: "Eve" };
    let threads = 0;
    const direct = (person: { id: string }) => `D${person.id.slice(1)}`;
    return {
      account: { botToken: fake.botToken, appToken: fake.appToken, apiUrl: `${fake.url}/api`, paceMs: 0 },
      owner,
      stranger,
      group: GROUP,
      // Slack has no key of its own, but a message is found again by the key it carries.
      has: { redelivers: true, dedupes: true },
      attach: async () => void (await until("a connection", () => fake.connections() === 1)),
      async say(from, text, where) {
        const said = where?.addressed ? `<@${fake.botUser}> ${text}` : text;
        return fake.say(where?.group ? GROUP : direct(from), from.id, said);
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => !m.deleted && m.channel === (where === "group" ? GROUP : direct(where)))
          .map((m) => ({ id: m.ts, text: m.text, buttons: labels(m.blocks ?? []) })),
      press: async (from, message, label) => fake.press(from.id, label, message.id),
      refuseSends: (n) => {
        fake.retryAfter = 0.05;
        fake.faults.next(/chat\.postMessage$/, "limit", n);
      },
      garble: (text) => void fake.event({ type: "message", channel: 7, ts: "1.1", text }),
      async sendFile(from, file, text) {
        fake.sendFile(direct(from), from.id, { ...file, text });
      },
      filesShown: async (where) =>
        fake.sent
          .filter((m) => m.channel === direct(where))
          .flatMap((m) => m.files ?? [])
          .map(({ name, bytes }) => ({ name, bytes: bytes! })),
      holdFile: () => fake.faults.hold(/files\.completeUploadExternal$/),
      threads: {
        start: async () => `1700000000.${String(++threads).padStart(6, "0")}`,
        say: async (from, thread, text) => fake.say(direct(from), from.id, text, { thread_ts: thread }),
        shown: async (thread) =>
          fake.sent.filter((m) => m.thread_ts === thread).map((m) => ({ id: m.ts, text: m.text })),
      },
      edit: async (_from, message, text) => fake.edit(message, text),
      delete: async (_from, message) => fake.remove(message),
      react: async (from, message) => fake.react(from.id, direct(from), message.id, "thumbsup"),
      async reactions(message) {
        const sign = (name: string) => (name === "eyes" ? "👀" : name);
        const ever = fake.calls.filter((c) => c.method === "reactions.add" && c.params.timestamp === message);
        const now = fake.reactions.filter((one) => one.ts === message);
        return { ever: ever.map((c) => sign(String(c.params.name))), now: now.map(({ name }) => sign(name)) };
      },
      close: () => fake.close(),
    };
  },
});

function labels(blocks: Record<string, unknown>[]): string[] {
  return blocks
    .filter((block) => block.type === "actions")
    .flatMap((block) => (block.elements as { text: { text: string } }[]).map((element) => element.text.text));
}
