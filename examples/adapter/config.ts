/** The line of the table: light, zod and nothing else. In place: src/edges/channels/example/config.ts. */
import { z } from "zod";
import { adapter, talkShape } from "../../src/edges/channels/account.ts";

const account = z
  .strictObject({
    token: z.string().min(1).describe("The bot's token."),
    url: z.url().default("https://chat.example.com").describe("Where the platform is."),
    // Who may talk, in which groups, and how much: the same for every channel.
    ...talkShape,
  })
  .describe("One Example account.");
export type ExampleAccount = z.output<typeof account>;

export const example = adapter<ExampleAccount>({
  name: "example",
  title: "Example",
  config: account as z.ZodType<ExampleAccount>,
  // Stored in the vault; the file refers to them.
  secrets: ["token"],
  // What `lares channels add example` and the page ask for, in order.
  asks: [{ field: "token", what: "The bot's token; make one at chat.example.com/bots" }],
  // packages: ["example-sdk@1.2.3"]  installed when it is added; `parts.library("example-sdk")` loads it
  can: () => ({
    dialect: "commonmark",
    limit: 4000,
    unit: "utf16",
    // True if the platform makes one message of a repeated `key`: then an uncertain send is repeated, otherwise it is marked.
    dedupes: false,
    // 0 if it has none: then approvals carry a code to type, and files are named instead of sent.
    buttons: 0,
    files: 0,
    // What reaches us besides text, and what we can do besides sending. The contract suite tries everything declared here.
    hears: ["groups", "files"],
    does: [],
    // The shortest time between two messages: to one chat, and over the whole account.
    pace: { chatMs: 1000, accountMs: 40 },
    // editMs: 1000      with `edit`, answers appear while they are written
    // While connected, something is heard at least this often (a poll's answer counts); a longer silence means a dead connection.
    silenceMs: 90_000,
  }),
  load: async () => await import("./example.ts"),
});
