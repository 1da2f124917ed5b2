import { z } from "zod";

const account = z
  .strictObject({
    secret: z
      .string()
      .min(16)
      .describe("Shared secret both sides sign with; at least 16 signs. A reference to a variable is best."),
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
  })
  .describe("One webhook account.");

export const webhookConfig = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]*$/), account)
  .default({})
  .describe("Webhook accounts by name: signed messages in by POST /channels/webhook/<name>, signed answers out.");

export type WebhookConfig = z.output<typeof webhookConfig>;
export type WebhookAccount = WebhookConfig[string];
