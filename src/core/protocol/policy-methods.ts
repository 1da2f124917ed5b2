/** Methods about what agents may do. */
import { z } from "zod";
import { method } from "./method.ts";
import { agentId, json } from "./shapes.ts";

export const POLICY_METHODS = {
  // Nothing runs. It answers why a command asked, or what a new rule would change.
  "policy.explain": method({
    in: z.strictObject({ command: z.string().min(1).max(20_000), agent: agentId.optional() }),
    out: z.object({
      verdict: z.enum(["allow", "ask", "deny"]),
      because: z.string(),
      mode: z.enum(["ask", "record", "ignore"]),
      form: z.string().describe("how it would be started"),
      rule: z.string().describe('what "allow always" would save'),
      text: z.string().describe("the tree, each judged part and the decision, for a terminal"),
      commands: z.array(
        z.object({
          words: z.array(z.string()),
          program: z.string().nullable(),
          within: z.array(z.string()),
          isLiteral: z.boolean(),
        }),
      ),
      parts: z.array(json),
    }),
    scope: "read",
    mutates: false,
    doc: "How the gate would judge a command, part by part. Nothing runs.",
  }),
} as const;
