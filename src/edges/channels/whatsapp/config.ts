import { z } from "zod";
import { acknowledgeShape, adapter, talkShape } from "../account.ts";

const account = z
  .strictObject({
    phoneNumberId: z
      .string()
      .regex(/^\d+$/, "digits only")
      .describe("The id of the business phone number, not the number itself."),
    token: z.string().min(16).describe("Token of a system user with whatsapp_business_messaging."),
    appSecret: z.string().min(16).describe("The app's secret. Meta signs every event with it."),
    verifyToken: z.string().min(8).describe("A word of your choice, the same as in the app's webhook settings."),
    graph: z
      .url({ protocol: /^https?$/ })
      .default("https://graph.facebook.com/v23.0")
      .describe("The address of the Graph API."),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One WhatsApp number on Meta's Cloud API. Events come to /channels/whatsapp/<name>.");

export type WhatsAppAccount = z.output<typeof account>;

export const whatsapp = adapter<WhatsAppAccount>({
  name: "whatsapp",
  title: "WhatsApp",
  config: account as z.ZodType<WhatsAppAccount>,
  secrets: ["token", "appSecret", "verifyToken"],
  asks: [
    { field: "phoneNumberId", what: "Phone number id (Meta app: WhatsApp, API Setup)" },
    { field: "token", what: "Token of a system user with whatsapp_business_messaging" },
    { field: "appSecret", what: "The app's secret (App settings, Basic)" },
    { field: "verifyToken", what: "A word of your choice, the same as in the app's webhook settings" },
  ],
  can: () => ({
    dialect: "whatsapp",
    limit: 4096,
    unit: "utf16",
    // The Cloud API takes no key: the same call twice is two messages.
    dedupes: false,
    buttons: 3,
    files: 16_000_000,
    hears: ["files", "reactions"],
    does: ["react", "typing"],
    // One message to one person every six seconds is the documented pair rate; bursts are allowed and refused with 131056.
    pace: { chatMs: 100, accountMs: 15 },
  }),
  load: async () => await import("./whatsapp.ts"),
});
