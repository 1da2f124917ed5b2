/**
 * Methods about what needs a person. Questions, failures and problems come from different rooms; clients get one list, so that
 * nothing has to be looked for in five places.
 */
import { z } from "zod";
import { method, withIdempotencyKey } from "./method.ts";

// Two sorts of things are listed. What happened can be dismissed; what is still the case goes away when it is fixed.
const item = z.object({
  id: z.string(),
  kind: z
    .enum(["approval", "turn", "effect", "delivery", "job", "channel", "watch", "problem"])
    .describe(
      "a question, a failed turn, an effect with an unknown outcome, a message that didn't arrive, a failed job, a channel that is down, a watch, or a problem in the settings",
    ),
  at: z.number(),
  text: z.string().describe("what happened, in one sentence"),
  dismissible: z.boolean().describe("false: it is still the case, and disappears once it's fixed"),
  state: z.enum(["failed", "attention", "declined"]).optional().describe("of a turn"),
  count: z.number().optional().describe("of turns that one budget declined: how many; the newest stands for all"),
  failure: z.string().optional().describe("the class of failure: auth, timeout, budget, …"),
  until: z.number().optional().describe("of a question: when it is denied if nobody answers"),
  agent: z.string().optional(),
  session: z.string().optional(),
  turn: z.string().optional(),
  approval: z.string().optional(),
});

export const ATTENTION_METHODS = {
  "attention.list": method({
    in: z.strictObject({
      limit: z.number().int().min(1).max(500).optional(),
      after: z
        .string()
        .regex(/^\d{1,16}:.{1,400}$/, "what `next` was")
        .optional(),
    }),
    out: z.object({
      items: z.array(item).describe("what is still the case first, then what happened, newest first"),
      total: z.number().describe("in total; 0: nothing needs you"),
      next: z.string().optional().describe("there is more: pass this as `after`"),
    }),
    scope: "read",
    mutates: false,
    doc: "Everything that needs a person: questions, failures, unknown outcomes, channels that are down.",
  }),
  "attention.dismiss": method({
    in: z
      .strictObject({
        // Ids contain the ids of what they are about, so they are long.
        ids: z.array(z.string().min(1).max(600)).min(1).max(500).optional(),
        all: z.literal(true).optional().describe("everything that can be dismissed"),
        ...withIdempotencyKey,
      })
      .refine((given) => (given.ids === undefined) !== (given.all === undefined), "give `ids` or `all`"),
    out: z.object({ dismissed: z.number(), total: z.number().describe("what remains") }),
    scope: "write",
    mutates: true,
    doc: "Removes things from the list for good. What is still the case can't be dismissed.",
  }),
} as const;
