import { z } from "zod";
import { acknowledgeShape, adapter, paceShape, talkShape, toPolicy } from "../account.ts";

const account = z
  .strictObject({
    token: z.string().min(20).describe("The bot's token: discord.com/developers → your application → Bot."),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .default("https://discord.com/api")
      .describe("A different address for Discord's API, such as a proxy."),
    ...paceShape(1000),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One Discord bot.");

export type DiscordAccount = z.output<typeof account>;

export const discord = adapter<DiscordAccount>({
  name: "discord",
  title: "Discord",
  config: account as z.ZodType<DiscordAccount>,
  secrets: ["token"],
  asks: [{ field: "token", what: "The bot's token: discord.com/developers → your application → Bot → Reset Token" }],
  can: (config) => ({
    dialect: "discord",
    limit: 2000,
    unit: "utf16",
    // Discord remembers a nonce for a few minutes only; after that the message is looked for in the chat (find).
    dedupes: false,
    buttons: 5,
    files: 10 * 1024 * 1024,
    hears: ["groups", "files", "threads", "edits", "reactions", "deletions"],
    does: ["react", "remove", "typing"],
    // Discord's limits: five messages in five seconds to a channel, fifty calls a second in all.
    pace: { chatMs: config.paceMs, accountMs: 20 },
    editMs: 1500,
    silenceMs: 120_000,
  }),
  policy: toPolicy,
  load: async () => await import("./discord.ts"),
});
