/** Moving in from another system. */
import { z } from "zod";
import { keyed, method } from "./method.ts";

export const IMPORT_METHODS = {
  "import.run": method({
    in: z.strictObject({
      from: z.enum(["openclaw", "hermes"]),
      dir: z
        .string()
        .min(1)
        .max(4096)
        .describe("its folder, on the machine where Lares runs; nothing in it is changed"),
      dryRun: z.boolean().optional().describe("only tell what would become of each item"),
      secrets: z.boolean().optional().describe("also take tokens of channel accounts; they go to the vault"),
      ...keyed,
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
    doc: "Takes in souls, memory, skills, sessions, schedules and channel accounts. Twice is as good as once.",
  }),
} as const;
