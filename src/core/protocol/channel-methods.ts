/** Methods about the channels people talk through: accounts, and who may talk. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

/** Of an account: switched off, connecting, working, or not working. */
export const channelState = z.enum(["off", "starting", "ok", "down"]);

// How an account is. Receiving and sending fail separately, so both are reported.
const channelInfo = z.object({
  name: z.string().describe("channel/account"),
  channel: z.string(),
  account: z.string(),
  state: channelState,
  connected: z.boolean(),
  hearing: z
    .boolean()
    .nullable()
    .describe("Whether anything was received from the platform lately; null for platforms that send no sign of life."),
  sending: z.boolean().nullable().describe("How the last outgoing message fared; null before the first."),
  as: z.string().optional().describe("The name people address it by."),
  restarts: z.number().describe("How often it had to reconnect."),
  unreadable: z
    .number()
    .describe("How many of the platform's events could not be read since the start; the log names their kinds."),
  passedOver: z
    .array(z.string())
    .optional()
    .describe("The latest events that are skipped because they stopped Lares twice, by kind and the platform's id."),
  heardAt: z.number().optional().describe("When somebody last wrote."),
  detail: z.string().optional(),
});

const name = z.string().min(1).max(200).describe("channel/account");
const kind = z.string().min(1).max(64).describe("telegram, slack, …");
const account = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/, "lowercase letters, digits and dashes")
  .max(64);
// Not checked here: each channel declares its own fields, and the setup checks them against that.
const fields = z.record(z.string().max(64), z.json()).describe("the account's fields, as in lares.yaml");
const who = z.object({ id: z.string(), name: z.string(), note: z.string().optional() });
const code = z.string().min(1).max(32);
// `owner` may answer approvals from that chat, so it is a bigger step than `known`.
const role = z.enum(["known", "owner"]);

export const CHANNEL_METHODS = {
  "channels.list": method({
    in: nothing,
    out: z.object({ channels: z.array(channelInfo) }),
    scope: "read",
    mutates: false,
    doc: "The channels people talk through.",
  }),
  "channels.status": method({
    in: z.strictObject({ name: z.string().min(1).max(200).describe("channel/account") }),
    out: channelInfo.extend({
      deliveries: z.object({ waiting: z.number(), sent: z.number(), uncertain: z.number(), failed: z.number() }),
      lastError: z.string().optional(),
    }),
    scope: "read",
    mutates: false,
    doc: "One channel with its deliveries.",
  }),
  "channels.kinds": method({
    in: nothing,
    out: z.object({
      kinds: z.array(
        z.object({
          name: z.string(),
          title: z.string(),
          asks: z.array(z.object({ field: z.string(), what: z.string(), secret: z.boolean() })),
          packages: z.array(z.string()).describe("installed by channels.install"),
          installed: z.boolean(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "The channels Lares knows, and the settings each needs.",
  }),
  // Separate from adding, so that a form can try credentials before anything is stored.
  "channels.check": method({
    in: z.strictObject({ channel: kind, fields }),
    out: who,
    scope: "admin",
    mutates: false,
    doc: "Asks the platform whose credentials these are. Nothing is stored or sent.",
  }),
  // Needs the right admin: it downloads and stores code that Lares will run.
  "channels.install": method({
    in: z.strictObject({ channel: kind, ...withIdempotencyKey }),
    out: z.object({ packages: z.array(z.string()) }),
    scope: "admin",
    mutates: true,
    doc: "Installs the packages a channel needs into the home, without running their scripts. May take a minute.",
  }),
  "channels.add": method({
    in: z.strictObject({
      channel: kind,
      account: account.default("main"),
      fields,
      replace: z.boolean().default(false).describe("updates these fields of an existing account; its others stay"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      name: z.string(),
      who,
      hint: z.string(),
      pairs: z.boolean().describe("strangers get a code, and so do you until you accept yourself"),
      where: z.string(),
    }),
    scope: "admin",
    mutates: true,
    doc: "Checks the credentials, stores the secrets in the vault, writes the account to lares.yaml and connects it.",
  }),
  "channels.remove": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({ removed: z.boolean() }),
    scope: "admin",
    mutates: true,
    doc: "Removes the account from lares.yaml, with its secrets, position, accepted people and the ids of messages it has seen. If you add it again, it starts from scratch. Conversations stay.",
  }),
  "channels.test": method({
    in: z.strictObject({ name, chat: z.string().min(1).max(256).optional(), ...withIdempotencyKey }),
    out: who.extend({ sent: z.boolean() }),
    scope: "admin",
    mutates: true,
    doc: "Checks the credentials with the platform; with `chat`, also sends a line there.",
  }),
  "channels.pending": method({
    in: nothing,
    out: z.object({
      pending: z.array(
        z.object({
          code: z.string(),
          name: z.string().describe("channel/account"),
          sender: z.string().describe("the platform's stable id"),
          calledThemselves: z.string().optional(),
          askedAt: z.number(),
          expiresAt: z.number(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "Strangers waiting to be accepted.",
  }),
  // The right approvals, not admin: people who answer questions may also decide who asks them.
  "channels.approve": method({
    in: z.strictObject({ code, role: role.default("known"), ...withIdempotencyKey }),
    out: z.object({ name: z.string(), sender: z.string(), role }),
    scope: "approvals",
    mutates: true,
    doc: "Accepts a stranger for direct messages of that account; with `owner`, they may also answer approvals.",
  }),
  "channels.refuse": method({
    in: z.strictObject({ code, ...withIdempotencyKey }),
    out: z.object({ name: z.string(), sender: z.string() }),
    scope: "approvals",
    mutates: true,
    doc: "Declines a stranger who is waiting.",
  }),
  "channels.people": method({
    in: nothing,
    out: z.object({
      people: z.array(
        z.object({
          name: z.string().describe("channel/account"),
          sender: z.string(),
          calledThemselves: z.string().optional(),
          context: z.string().describe("direct, or a group's chat id"),
          role,
          by: z.string(),
          at: z.number(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "People who were accepted, besides those listed in lares.yaml.",
  }),
  "channels.revoke": method({
    in: z.strictObject({
      name,
      sender: z.string().min(1),
      context: z.string().default("direct"),
      ...withIdempotencyKey,
    }),
    out: z.object({ revoked: z.boolean() }),
    scope: "approvals",
    mutates: true,
    doc: "Revokes somebody's access.",
  }),
} as const;
