import { z } from "zod";
import type { AccountPolicy } from "../../../core/contracts/index.ts";
import { adapter, limitsShape } from "../account.ts";

const account = z
  .strictObject({
    secret: z
      .string()
      .min(16)
      .describe(
        "The shared secret both sides sign with, at least 16 characters. Best given as a reference to a variable.",
      ),
    url: z
      .url()
      .optional()
      .describe("Where answers are posted. Without it, messages are received and nothing is sent."),
    dedupes: z
      .boolean()
      .default(true)
      .describe("Whether the other side honours Idempotency-Key. If not, an uncertain send is reported, not repeated."),
    senders: z
      .array(z.string())
      .default(["*"])
      .describe('Sender ids that may talk. "*" is everyone the signed caller names; an empty list is nobody.'),
    approvers: z
      .array(z.string())
      .default([])
      .describe("Sender ids that may answer approvals here. An empty list is nobody."),
    enabled: z.boolean().default(true).describe("False keeps the account in the file but doesn't serve it."),
    limits: z.strictObject(limitsShape).default({}).describe("How much this account takes in."),
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
  // The signed caller vouches for the senders it names.
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
