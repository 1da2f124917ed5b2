/**
 * WhatsApp Web (experimental) under the contract every channel passes, in the real program, with a stand-in for the library behind
 * which a fake WhatsApp keeps what Lares relies on. NOT COVERED: encryption, keys, linking, and whether WhatsApp takes what we send.
 */
import { channelContract } from "../contracts/channel.ts";
import { MENTION, startBaileysFake } from "../fakes/baileys/index.ts";
import { until } from "../support/index.ts";
import { connected } from "./support.ts";

channelContract({
  name: "whatsapp-web",
  async start() {
    const fake = await startBaileysFake();
    const owner = { id: "15550001001@s.whatsapp.net", name: "Ann" };
    const stranger = { id: "15550001002@s.whatsapp.net", name: "Sam" };
    const group = "120363000000000000@g.us";
    const chatOf = (where: { id: string } | "group") => (where === "group" ? group : where.id);
    return {
      account: { number: "+15550000001" },
      owner,
      stranger,
      freeNames: true,
      group,
      // The receipt leaves before the message is handed on, but what is handed on is written down before it is heard.
      has: { redelivers: true, dedupes: false },
      prepare: (home) => fake.install(home),
      async attach(lares) {
        await connected(lares, "whatsapp-web/main");
        await until("one device", () => fake.connections === 1);
      },
      async say(from, text, where = {}) {
        const named = {
          extendedTextMessage: { text: `${MENTION.text} ${text}`, contextInfo: { mentionedJid: [MENTION.jid] } },
        };
        return fake.say(where.group ? group : from.id, from, where.addressed ? named : { conversation: text });
      },
      shown: async (where) =>
        fake.shown.filter((m) => m.jid === chatOf(where) && !m.file).map(({ id, text }) => ({ id, text })),
      refuseSends: {
        none: "Baileys does not say that WhatsApp asks for a pause; the channel is slow on purpose instead",
      },
      garble: {
        none: "most of what Baileys hands on is no message, so what is not one is passed over without a count",
      },
      async sendFile(from, { name, type, bytes }, text) {
        const part = { caption: text, mimetype: type, fileLength: bytes.length };
        const isPicture = type.startsWith("image/");
        const content = isPicture ? { imageMessage: part } : { documentMessage: { ...part, fileName: name } };
        fake.say(from.id, from, content, bytes);
      },
      filesShown: async (where) => fake.shown.flatMap((m) => (m.jid === where.id && m.file ? [m.file] : [])),
      holdFile: () => fake.holdFile(),
      edit: async (from, message, text) =>
        fake.say(from.id, from, {
          protocolMessage: { type: 14, key: { id: message }, editedMessage: { conversation: text } },
        }),
      react: async (from, message, emoji) =>
        fake.say(from.id, from, { reactionMessage: { key: { id: message.id }, text: emoji } }),
      async reactions(message) {
        const all = fake.reactions.filter((one) => one.target === message);
        const ever = all.filter((one) => one.emoji).map(({ emoji }) => emoji);
        return { ever, now: all.at(-1)?.emoji ? [all.at(-1)!.emoji] : [] };
      },
      typed: async () => fake.composed,
      close: () => fake.close(),
    };
  },
});
