import { z } from "zod";
import { acknowledgeShape, adapter, paceShape, talkShape } from "../account.ts";

const address = z.string().regex(/^[^@/\s]+@[^@/\s]+$/, "an address such as name@example.org");

const account = z
  .strictObject({
    address: address.describe("The bot's XMPP address, such as lares@example.org."),
    password: z.string().min(1).describe("Its password."),
    service: z
      .string()
      .regex(/^(xmpps?|wss?):\/\/\S+$/, "an address such as xmpps://host:5223 or wss://host/xmpp-websocket")
      .optional()
      .describe("Where the server listens. Default: what the domain's DNS entries say."),
    join: z.array(address).default([]).describe("Rooms to join. List them under groups, too."),
    nick: z
      .string()
      .min(1)
      .max(60)
      .optional()
      .describe("The bot's name in rooms. Default: the first part of the address."),
    ...paceShape(200),
    ...acknowledgeShape,
    ...talkShape,
  })
  .describe("One XMPP account.");

export type XmppAccount = z.output<typeof account>;

export const xmpp = adapter<XmppAccount>({
  name: "xmpp",
  title: "XMPP",
  config: account as z.ZodType<XmppAccount>,
  secrets: ["password"],
  asks: [
    { field: "address", what: "The bot's XMPP address, such as lares@example.org" },
    { field: "password", what: "Its password" },
  ],
  packages: ["@xmpp/client@0.14.0"],
  can: (config) => ({
    dialect: "xmpp",
    limit: 10_000,
    unit: "bytes",
    // Servers take no key; a message is looked for in the archive by its id, which is made from the key (see `find`).
    dedupes: false,
    buttons: 0,
    files: 0,
    hears: ["groups", "edits", "reactions", "deletions"],
    does: ["react", "typing"],
    pace: { chatMs: config.paceMs, accountMs: Math.min(config.paceMs, 50) },
    editMs: 1500,
    silenceMs: 90_000,
  }),
  load: async () => await import("./xmpp.ts"),
});
