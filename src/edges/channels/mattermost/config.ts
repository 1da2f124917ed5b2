import { z } from "zod";
import { acknowledgeShape, adapter, talkShape } from "../account.ts";

const account = z
  .strictObject({
    url: z.url({ protocol: /^https?$/ }).describe("The server's address, such as https://chat.example.org."),
    token: z.string().min(8).describe("The access token of a bot account (Integrations, Bot Accounts)."),
    callback: z
      .url()
      .optional()
      .describe(
        "Where the Mattermost server reaches Lares, such as https://lares.example.org. With it, approvals have buttons; without it, you type a code.",
      ),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One Mattermost bot account.");

export type MattermostAccount = z.output<typeof account>;

export const mattermost = adapter<MattermostAccount>({
  name: "mattermost",
  title: "Mattermost",
  config: account as z.ZodType<MattermostAccount>,
  secrets: ["token"],
  asks: [
    { field: "url", what: "The server's address, such as https://chat.example.org" },
    { field: "token", what: "Access token of a bot account (System Console: Integrations, Bot Accounts)" },
  ],
  can: (config) => ({
    dialect: "mattermost",
    limit: 16_383,
    unit: "codepoints",
    // Mattermost deduplicates for 30 seconds only (pending_post_id); later a post is looked for by its key (find).
    dedupes: false,
    buttons: config.callback ? 5 : 0,
    files: 50_000_000,
    hears: ["groups", "files", "threads", "edits", "reactions", "deletions"],
    does: ["react", "remove", "typing"],
    pace: { chatMs: 200, accountMs: 100 },
    editMs: 1000,
    silenceMs: 90_000,
  }),
  load: async () => await import("./mattermost.ts"),
});
