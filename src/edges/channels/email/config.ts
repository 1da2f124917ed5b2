import { z } from "zod";
import { isLoopbackHost } from "../../../core/kit/index.ts";
import { adapter, paceShape, talkShape } from "../account.ts";

const port = z.number().int().min(1).max(65_535);
const host = z.string().min(1).max(253);

const account = z
  .strictObject({
    address: z.email().describe("The bot's own address: mail to it is heard, mail from it is sent."),
    name: z.string().max(100).optional().describe("The name beside the address."),
    user: z.string().min(1).optional().describe("The name to log in with; without it, the address."),
    password: z.string().min(1).describe("The mailbox's password, or an app password."),
    imapHost: host.describe("The server mail is read from."),
    imapPort: port.default(993).describe("Its port."),
    smtpHost: host.describe("The server mail is sent through."),
    smtpPort: port.default(465).describe("Its port."),
    tls: z
      .enum(["implicit", "starttls", "none"])
      .default("implicit")
      .describe("How both connections are encrypted. `none` is for a server on this machine only."),
    mailbox: z.string().min(1).default("INBOX").describe("The folder that is watched."),
    authserv: z
      .preprocess(
        (given) => (typeof given === "string" ? given.split(/[\s,;]+/).filter(Boolean) : given),
        z.array(z.string().min(1).max(253)).default([]),
      )
      .describe(
        "The name your receiving server writes first in Authentication-Results, such as mx.example.org. Only its word counts on who wrote a mail.",
      ),
    authenticate: z
      .boolean()
      .default(true)
      .describe(
        "False takes the From line at its word: anybody can write as anybody. Only where no mail comes from outside.",
      ),
    saveSent: z
      .boolean()
      .default(true)
      .describe("Keeps a copy in the Sent folder, which also tells after a crash what was sent."),
    ...paceShape(1000),
    ...talkShape,
  })
  .refine((a) => !a.authenticate || a.authserv.length > 0, {
    path: ["authserv"],
    message: "name your mail server as it stands first in a mail's Authentication-Results, such as [mx.example.org]",
  })
  .refine((a) => a.tls !== "none" || [a.imapHost, a.smtpHost].every(isLoopbackHost), {
    path: ["tls"],
    message: "`none` would send the password in the clear: use implicit or starttls",
  })
  .describe("One mailbox.");

export type EmailAccount = z.output<typeof account>;

export const email = adapter<EmailAccount>({
  name: "email",
  title: "Email",
  config: account as z.ZodType<EmailAccount>,
  secrets: ["password"],
  asks: [
    { field: "address", what: "The bot's own mail address" },
    { field: "password", what: "Password of the mailbox (an app password where there is two-step login)" },
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
    // Asked at least every minute.
    silenceMs: 180_000,
  }),
  load: async () => await import("./email.ts"),
});
