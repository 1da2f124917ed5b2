/**
 * Moving in from another system. An import never overwrites: instructions become proposals, and facts wait for a decision,
 * because somebody else may have written into the folder that is imported.
 */
import { z } from "zod";
import { method, withIdempotencyKey } from "./method.ts";

const proposalId = z
  .string()
  .min(1)
  .max(200)
  .describe("AGENT/FILE as import.proposals lists it, or `facts` for all imported facts that wait");

export const IMPORT_METHODS = {
  // May run for minutes and may be repeated: what is already there is recognised and skipped.
  "import.run": method({
    in: z.strictObject({
      from: z.enum(["openclaw", "hermes"]),
      dir: z
        .string()
        .min(1)
        .max(4096)
        .describe("its folder, on the machine where Lares runs; nothing in it is changed"),
      dryRun: z.boolean().optional().describe("only show what would happen to each item"),
      secrets: z.boolean().optional().describe("also import tokens of channel accounts; they go to the vault"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      items: z.array(
        z.object({
          what: z.enum(["agent", "file", "memory", "skill", "session", "schedule", "channel", "left out"]),
          from: z.string(),
          name: z.string(),
          becomes: z.string().describe("where it is, or would be"),
          state: z.enum(["new", "there already", "left out", "failed"]),
          why: z.string().optional(),
        }),
      ),
      dryRun: z.boolean(),
    }),
    scope: "admin",
    mutates: true,
    doc: "Imports memory, skills, sessions, schedules and channel accounts. None of it counts as the owner's words: facts wait for a decision, jobs are paused, instructions become proposals. It can be repeated safely.",
  }),
  "import.proposals": method({
    in: z.strictObject({}),
    out: z.object({
      files: z.array(
        z.object({
          id: z.string().describe("AGENT/FILE, for import.accept and import.reject"),
          agent: z.string(),
          file: z.string(),
          now: z.string().describe("what the file says now"),
          proposed: z.string().describe("what it would say"),
        }),
      ),
      facts: z.number().int().describe("imported facts that wait for a decision"),
    }),
    scope: "admin",
    mutates: false,
    doc: "Imported items that nobody has accepted yet.",
  }),
  // `proposed` is what the person read. If the file has changed since, they would accept something else.
  "import.accept": method({
    in: z.strictObject({
      id: proposalId,
      proposed: z.string().optional().describe("the text that was read; refused if the proposal has changed since"),
      ...withIdempotencyKey,
    }),
    out: z.object({ accepted: z.number().int().describe("files replaced, or facts accepted") }),
    scope: "admin",
    mutates: true,
    doc: "Replaces the present file with the proposed one, or accepts the imported facts that wait for a decision.",
  }),
  "import.reject": method({
    in: z.strictObject({ id: proposalId, ...withIdempotencyKey }),
    out: z.object({ rejected: z.number().int() }),
    scope: "admin",
    mutates: true,
    doc: "Discards a proposal, or the imported facts that wait for a decision.",
  }),
} as const;
