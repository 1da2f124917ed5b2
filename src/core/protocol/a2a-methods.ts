/** Methods about agents of others that this Lares' agents may ask (A2A). */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const name = z.string().min(1).max(64).describe("the agent's name in lares.yaml");

export const A2A_METHODS = {
  "a2a.list": method({
    in: nothing,
    out: z.object({
      peers: z.array(
        z.object({
          name: z.string(),
          url: z.string(),
          enabled: z.boolean(),
          accepted: z.boolean().describe("a person has accepted its card"),
          changed: z.boolean().optional().describe("the card was another one when it was last looked at"),
          open: z.number().describe("tasks it works on for agents here"),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "Agents of others in lares.yaml. Connects to none of them.",
  }),
  // The card is shown to the person who adds the agent, so adding it accepts it.
  "a2a.add": method({
    in: z.strictObject({
      name,
      url: z
        .url({ protocol: /^https?$/ })
        .max(2048)
        .describe("of its gateway, or of its card"),
      token: z.string().min(1).max(8192).optional().describe("what it wants to see; goes into the vault"),
      replace: z.boolean().optional(),
      ...withIdempotencyKey,
    }),
    out: z.object({ name: z.string(), card: z.string().describe("what its card says") }),
    scope: "admin",
    mutates: true,
    doc: "Fetches another agent's card, shows it, and adds the agent to lares.yaml.",
  }),
  "a2a.test": method({
    in: z.strictObject({ name }),
    out: z.object({
      ok: z.boolean(),
      why: z.string().optional(),
      state: z.enum(["accepted", "new", "changed"]).optional(),
      digest: z.string().optional().describe("of the card; a2a.accept takes it"),
      card: z.string().optional(),
      before: z.string().optional().describe("what it said when it was accepted"),
    }),
    scope: "admin",
    mutates: false,
    doc: "Fetches another agent's card, compares it with the accepted one, and tries the token.",
  }),
  "a2a.accept": method({
    in: z.strictObject({ name, digest: z.string().min(1).max(128), ...withIdempotencyKey }),
    out: z.object({ accepted: z.boolean().describe("false: the card is another one by now") }),
    scope: "admin",
    mutates: true,
    doc: "Accepts another agent's card as a2a.test showed it. Until then the agent isn't asked for anything.",
  }),
  "a2a.remove": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({
      removed: z.boolean(),
      rule: z.boolean().optional().describe("a rule that allowed asking it was removed too"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Removes another agent from lares.yaml, and the rule that allowed asking it.",
  }),
} as const;
