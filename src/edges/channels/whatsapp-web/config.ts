import { z } from "zod";
import { acknowledgeShape, adapter, talkShape } from "../account.ts";

/** The registry's "latest" needs git to install; this version doesn't. */
const BAILEYS = "@whiskeysockets/baileys@7.0.0-rc14";

const account = z
  .strictObject({
    number: z
      .string()
      .regex(/^\+\d{6,15}$/, "a number such as +15551234567")
      .describe(
        "The WhatsApp number that Lares is linked to as a device. The code to link it is in the account's status.",
      ),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe(
    "EXPERIMENTAL: one WhatsApp number as a linked device, by an unofficial library. Meta may block the number.",
  );

export type WhatsAppWebAccount = z.output<typeof account>;

export const whatsappWeb = adapter<WhatsAppWebAccount>({
  name: "whatsapp-web",
  title: "WhatsApp Web (experimental)",
  config: account as z.ZodType<WhatsAppWebAccount>,
  secrets: [],
  asks: [
    { field: "number", what: "The WhatsApp number to link, such as +15551234567 (unofficial: Meta may block it)" },
  ],
  packages: [BAILEYS],
  can: () => ({
    dialect: "whatsapp",
    limit: 4096,
    unit: "utf16",
    // The message id is ours and the same on every try, but nobody knows whether every app drops the second copy.
    dedupes: false,
    buttons: 0,
    files: 16_000_000,
    hears: ["groups", "files", "edits", "reactions"],
    does: ["react", "typing"],
    // Slow on purpose: fast unofficial clients get their number blocked.
    pace: { chatMs: 1500, accountMs: 500 },
  }),
  load: async () => await import("./whatsapp-web.ts"),
});
