import { z } from "zod";
import { adapter, talkShape } from "../account.ts";

const account = z
  .strictObject({
    token: z
      .string()
      .min(16)
      .optional()
      .describe("The token the program sends when it connects. It speaks for this account and can't do anything else."),
    plugin: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("In place of a token: the plugin that passes the messages on. Example: sms-bridge"),
    limit: z
      .number()
      .int()
      .min(64)
      .max(200_000)
      .default(4000)
      .describe("The longest message the platform accepts, in characters."),
    dialect: z
      .enum(["plain", "commonmark", "raw"])
      .default("commonmark")
      .describe("How messages are written: plain text, Markdown, or as the agent wrote them."),
    paceMs: z
      .number()
      .int()
      .min(0)
      .max(3_600_000)
      .default(0)
      .describe("The shortest time between two messages to one chat, in ms."),
    ...talkShape,
  })
  .refine(({ token, plugin }) => (token === undefined) !== (plugin === undefined), "needs either a token or a plugin")
  .describe("A channel outside Lares: a program of yours, in any language, that connects to /ws.");

export type ExternalAccount = z.output<typeof account>;

export const external = adapter<ExternalAccount>({
  name: "external",
  title: "A program of yours",
  config: account as z.ZodType<ExternalAccount>,
  secrets: ["token"],
  asks: [{ field: "token", what: "A long random token; the program sends it when it connects" }],
  can: (config) => ({
    dialect: config.dialect,
    limit: config.limit,
    unit: "utf16",
    // By the protocol: an `outbound_message` with an id that was seen before is acknowledged and not shown again.
    dedupes: true,
    buttons: 0,
    files: 0,
    hears: ["groups", "files", "threads"],
    does: [],
    pace: { chatMs: config.paceMs, accountMs: 0 },
  }),
  load: async () => await import("./external.ts"),
});
