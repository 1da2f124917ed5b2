import { z } from "zod";
import { acknowledgeShape, adapter, paceShape, talkShape, toPolicy } from "../account.ts";

const account = z
  .strictObject({
    token: z
      .string()
      .regex(/^\d+:[\w-]+$/, "a bot token such as 123456:ABC…")
      .describe("The bot's token. Make one with BotFather in Telegram: /newbot."),
    webhook: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }).describe("Public address that reaches /channels/telegram/<account> here."),
        secret: z
          .string()
          .regex(/^[\w-]{16,256}$/, "16 to 256 letters, digits, _ and -")
          .describe("What Telegram sends along to prove itself. Without it anybody could pose as Telegram."),
      })
      .optional()
      .describe("Telegram calls us instead of being asked. Without it Lares asks, which needs no public address."),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .default("https://api.telegram.org")
      .describe("Another Bot API server, e.g. your own."),
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
  asks: [{ field: "token", what: "The bot's token: write /newbot to @BotFather in Telegram and paste what it gives" }],
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
