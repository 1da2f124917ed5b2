/** Methods about what wakes an agent besides people: what will, and ringing for it. */
import { z } from "zod";
import { keyed, method } from "./method.ts";
import { agentId, sessionKey } from "./shapes.ts";

const deliver = z
  .strictObject({ channel: z.string(), account: z.string(), chat: z.string(), thread: z.string().optional() })
  .optional()
  .describe("where the answer goes; without it the answer is in the history only");

export const WAKE_METHODS = {
  "wakes.send": method({
    in: z.strictObject({
      session: sessionKey.describe('a session\'s key, or "main"'),
      agent: agentId.optional().describe('whose main session, with "main"'),
      text: z.string().min(1).max(16_000),
      deliver,
      ...keyed,
    }),
    out: z.object({ session: z.string(), event: z.string(), duplicate: z.boolean() }),
    scope: "write",
    mutates: true,
    doc: "Wakes a session with a system event. It comes labelled as such, never as a person's message.",
  }),
} as const;
