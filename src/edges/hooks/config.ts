import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";
import { deliverTo, wokenShape } from "../../core/protocol/index.ts";

const secret = z.string().min(16).describe("At least 16 characters; a reference to a variable or the vault is best.");
const path = z
  .string()
  .regex(/^(body|headers)(\.[^.\s{}]+)+$/, "a place such as body.some.field or headers.some-header")
  .max(200);
const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Where the answer goes, as schedules have it. */
const deliverConfig = deliverTo.describe("Where the answer goes. Without it, the answer is only in the history.");

const hook = z
  .strictObject({
    scheme: z
      .enum(["github", "stripe", "standard", "hmac", "bearer"])
      .describe(
        "How the sender proves itself: github (X-Hub-Signature-256), stripe (Stripe-Signature), standard (webhook-id, -timestamp, -signature), hmac (HMAC SHA-256 in `header`), bearer (Authorization: Bearer, nothing is signed).",
      ),
    secret: z
      .union([secret, z.array(secret).min(1).max(4)])
      .describe("The shared secret; give several while you replace one."),
    header: z
      .string()
      .regex(/^[a-z0-9-]+$/, "a header's name in lower case")
      .default("x-signature-256")
      .describe("With hmac: the header with the signature, hex or Base64, `sha256=` in front or not."),
    timestampHeader: z
      .string()
      .regex(/^[a-z0-9-]+$/, "a header's name in lower case")
      .optional()
      .describe('With hmac: the header with the time in seconds; then "time.body" is signed, and valid for 5 minutes.'),
    id: path.optional().describe("What identifies a delivery, e.g. body.id. Default: what is signed."),
    ...wokenShape("delivery"),
    when: z
      .record(path, z.union([plain, z.array(plain).min(1)]))
      .default({})
      .describe(
        "Only deliveries with these values wake the agent; a list means one of them. Example: {body.action: opened}",
      ),
    text: z
      .string()
      .max(8000)
      .optional()
      .describe("What the agent reads, with {{body.some.field}} filled in. Default: the whole body."),
    prompt: z.string().max(8000).optional().describe("What the agent should do about it, in your words."),
    deliver: deliverConfig.optional(),
    maxBytes: z.number().int().min(64).max(8_388_608).default(262_144).describe("Largest body."),
  })
  .describe("One hook: signed JSON wakes an agent.");

export const hooksConfig = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"), hook)
  .default({})
  .describe("Webhooks by name: POST /hooks/<name>. Who is woken, and where, is decided here and never by the sender.");

export type HooksConfig = DeepReadonly<z.output<typeof hooksConfig>>;
export type Hook = HooksConfig[string];
