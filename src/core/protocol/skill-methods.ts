/** Methods about skills: folders of instructions an agent reads when it needs them. */
import { z } from "zod";
import { method } from "./method.ts";
import { agentId } from "./shapes.ts";

const name = z.string().min(1).max(256);
// Skills that can't be used are listed too: people look here to find out why one is missing.
const skill = z.object({
  name: z.string(),
  description: z.string(),
  of: z
    .enum(["agent", "home", "plugin"])
    .describe("whose skills folder it is in; the agent's own wins, a plugin's comes last"),
  state: z.enum(["ready", "off", "covered", "unusable"]),
  why: z.string().optional().describe("why it is not ready"),
  own: z.boolean().describe("its words count as the owner's; otherwise it is read as text from outside"),
  imported: z.string().optional().describe("the system or plugin it came from"),
  folder: z.string(),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  notes: z.array(z.string()).describe("problems that didn't prevent its use"),
});

export const SKILL_METHODS = {
  "skills.list": method({
    in: z.strictObject({ agent: agentId.optional().describe("default: the default agent") }),
    out: z.object({ agent: z.string(), skills: z.array(skill).describe("by name") }),
    scope: "read",
    mutates: false,
    doc: "An agent's skills, including those that can't be used and why.",
  }),
  // The file is read inside the skill's folder only.
  "skills.get": method({
    in: z.strictObject({
      name,
      agent: agentId.optional(),
      file: z.string().min(1).max(1024).optional().describe("one of its files instead of its instructions"),
    }),
    out: skill.extend({
      text: z
        .string()
        .describe("the instructions below the front matter, or the file's text; empty if it can't be used"),
      files: z.array(z.object({ path: z.string(), bytes: z.number() })).describe("its files besides SKILL.md"),
      allowedTools: z.array(z.string()).optional(),
      metadata: z.record(z.string(), z.string()).optional(),
    }),
    scope: "read",
    mutates: false,
    doc: "One skill with its instructions and the names of its files.",
  }),
} as const;
