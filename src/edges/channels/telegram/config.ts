import { z } from "zod";
import { acknowledgeShape, adapter, paceShape, talkShape, toPolicy } from "../account.ts";

const account = z
  .strictObject({
    token: z
      .string()
      .regex(/^\d+:[\w-]+$/, "a bot token such as 123456:ABC…")
      .describe("The bot's token. To get one, send /newbot to @BotFather in Telegram."),
    webhook: z
      .strictObject({
        url: z
          .url({ protocol: /^https?$/ })
          .describe("The public address that leads to /channels/telegram/<account> on this Lares."),
        secret: z
          .string()
          .regex(/^[\w-]{16,256}$/, "16 to 256 letters, digits, _ and -")
          .describe("Telegram sends this with every request to prove that it comes from Telegram."),
      })
      .optional()
      .describe(
        "Telegram sends messages to this address. Without it, Lares fetches them, which needs no public address.",
      ),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .default("https://api.telegram.org")
      .describe("The Bot API server, if you run your own."),
    ...paceShape(1000),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One Telegram bot.");

export type TelegramAccount = z.output<typeof account>;

export const telegram = adapter<TelegramAccount>({
  name: "telegram",
  title: "Telegram",
  config: account as z.ZodType<TelegramAccount>,
  secrets: ["token", "webhook.secret"],
  asks: [
    {
      field: "token",
      what: "The bot's token: send /newbot to @BotFather in Telegram and paste the token it gives you",
    },
  ],
  can: (config) => ({
    dialect: "telegram",
    limit: 4096,
    unit: "utf16",
    // Telegram takes no idempotency key: a send that broke off may have arrived, and is then reported, not repeated.
    dedupes: false,
    buttons: 8,
    files: 50 * 1024 * 1024,
    hears: ["groups", "files", "threads", "edits", "reactions"],
    does: ["react", "remove", "typing"],
    // Telegram's own figures: one message a second to a chat, thirty a second in all; a little below them.
    // "In a group, bots are not able to send more than 20 messages per minute" (Bots FAQ); edits count. Groups have negative ids.
    pace: { chatMs: config.paceMs, accountMs: 40, perMinute: (chat) => (chat.startsWith("-") ? 20 : undefined) },
    editMs: 2000,
    silenceMs: config.webhook ? 200_000 : 90_000,
  }),
  policy: toPolicy,
  load: async () => await import("./telegram.ts"),
});
