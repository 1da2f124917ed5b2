import { z } from "zod";
import { acknowledgeShape, adapter, paceShape, talkShape, toPolicy } from "../account.ts";

const account = z
  .strictObject({
    botToken: z.string().startsWith("xoxb-", "a bot token, which begins with xoxb-").describe("The app's bot token."),
    appToken: z
      .string()
      .startsWith("xapp-", "an app-level token, which begins with xapp-")
      .optional()
      .describe("App-level token with connections:write: Lares connects to Slack and needs no public address."),
    signingSecret: z
      .string()
      .min(16)
      .optional()
      .describe("The app's signing secret, if Slack should send events to /channels/slack/<account> instead."),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .default("https://slack.com/api")
      .describe("The address of Slack's API, if yours is another one, such as https://slack-gov.com/api."),
    ...paceShape(1000),
    ...acknowledgeShape,
    ...talkShape,
  })
  .refine((one) => Boolean(one.appToken) !== Boolean(one.signingSecret), {
    message: "give either appToken (socket mode) or signingSecret (events by HTTP)",
    path: ["appToken"],
  })
  .describe("One Slack app in one workspace.");

export type SlackAccount = z.output<typeof account>;

export const slack = adapter<SlackAccount>({
  name: "slack",
  title: "Slack",
  config: account as z.ZodType<SlackAccount>,
  secrets: ["botToken", "appToken", "signingSecret"],
  asks: [
    { field: "botToken", what: "Bot token (xoxb-…): api.slack.com/apps → your app → OAuth & Permissions" },
    {
      field: "appToken",
      what: "App-level token (xapp-…) with connections:write: Basic Information → App-Level Tokens",
    },
  ],
  can: (config) => ({
    dialect: "slack",
    // Slack cuts at 40,000 and advises 4,000.
    limit: 3900,
    unit: "utf16",
    // Slack takes no idempotency key, but each message carries its key and can be asked for by it (find).
    dedupes: false,
    buttons: 5,
    files: 100 * 1024 * 1024,
    hears: ["groups", "files", "threads", "edits", "reactions", "deletions"],
    does: ["react", "remove"],
    pace: { chatMs: config.paceMs, accountMs: 0 },
    editMs: 1500,
    ...(config.appToken ? { silenceMs: 90_000 } : {}),
  }),
  policy: toPolicy,
  load: async () => await import("./slack.ts"),
});
