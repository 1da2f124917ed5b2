/** WhatsApp under the contract every channel passes, against a fake of Meta's Cloud API that repeats events until 200. */
import { channelContract } from "../contracts/channel.ts";
import { startWhatsAppFake } from "../fakes/whatsapp-cloud/index.ts";
import { until } from "../support/index.ts";
import { connected } from "./support.ts";

channelContract({
  name: "whatsapp",
  async start() {
    const fake = await startWhatsAppFake();
    const owner = { id: "15550001001", name: "Ann" };
    const stranger = { id: "15550001002", name: "Sam" };
    return {
      account: {
        phoneNumberId: fake.phoneId,
        token: fake.token,
        appSecret: fake.appSecret,
        verifyToken: fake.verifyToken,
        graph: `${fake.url}/v23.0`,
      },
      owner,
      stranger,
      freeNames: true,
      // It does not deduplicate, but its status events tell which send was taken.
      has: { redelivers: true, dedupes: true },
      async attach(lares) {
        await connected(lares, "whatsapp/main");
        // Right after a kill a kept connection to the old process may still be picked, and breaks.
        const subscribe = () => fake.subscribe(`${lares.url}/channels/whatsapp/main`).then(() => true, String);
        await until("the subscription", async () => (await subscribe()) === true, { instead: subscribe });
      },
      async say(from, text) {
        return fake.say(from.id, from.id, text, { name: from.name });
      },
      shown: async (where) =>
        fake.sent
          .filter((m) => where !== "group" && m.to === where.id)
          .map((m) => ({ id: m.id, text: m.text, buttons: m.buttons.map((b) => b.title) })),
      async press(from, message, label) {
        fake.press(message.id, label, from.id);
      },
      // Its pauses are whole seconds: one says as much as two.
      refuseSends: () => fake.faults.next(/POST .*\/messages$/, "limit"),
      // Without a sender it is nobody's message.
      garble: (text) =>
        void fake.post(fake.event([{ id: "wamid.strange", type: "text", timestamp: "1", text: { body: text } }])),
      async sendFile(from, { name, type, bytes }, text) {
        const kind = type.startsWith("image/") ? "image" : "document";
        fake.file(from.id, { name, type, data: bytes, kind, text });
      },
      filesShown: async (where) =>
        fake.sent.flatMap(({ to, file }) =>
          to === where.id && file ? [{ name: file.name ?? "", bytes: file.data }] : [],
        ),
      holdFile: () => fake.faults.hold(/POST .*\/messages$/, /POST .*\/media$/),
      react: async (from, message, emoji) => fake.react(from.id, message.id, emoji),
      async reactions(message) {
        const all = fake.reactions.filter((one) => one.target === message).map(({ emoji }) => emoji);
        return { ever: all.filter(Boolean), now: all.slice(-1).filter(Boolean) };
      },
      typed: async () => fake.typing.length,
      close: () => fake.down(),
    };
  },
});
