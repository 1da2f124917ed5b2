import { z } from "zod";
import { ircRoom } from "../../../core/render/index.ts";
import { adapter, talkShape } from "../account.ts";

const word = z.string().regex(/^[^\s\0:,][^\s\0,]*$/, "one word without commas");

const account = z
  .strictObject({
    host: z.string().min(1).describe("The IRC server, such as irc.libera.chat."),
    port: z.number().int().min(1).max(65_535).default(6697).describe("Its port."),
    tls: z
      .boolean()
      .default(true)
      .describe("Whether the connection is encrypted. Without TLS, anyone on the network path can read it."),
    nick: word.max(30).describe("The bot's nick."),
    password: z.string().min(1).optional().describe("The server's own password, if it has one."),
    user: word.optional().describe("The bot's registered account, for SASL."),
    accountPassword: z.string().min(1).optional().describe("The password of that account (SASL PLAIN)."),
    join: z.array(word).default([]).describe("Channels to join, such as [#towns]. List them under groups, too."),
    accounts: z
      .boolean()
      .default(false)
      .describe("True listens only to people who are logged in to the network, whom it knows by their account."),
    // Servers disconnect clients that send more than about a line a second for long.
    paceMs: z
      .number()
      .int()
      .min(0)
      .max(3_600_000)
      .default(1000)
      .describe("The shortest time between two lines, in ms."),
    mostLines: z
      .number()
      .int()
      .min(3)
      .max(200)
      .default(20)
      .describe("The longest answer, in lines. What is longer is cut, with a note."),
    ...talkShape,
  })
  .describe("One nick on one IRC network.");

export type IrcAccount = z.output<typeof account>;

/** As long as the name of a channel or a nick can be: it takes room in each line. */
const TARGET = "#".repeat(50);

export const irc = adapter<IrcAccount>({
  name: "irc",
  title: "IRC",
  config: account as z.ZodType<IrcAccount>,
  secrets: ["password", "accountPassword"],
  asks: [
    { field: "host", what: "The IRC server, such as irc.libera.chat" },
    { field: "nick", what: "The bot's nick" },
  ],
  can: (config) => ({
    dialect: "irc",
    limit: Math.min(350, ircRoom({ nick: config.nick, target: TARGET })),
    unit: "bytes",
    dedupes: false,
    buttons: 0,
    files: 0,
    hears: ["groups"],
    does: [],
    most: config.mostLines,
    pace: { chatMs: config.paceMs, accountMs: config.paceMs },
    silenceMs: 90_000,
  }),
  load: async () => await import("./irc.ts"),
});
