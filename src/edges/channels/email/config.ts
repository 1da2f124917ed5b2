import { z } from "zod";
import { isLoopbackHost } from "../../../core/kit/index.ts";
import { adapter, paceShape, talkShape } from "../account.ts";

const port = z.number().int().min(1).max(65_535);
const host = z.string().min(1).max(253);

const account = z
  .strictObject({
    address: z.email().describe("The bot's own address: mail to it is read, and answers come from it."),
    name: z.string().max(100).optional().describe("The name shown beside the address."),
    user: z.string().min(1).optional().describe("The user name to log in with. Default: the address."),
    password: z.string().min(1).describe("The mailbox's password, or an app password."),
    imapHost: host.describe("The IMAP server, where mail is read."),
    imapPort: port.default(993).describe("Its port."),
    smtpHost: host.describe("The SMTP server, through which mail is sent."),
    smtpPort: port.default(465).describe("Its port."),
    tls: z
      .enum(["implicit", "starttls", "none"])
      .default("implicit")
      .describe("How both connections are encrypted. `none` is allowed only for a server on this machine."),
    mailbox: z.string().min(1).default("INBOX").describe("The folder to watch."),
    authserv: z
      .preprocess(
        (given) => (typeof given === "string" ? given.split(/[\s,;]+/).filter(Boolean) : given),
        z.array(z.string().min(1).max(253)).default([]),
      )
      .describe(
        "The name your receiving server writes first in Authentication-Results, such as mx.example.org. Only this server is trusted to say who wrote a mail.",
      ),
    authenticate: z
      .boolean()
      .default(true)
      .describe("False trusts the From line, which anyone can forge. Use it only where no mail comes from outside."),
    saveSent: z
      .boolean()
      .default(true)
      .describe("Saves a copy in the Sent folder. After a crash, it shows what was sent."),
    ...paceShape(1000),
    ...talkShape,
  })
  .refine((a) => !a.authenticate || a.authserv.length > 0, {
    path: ["authserv"],
    message: "name your mail server as it appears first in a mail's Authentication-Results, such as [mx.example.org]",
  })
  .refine((a) => a.tls !== "none" || [a.imapHost, a.smtpHost].every(isLoopbackHost), {
    path: ["tls"],
    message: "`none` would send the password unencrypted: use implicit or starttls",
  })
  .describe("One mailbox.");

export type EmailAccount = z.output<typeof account>;

export const email = adapter<EmailAccount>({
  name: "email",
  title: "Email",
  config: account as z.ZodType<EmailAccount>,
  secrets: ["password"],
  asks: [
    { field: "address", what: "The bot's own email address" },
    { field: "password", what: "The mailbox's password (an app password if you use two-factor login)" },
    { field: "imapHost", what: "IMAP server, such as imap.example.org" },
    { field: "smtpHost", what: "SMTP server, such as smtp.example.org" },
    {
      field: "authserv",
      what: "The first word of Authentication-Results in a mail you received, such as mx.example.org",
    },
  ],
  packages: ["imapflow@2.1.2", "nodemailer@10.4.0"],
  can: (config) => ({
    dialect: "email",
    limit: 1_000_000,
    unit: "bytes",
    // SMTP takes no key; the copy in Sent is looked for by its Message-ID instead (see `find`).
    dedupes: false,
    buttons: 0,
    files: 18_000_000,
    hears: ["files", "threads"],
    does: [],
    pace: { chatMs: config.paceMs, accountMs: Math.min(config.paceMs, 200) },
    // The mailbox is looked at once a minute at least.
    silenceMs: 180_000,
  }),
  load: async () => await import("./email.ts"),
});
