import { z } from "zod";
import { acknowledgeShape, adapter, talkShape } from "../account.ts";

const account = z
  .strictObject({
    homeserver: z
      .url({ protocol: /^https?$/ })
      .describe("The homeserver's address, such as https://matrix.example.org."),
    token: z.string().min(8).describe("The access token of the bot's own account (Element: Settings, Help & About)."),
    join: z
      .enum(["direct", "known", "never"])
      .default("direct")
      .describe(
        "Which invitations to accept. `direct`: to direct chats from anyone, so that a stranger can pair, and to rooms from people who may talk there. `known`: only from people who may talk. `never`: none.",
      ),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One Matrix account. It reads unencrypted rooms only.");

export type MatrixAccount = z.output<typeof account>;

export const matrix = adapter<MatrixAccount>({
  name: "matrix",
  title: "Matrix",
  config: account as z.ZodType<MatrixAccount>,
  secrets: ["token"],
  asks: [
    { field: "homeserver", what: "The homeserver's address, such as https://matrix.example.org" },
    { field: "token", what: "Access token of the bot's own account (Element: Settings, Help & About, Access Token)" },
  ],
  can: () => ({
    dialect: "matrix",
    // An event may have 65,536 bytes and holds the text twice: plain and as HTML.
    limit: 16_000,
    unit: "bytes",
    // By transaction id, which homeservers remember for about a day.
    dedupes: true,
    buttons: 0,
    files: 50_000_000,
    hears: ["groups", "files", "threads", "edits", "reactions", "deletions"],
    does: ["react", "remove", "typing"],
    pace: { chatMs: 200, accountMs: 100 },
    editMs: 1000,
    silenceMs: 90_000,
  }),
  load: async () => await import("./matrix.ts"),
});
