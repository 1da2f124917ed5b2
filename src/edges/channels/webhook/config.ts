import { z } from "zod";
import type { AccountPolicy } from "../../../core/contracts/index.ts";
import { adapter, limitsShape } from "../account.ts";

const account = z
  .strictObject({
    secret: z
      .string()
      .min(16)
      .describe("Shared secret both sides sign with; at least 16 characters. A reference to a variable is best."),
    url: z.url().optional().describe("Where answers are posted. Without it messages are taken in and nothing is sent."),
    dedupes: z
      .boolean()
      .default(true)
      .describe("Whether the far side honours Idempotency-Key. If not, an uncertain send is reported, not repeated."),
    senders: z
      .array(z.string())
      .default(["*"])
      .describe('Sender ids that may talk; "*" is everybody the signed caller names, an empty list is nobody.'),
    approvers: z.array(z.string()).default([]).describe("Sender ids that may answer approvals here; empty is nobody."),
    enabled: z.boolean().default(true).describe("False keeps the account in the file without serving it."),
    limits: z.strictObject(limitsShape).default({}).describe("How much is taken through this account."),
  })
  .describe("One webhook account.");

export type WebhookAccount = z.output<typeof account>;

export const webhook = adapter<WebhookAccount>({
  name: "webhook",
  title: "Webhook",
  config: account as z.ZodType<WebhookAccount>,
  secrets: ["secret"],
  asks: [
    { field: "secret", what: "A secret both sides sign with, at least 16 characters" },
    { field: "url", what: "Where answers are posted" },
  ],
  can: (config) => ({
    dialect: "raw",
    limit: 16_000,
    unit: "utf16",
    dedupes: config.dedupes,
    buttons: 0,
    files: 0,
    hears: ["threads"],
    does: [],
    pace: { chatMs: 0, accountMs: 0 },
  }),
  // The signed far side vouches for whom it names.
  policy: ({ senders, approvers, limits }): AccountPolicy => ({
    dm: senders.includes("*") ? "open" : "allowlist",
    allow: senders.filter((id) => id !== "*"),
    owners: approvers.filter((id) => senders.includes("*") || senders.includes(id)),
    groups: {},
    bots: true,
    vouched: true,
    live: false,
    limits,
  }),
  load: async () => await import("./webhook.ts"),
});
