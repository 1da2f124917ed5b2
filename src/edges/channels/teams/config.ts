import { z } from "zod";
import { adapter, paceShape, talkShape } from "../account.ts";

const account = z
  .strictObject({
    appId: z.string().min(8).describe("The bot's Microsoft App ID."),
    appPassword: z.string().min(1).describe("A client secret of that app."),
    tenant: z
      .string()
      .regex(/^[\w.-]+$/)
      .default("botframework.com")
      .describe(
        "The directory the bot logs in to: its tenant id, or botframework.com for a bot that serves several tenants.",
      ),
    services: z
      .array(z.url({ protocol: /^https?$/ }))
      .min(1)
      .default(["https://smba.trafficmanager.net/"])
      .describe("Addresses that answers may be sent to. A message that names another one is refused."),
    loginUrl: z
      .url({ protocol: /^https?$/ })
      .default("https://login.microsoftonline.com")
      .describe("Where the bot gets its own token."),
    keysUrl: z
      .url()
      .default("https://login.botframework.com/v1/.well-known/openidconfiguration")
      .describe("Where the keys that sign messages to the bot are published."),
    ...paceShape(250),
    ...talkShape,
  })
  .describe("One bot in Microsoft Teams. Its messaging endpoint is https://YOUR-HOST/channels/teams/<account>.");

export type TeamsAccount = z.output<typeof account>;

export const teams = adapter<TeamsAccount>({
  name: "teams",
  title: "Microsoft Teams",
  config: account as z.ZodType<TeamsAccount>,
  secrets: ["appPassword"],
  asks: [
    { field: "appId", what: "The bot's Microsoft App ID (Azure portal, Bot, Configuration)" },
    { field: "appPassword", what: "A client secret of that app (Certificates & secrets)" },
    { field: "tenant", what: "Its tenant id" },
  ],
  can: (config) => ({
    dialect: "teams",
    limit: 20_000,
    unit: "bytes",
    dedupes: false,
    buttons: 5,
    files: 0,
    hears: ["groups", "threads", "edits", "reactions", "deletions"],
    does: ["remove", "typing"],
    pace: { chatMs: config.paceMs, accountMs: Math.min(config.paceMs, 50) },
    editMs: 1500,
  }),
  load: async () => await import("./teams.ts"),
});
