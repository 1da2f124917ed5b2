/** WhatsApp under the contract every channel passes, against a fake of Meta's Cloud API that repeats events until 200. */
import { channelContract } from "../contracts/channel.ts";
import { startWhatsAppFake } from "../fakes/whatsapp-cloud/index.ts";
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
      has: { redelivers: true, dedupes: true, edits: false, buttons: true, limit: 4096 },
      async attach(lares) {
        await connected(lares, "whatsapp/main");
        await fake.subscribe(`${lares.url}/channels/whatsapp/main`);
      },
      async say(from, text) {
        fake.say(from.id, from.id, text, { name: from.name });
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
      close: () => fake.down(),
    };
  },
});
